// Package config reads heddle.toml: which files of a project are checked, how they compile, and how each kernel is
// launched and examined. docs/config.md documents the format.
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

// Name is the file that Find looks for.
const Name = "heddle.toml"

// File is a configuration. Patterns of files are relative to the directory of the file, and matched as doublestar
// does: ** stands for any number of directories.
type File struct {
	Path    string
	Include []string // of the files below a directory that the user names, those to check; none: all
	Exclude []string // and those not to check
	Engine  Engine   // of kernels that Kernels says nothing else of
	Timeout time.Duration
	Compile Compile
	Kernels []Kernel
}

// Compile holds compiler flags, as the command line has them. Directories are relative to the working directory.
type Compile struct {
	Includes, Systems, Defines []string
	Std, Arch, OptLevel        string
}

// Kernel is what a [[kernel]] table says of the kernels that it matches.
type Kernel struct {
	Name    string // pattern of the name, mangled, demangled, or without its parameters
	File    string // pattern of the file; empty: all
	Launch  launch.Request
	Engine  Engine
	Timeout time.Duration
	Skip    string // the reason why the kernel is not checked
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

// Engines are the words for how a kernel is examined; "skip" is said by a reason instead.
var Engines = []string{"run", "verify", "trace", "check"}

// Error is a mistake in a configuration, at a place of it.
type Error struct {
	Span source.Span
	Msg  string
}

func (e *Error) Error() string { return e.Msg }

// Find returns the path of the configuration that holds for a directory: the one in it, or in the nearest directory
// above; empty if there is none.
func Find(dir string) (string, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(dir, Name)
		if st, err := os.Stat(path); err == nil && st.Mode().IsRegular() {
			return path, nil
		}
		up := filepath.Dir(dir)
		if up == dir {
			return "", nil
		}
		dir = up
	}
}

// Read reads the configuration at path, whose text becomes a file of set. All mistakes that are found are returned,
// each an *Error unless the file cannot be read.
func Read(set *source.Set, path string) (*File, []error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, []error{err}
	}
	src, err := set.Add(path, text)
	if err != nil {
		return nil, []error{err}
	}
	return parse(src)
}

// Checks reports whether a file that was found below a directory is to be checked.
func (f *File) Checks(name string) bool {
	rel, ok := f.relative(name)
	if !ok {
		return true // of no directory of this configuration
	}
	return (len(f.Include) == 0 || matchAny(f.Include, rel)) && !matchAny(f.Exclude, rel)
}

// For returns what the tables say of a kernel: all that match, in the order of the file.
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

// relative returns a file's path as patterns see it; ok is false for one that is not below the configuration's
// directory, and for standard input.
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

// matchAny reports whether a pattern matches a path or a directory above it. The patterns are valid.
func matchAny(patterns []string, rel string) bool {
	for _, p := range patterns {
		p = strings.TrimSuffix(p, "/")
		if doublestar.MatchUnvalidated(p, rel) || doublestar.MatchUnvalidated(p+"/**", rel) {
			return true
		}
	}
	return false
}

// matchName reports whether a pattern matches one of the names of a kernel. Of patterns of names, * and ? are
// special, and nothing else: names have brackets of their own.
func matchName(pattern, mangled, demangled string) bool {
	for _, name := range []string{mangled, demangled, launch.BaseName(demangled)} {
		if wildcard(pattern, name) {
			return true
		}
	}
	return false
}

// wildcard matches * with anything and ? with one byte.
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
