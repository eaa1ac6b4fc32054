package mcp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// roots are the directories whose files calls may name. A path is inside if what it leads to is,
// with all symbolic links followed.
type roots struct {
	dirs    []string // absolute, without symbolic links
	headers []string // the same, of directories with headers that the user trusts
}

// openRoots returns the roots at some paths.
func openRoots(paths, headers []string) (*roots, error) {
	r := new(roots)
	for _, p := range headers {
		if abs, err := filepath.Abs(p); err == nil && p != "" {
			r.headers = append(r.headers, resolved(abs))
		}
	}
	for _, p := range paths {
		abs, err := filepath.Abs(p)
		if err == nil {
			abs, err = filepath.EvalSymlinks(abs)
		}
		if err != nil {
			return nil, fmt.Errorf("the root %s: %w", p, err)
		}
		if st, err := os.Stat(abs); err != nil || !st.IsDir() {
			return nil, fmt.Errorf("the root %s is not a directory", p)
		}
		r.dirs = append(r.dirs, abs)
	}
	return r, nil
}

// contains reports whether a path leads to something below a root, whether or not it exists.
func (r *roots) contains(path string) bool { return within(r.dirs, path) }

// mayRead reports whether an input may name a path.
func (r *roots) mayRead(path string) bool { return within(r.dirs, path) || within(r.headers, path) }

// within reports whether a path leads to something below one of some directories.
func within(dirs []string, path string) bool {
	abs, err := filepath.Abs(path)
	if err != nil || strings.ContainsRune(path, 0) {
		return false
	}
	real := resolved(abs)
	for _, dir := range dirs {
		if rel, err := filepath.Rel(dir, real); err == nil && filepath.IsLocal(rel) {
			return true
		}
	}
	return false
}

// mostLinks bounds the symbolic links that lead to nothing in one path.
const mostLinks = 20

// resolved returns an absolute path without symbolic links, as far as it exists. A link to what
// does not exist is followed, too.
func resolved(path string) string {
	links := 0
	for at, rest := path, ""; ; {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if to, err := os.Readlink(at); err == nil && links < mostLinks {
			links++
			if !filepath.IsAbs(to) {
				to = filepath.Join(filepath.Dir(at), to)
			}
			at = to
			continue
		}
		up := filepath.Dir(at)
		if up == at {
			return path
		}
		at, rest = up, filepath.Join(filepath.Base(at), rest)
	}
}

// find returns the path under which heddle opens what a call names: a relative path is looked up in
// each root. It fails for what does not exist or is outside of the roots, without telling which for
// the latter.
func (r *roots) find(path string) (string, error) {
	if len(r.dirs) == 0 {
		return "", errors.New("this server was started without a root, so it reads no files: give " +
			"the source as text with its language, or start it with heddle mcp --root DIR")
	}
	at := path
	if !filepath.IsAbs(path) {
		at = filepath.Join(r.dirs[0], path)
		for _, dir := range r.dirs {
			p := filepath.Join(dir, path)
			if _, err := os.Lstat(p); err == nil && r.contains(p) {
				at = p
				break
			}
		}
	}
	if !r.contains(at) {
		return "", fmt.Errorf("%q is outside of the roots of this server: %s", path, r)
	}
	if _, err := os.Stat(at); err != nil {
		return "", fmt.Errorf("%q does not exist; paths are relative to the roots: %s", path, r)
	}
	return shortest(at), nil
}

// String lists the roots for a message.
func (r *roots) String() string { return strings.Join(r.dirs, ", ") }

// shortest returns a path as a user would type it: relative if it is below the working directory,
// and never with a dash in front, which would make it a flag or the standard input.
func shortest(path string) string {
	cwd, err := filepath.Abs(".")
	if err != nil {
		return path
	}
	for _, dir := range []string{cwd, resolved(cwd)} {
		rel, err := filepath.Rel(dir, path)
		if err != nil || !filepath.IsLocal(rel) || strings.HasPrefix(rel, "-") {
			continue
		}
		return rel
	}
	return path
}
