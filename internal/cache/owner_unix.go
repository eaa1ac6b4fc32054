//go:build unix

package cache

import (
	"io/fs"
	"os"
	"syscall"
)

// owned reports whether the user of this process owns a file.
func owned(fi fs.FileInfo) bool {
	st, ok := fi.Sys().(*syscall.Stat_t)
	return !ok || int(st.Uid) == os.Geteuid()
}
