// Package project finds the files that a user means: those below a directory, and those of a compilation
// database with the flags that each is compiled with.
package project

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// extensions are those of files with kernels. Headers have none of their own: what includes them counts.
var extensions = []string{".cu", ".cl", ".ptx", ".ll", ".bc"}

// Directory returns the directory that an argument stands for: DIR or DIR/...; ok is false for a file, and
// for what is not there.
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

// Walk returns the files with kernels below dir in the order of their names, each path beginning with dir. It
// passes over hidden directories and files, vendored code and build trees, but never over dir itself. Symbolic
// links below it are not followed.
func Walk(dir string) ([]string, error) {
	var files []string
	root := dir
	if fi, err := os.Lstat(dir); err == nil && fi.Mode()&fs.ModeSymlink != 0 {
		root += string(filepath.Separator) // the link that the user names is followed
	}
	err := filepath.WalkDir(root, func(path string, e fs.DirEntry, err error) error {
		switch {
		case err != nil && path == root:
			return err
		case err != nil: // a directory that cannot be read: say so rather than check less
			return fmt.Errorf("looking for files: %w", err)
		case path == root:
			return nil
		case e.IsDir():
			if skipped(path, e.Name()) {
				return filepath.SkipDir
			}
		case e.Type().IsRegular() && !strings.HasPrefix(e.Name(), ".") && slices.Contains(extensions, strings.ToLower(filepath.Ext(e.Name()))):
			files = append(files, path)
		}
		return nil
	})
	return files, err
}

// skipped reports directories whose files are not the user's own sources. Build trees are told by their usual
// names and by what CMake and others leave in them (CACHEDIR.TAG: bford.info/cachedir).
func skipped(path, name string) bool {
	switch {
	case strings.HasPrefix(name, "."), strings.HasPrefix(name, "bazel-"), strings.HasPrefix(name, "cmake-build-"):
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
