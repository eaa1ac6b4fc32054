// Package config reads heddle.toml: which files of a project heddle checks, how they compile, and
// how each kernel is launched and examined. docs/config.md documents the format.
package config

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/bmatcuk/doublestar/v4"

	"heddle/internal/launch"
	"heddle/internal/source"
)

// Name is the name of the file that Find looks for.
const Name = "heddle.toml"

// File is a configuration. File patterns are relative to its directory and follow doublestar: **
// matches any number of directories.
type File struct {
	Path    string
	Include []string // files to check below a directory that the user names; none: all
	Exclude []string // files not to check there
	Engine  Engine   // default for all kernels
	FailOn  string   // what makes a run fail, one of FailOns; empty: unspecified
	Timeout time.Duration
	Compile Compile
	Kernels []Kernel
}

// Compile holds compiler flags, as on the command line. Directories are relative to the working
// directory.
type Compile struct {
	Includes, Systems, Defines []string
	Std, Arch, OptLevel        string
	Bits                       int    // of addresses in OpenCL C; 0: unspecified
	CCCL                       string // directory
}

// Kernel holds the settings of one [[kernel]] table.
type Kernel struct {
	Name    string // pattern for the name: mangled, demangled, or without parameters
	File    string // pattern for the file; empty: all
	Launch  launch.Request
	Engine  Engine
	Timeout time.Duration
	Skip    string // why the kernel is not checked; empty: it is
	Span    source.Span
}

// Engine names how a kernel is examined.
type Engine string

// The engines; a kernel without one is examined as the command line asks.
const (
	Unspecified Engine = ""
	Run         Engine = "run"
	Verify      Engine = "verify"
	Trace       Engine = "trace"
	Check       Engine = "check"
)

// Engines are the values of the engine key, in the order of messages. A kernel is skipped by a
// reason (the skip key) and not by an engine.
var Engines = []string{"run", "verify", "trace", "check"}

// FailOns are the values of the fail-on key, those of the flag --fail-on.
var FailOns = []string{"default", "error", "warning", "unknown", "never"}

// Error is a mistake in a configuration, with its position.
type Error struct {
	Span source.Span
	Msg  string
}

// Error returns the message without its position, which the caller formats.
func (e *Error) Error() string { return e.Msg }

// Find returns the path of the configuration for a directory: the file in the directory itself or
// in the nearest directory above it, up to the root of the checkout; empty if there is none. A file
// above the root belongs to another project, or to another user in a shared directory such as /tmp.
func Find(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for top := root(dir); ; dir = filepath.Dir(dir) {
		path := filepath.Join(dir, Name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			return path, nil
		}
		if dir == top {
			return "", nil
		}
	}
}

// root returns the root of the checkout that contains an absolute directory: the nearest one with
// .git, which is a file in a worktree; the directory itself if there is none.
func root(dir string) string {
	for at := dir; ; {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		up := filepath.Dir(at)
		if up == at {
			return dir
		}
		at = up
	}
}

// maxSize bounds the bytes of a configuration.
const maxSize = 16 << 20

// Read reads the configuration at path, whose text becomes a file of set. It returns every mistake
// it finds, each an *Error unless the file cannot be read. Without trust, a path of a file:
// argument or in systems that leaves the checkout is a mistake: to check a project must not read
// other files of the user.
func Read(set *source.Set, path string, trust bool) (*File, []error) {
	text, err := source.ReadRegular(path, maxSize)
	if err != nil {
		return nil, []error{err}
	}
	src, err := set.Add(path, text)
	if err != nil {
		return nil, []error{err}
	}
	return parse(src, trust)
}

// Checks reports whether include and exclude select a file that was found below a directory.
// exclude wins over include. Files that the user names on the command line are checked without
// asking.
func (f *File) Checks(name string) bool {
	rel, ok := f.relative(name)
	if !ok {
		return true // outside the configuration's directory
	}
	return (len(f.Include) == 0 || matchAny(f.Include, rel)) && !matchAny(f.Exclude, rel)
}

// For returns the tables that match a kernel, in file order. Later tables override earlier ones,
// and the caller merges them.
func (f *File) For(file, mangled, demangled string) []*Kernel {
	rel, ok := f.relative(file)
	var out []*Kernel
	for i := range f.Kernels {
		k := &f.Kernels[i]
		if k.File != "" && !(ok && matchAny([]string{k.File}, rel)) {
			continue
		}
		if matchName(k.Name, mangled, demangled) {
			out = append(out, k)
		}
	}
	return out
}

// relative returns a file's path relative to the configuration, with slashes on every system, since
// patterns have them. ok is false for a file outside its directory, and for standard input.
func (f *File) relative(name string) (string, bool) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", false
	}
	base, err := filepath.Abs(filepath.Dir(f.Path))
	if err != nil {
		return "", false
	}
	rel, err := filepath.Rel(base, abs)
	if err != nil || !filepath.IsLocal(rel) {
		return "", false
	}
	return filepath.ToSlash(rel), true
}

// matchAny reports whether a pattern matches a path or a directory above it, so that "build"
// excludes everything below build. The patterns are valid: the reader has checked them.
func matchAny(patterns []string, rel string) bool {
	for _, p := range patterns {
		p = strings.TrimSuffix(p, "/")
		if doublestar.MatchUnvalidated(p, rel) || doublestar.MatchUnvalidated(p+"/**", rel) {
			return true
		}
	}
	return false
}

// matchName reports whether a pattern matches a name of a kernel. Only * and ? are special, since
// C++ names contain brackets themselves.
func matchName(pattern, mangled, demangled string) bool {
	for _, name := range []string{mangled, demangled, launch.BaseName(demangled)} {
		if wildcard(pattern, name) {
			return true
		}
	}
	return false
}

// wildcard matches * with any text and ? with one byte. On a mismatch it returns to the last *,
// which then takes one byte more; going back to an earlier * is never needed, so the time is at
// most the product of the lengths.
func wildcard(p, s string) bool {
	star, mark := -1, 0
	i, j := 0, 0
	for j < len(s) {
		switch {
		case i < len(p) && p[i] == '*':
			star, mark = i, j
			i++
		case i < len(p) && (p[i] == '?' || p[i] == s[j]):
			i++
			j++
		case star >= 0:
			mark++
			i, j = star+1, mark
		default:
			return false
		}
	}
	return strings.Trim(p[i:], "*") == ""
}
