package cache

import (
	"crypto/sha256"
	"fmt"
	"os"
	"runtime/debug"
)

// WriteChecked is Write for a file that Checked reads.
func WriteChecked(path string, b []byte) error {
	sum := sha256.Sum256(b)
	return Write(path, append(b[:len(b):len(b)], sum[:]...))
}

// Checked returns the content that WriteChecked has written to a file; false if there is no such
// file, or if it is damaged.
func Checked(path string) ([]byte, bool) {
	b, err := os.ReadFile(path)
	if err != nil || len(b) < sha256.Size {
		return nil, false
	}
	text, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	return text, sha256.Sum256(text) == [sha256.Size]byte(sum)
}

// Program names this build of the running program, for results that any change of it may change:
// its file with size and time, and what it was built from. It is false if that is unknown.
func Program() (string, bool) {
	path, err := os.Executable()
	if err != nil {
		return "", false
	}
	fi, err := os.Stat(path)
	if err != nil {
		return "", false
	}
	built := ""
	if info, ok := debug.ReadBuildInfo(); ok {
		built = info.String()
	}
	return fmt.Sprintf("%s %d %d\n%s", path, fi.Size(), fi.ModTime().UnixNano(), built), true
}
