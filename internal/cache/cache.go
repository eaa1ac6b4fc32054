// Package cache holds what caches of files have in common: files appear whole or not at all, and a
// directory does not grow without bound. Several processes may use one directory at a time; none
// locks it.
package cache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// UnsafeError reports a directory that another user owns or may write to. The files in it decide
// what heddle reports, and whoever can write there can forge them.
type UnsafeError struct{ reason string }

// Error names the directory and says what to do.
func (e *UnsafeError) Error() string { return e.reason }

// Usable creates a directory for this user alone (mode 0700), or checks an existing one. It fails
// with an *UnsafeError, or with an error of the file system.
func Usable(dir string) error {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	fi, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !fi.IsDir():
		return fmt.Errorf("%s is not a directory", dir)
	case !owned(fi):
		return &UnsafeError{fmt.Sprintf("another user owns %s; remove it, or set XDG_CACHE_HOME to a "+
			"directory of your own", dir)}
	case fi.Mode().Perm()&0o022 != 0:
		return &UnsafeError{fmt.Sprintf("other users may write to %s (mode %04o); chmod 700 it", dir,
			fi.Mode().Perm())}
	}
	return nil
}

// Write replaces the file at path, whose directory need not exist. Readers see the old content or
// the new one, never a part: the bytes go to a temporary file in the same directory first, whose
// name begins with a dot.
func Write(path string, b []byte) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".tmp-*")
	if err != nil {
		return err
	}
	_, err = f.Write(b)
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Prune removes files of dir once more than limit of them have names that begin with prefix. It
// keeps the newest three quarters of limit, so that the next call has nothing to do for a while.
// Files whose names begin with a dot do not count: another process may be writing them.
//
// A file that cannot be removed is left; it is most likely gone already.
func Prune(dir, prefix string, limit int) {
	entries, err := os.ReadDir(dir)
	if err != nil || len(entries) <= limit { // no need to ask for the age of each
		return
	}
	type file struct {
		name    string
		written time.Time
	}
	var files []file
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if fi, err := e.Info(); err == nil {
			files = append(files, file{e.Name(), fi.ModTime()})
		}
	}
	if len(files) <= limit {
		return
	}
	slices.SortFunc(files, func(a, b file) int { return a.written.Compare(b.written) })
	for _, f := range files[:len(files)-limit*3/4] {
		_ = os.Remove(filepath.Join(dir, f.name))
	}
}
