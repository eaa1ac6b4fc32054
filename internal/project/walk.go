// Package project finds the files that a user wants to check: the files below a directory (Walk),
// and the CUDA files of a compilation database with the flags that each is compiled with
// (ReadDatabase). It never runs a build: a database may name files that do not exist yet.
package project

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// extensions are those of files that can have kernels. Headers are checked through the files that
// include them.
var extensions = []string{".cu", ".hip", ".cl", ".ptx", ".ll", ".bc"}

// Directory returns the directory that an argument means, DIR or DIR/... . ok is false for a file
// and for a path that does not exist.
func Directory(arg string) (dir string, ok bool) {
	if arg == "..." {
		return ".", true
	}
	if dir, ok := strings.CutSuffix(filepath.ToSlash(arg), "/..."); ok {
		if dir == "" {
			dir = "/"
		}
		return dir, true
	}
	fi, err := os.Stat(arg)
	return arg, err == nil && fi.IsDir()
}

// Walk returns the files below dir that can have kernels, in the order of their names; each path
// starts with dir. It skips hidden files and directories, vendored code, build trees, and what
// Triton has not finished writing, but never dir itself. It does not follow symbolic links below
// dir. It fails if dir or a directory below it cannot be read.
func Walk(dir string) ([]string, error) {
	var files []string
	root := dir
	if fi, err := os.Lstat(dir); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		root += string(filepath.Separator) // a link that the user names is followed
	}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil: // an unreadable directory: fail instead of checking less than was asked
			return fmt.Errorf("cannot search for files: %w", err)
		case path == root:
			return nil
		case e.IsDir():
			if skipped(path, e.Name()) {
				return filepath.SkipDir
			}
		case e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") &&
			slices.Contains(extensions, strings.ToLower(filepath.Ext(e.Name()))):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// skipped reports whether a directory does not contain sources of the user's own. Build trees are
// recognized by their usual names, and by files that CMake, Ninja and caches leave in them
// (CACHEDIR.TAG: bford.info/cachedir).
func skipped(path, name string) bool {
	switch {
	case strings.HasPrefix(name, "."), strings.HasPrefix(name, "bazel-"),
		strings.HasPrefix(name, "cmake-build-"), strings.HasPrefix(name, "tmp.pid_"): // of Triton
		return true
	}
	switch name {
	case "vendor", "node_modules", "build", "_build", "CMakeFiles", "__pycache__":
		return true
	}
	for _, mark := range []string{"CMakeCache.txt", "CACHEDIR.TAG", "build.ninja"} {
		if _, err := os.Lstat(filepath.Join(path, mark)); err == nil {
			return true
		}
	}
	return false
}
