package source

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// Only regular files within the limit are read; a pipe without a writer would block for ever.
func TestReadRegular(t *testing.T) {
	dir := t.TempDir()
	file, pipe := filepath.Join(dir, "f"), filepath.Join(dir, "p")
	if err := os.WriteFile(file, []byte("abc"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Skip(err)
	}
	if b, err := ReadRegular(file, 3); err != nil || string(b) != "abc" {
		t.Errorf("%q, %v", b, err)
	}
	for path, want := range map[string]string{
		file: "has 3 bytes; heddle reads at most 2", pipe: "not a regular file but a pipe",
		dir: "is a directory", "/dev/zero": "not a regular file but a device",
		filepath.Join(dir, "none"): "no such file",
	} {
		if _, err := ReadRegular(path, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", path, err, want)
		}
	}
}

// TestPosNear compares PosNear with PosAt for every offset and every line.
func TestPosNear(t *testing.T) {
	for _, text := range []string{"", "\n", "a", "a\n", "\n\n", "ab\nc\n\nd", "ab\r\ncd\n"} {
		f, err := NewSet().Add("x", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for offset := range len(text) + 1 {
			for line := -1; line <= f.NumLines()+1; line++ {
				if got, want := f.PosNear(offset, line), f.PosAt(offset); got != want {
					t.Errorf("%q: offset %d near line %d is %v, want %v", text, offset, line, got, want)
				}
			}
		}
	}
}
