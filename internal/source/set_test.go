//go:build unix

package source

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
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

// TestFill: a File that is held does not change when the text arrives, also if two goroutines
// bring it (with -race, this test fails if they write to a File that others read); the first text
// stays, and positions keep their file.
func TestFill(t *testing.T) {
	set := NewSet()
	name := set.Named("k.cu")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			if f := set.File(name.ID); f.Content != nil && string(f.Content) != "a\nb" {
				t.Errorf("content %q", f.Content)
			}
			if f := set.Fill("k.cu", []byte("a\nb")); f.NumLines() != 2 || f.ID != name.ID {
				t.Errorf("file %d with %d lines, want file %d with 2", f.ID, f.NumLines(), name.ID)
			}
		})
	}
	wg.Wait()
	if name.Content != nil {
		t.Error("a File that was known by name has changed")
	}
	if f := set.Fill("k.cu", []byte("c")); string(f.Content) != "a\nb" || f != set.Lookup("k.cu") || f != set.File(f.ID) {
		t.Errorf("content %q of file %d, want the first text", f.Content, f.ID)
	}
	if f := set.Fill("new.cu", []byte("d")); f.ID == name.ID || string(f.Content) != "d" {
		t.Errorf("a new file has ID %d and content %q", f.ID, f.Content)
	}
}
