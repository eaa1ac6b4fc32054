package source

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// ReadRegular reads a file of at most limit bytes. It refuses devices, pipes and sockets, whose
// contents may never end or never begin. Errors name the path.
func ReadRegular(path string, limit int64) ([]byte, error) {
	fi, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case !fi.Mode().IsRegular():
		return nil, &fs.PathError{Op: "read", Path: path, Err: NotRegular(fi.Mode())}
	case fi.Size() > limit:
		return nil, &fs.PathError{Op: "read", Path: path,
			Err: fmt.Errorf("the file has %d bytes; heddle reads at most %d", fi.Size(), limit)}
	}
	return os.ReadFile(path)
}

// NotRegular returns an error that says what a file is instead of a regular file; nil for a regular
// file.
func NotRegular(m fs.FileMode) error {
	what := "a special file"
	switch {
	case m.IsRegular():
		return nil
	case m.IsDir():
		return errors.New("is a directory")
	case m&fs.ModeNamedPipe != 0:
		what = "a pipe (use - for standard input)"
	case m&fs.ModeSocket != 0:
		what = "a socket"
	case m&fs.ModeDevice != 0:
		what = "a device"
	}
	return fmt.Errorf("not a regular file but %s", what)
}
