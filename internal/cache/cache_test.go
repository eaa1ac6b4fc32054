package cache

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// names lists the files of a directory.
func names(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

// fill writes files of a prefix, the first of which is the oldest.
func fill(t *testing.T, dir, prefix string, n int) {
	t.Helper()
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("%s%02d", prefix, n-1-i)) // the age is not the order of names
		if err := Write(path, nil); err != nil {
			t.Fatal(err)
		}
		at := time.Unix(int64(1000+i), 0)
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
}

// The oldest files of the prefix go, down to three quarters of the limit; others stay.
func TestPrune(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir, "a-", 9)
	fill(t, dir, ".tmp-", 2)
	fill(t, dir, "b-", 3)
	Prune(dir, "a-", 9)
	if got := names(t, dir); len(got) != 14 {
		t.Errorf("9 files of at most 9: %v are left", got)
	}
	Prune(dir, "a-", 8)
	want := []string{".tmp-00", ".tmp-01", "a-00", "a-01", "a-02", "a-03", "a-04", "a-05", "b-00", "b-01", "b-02"}
	if got := names(t, dir); !slices.Equal(got, want) {
		t.Errorf("left %v, want %v", got, want)
	}
	Prune(dir, "", 8) // temporary files do not count: 9 are left
	want = []string{".tmp-00", ".tmp-01", "a-00", "a-01", "a-02", "b-00", "b-01", "b-02"}
	if got := names(t, dir); len(got) != len(want) {
		t.Errorf("left %v, want six files and the temporary ones", got)
	}
	Prune(filepath.Join(dir, "missing"), "", 1)
}

// Of many writers of one file some one succeeds last, and none leaves a part or a temporary file.
func TestWrite(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "dir")
	path := filepath.Join(dir, "x")
	texts := [][]byte{make([]byte, 1<<16), make([]byte, 1<<12)}
	for i := range texts[1] {
		texts[1][i] = 'y'
	}
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			if err := Write(path, texts[i%2]); err != nil {
				t.Error(err)
			}
			b, err := os.ReadFile(path)
			if err != nil || !slices.Equal(b, texts[0]) && !slices.Equal(b, texts[1]) {
				t.Errorf("%d bytes, %v", len(b), err)
			}
		})
	}
	wg.Wait()
	if got := names(t, dir); !slices.Equal(got, []string{"x"}) {
		t.Errorf("files %v", got)
	}
	if err := Write(filepath.Join(path, "below a file"), nil); err == nil {
		t.Error("a directory that cannot be made is no error")
	}
}

// A cache is used only if nobody else can write to it.
func TestUsable(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	if err := Usable(dir); err != nil {
		t.Fatal(err)
	}
	if fi, err := os.Stat(dir); err != nil || fi.Mode().Perm() != 0o700 {
		t.Errorf("%v, %v, want mode 0700", fi.Mode(), err)
	}
	for mode, ok := range map[os.FileMode]bool{0o755: true, 0o700: true, 0o775: false, 0o707: false} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
		if err := Usable(dir); (err == nil) != ok {
			t.Errorf("mode %o: %v", mode, err)
		}
	}
	if os.Geteuid() != 0 {
		return // only root can give a directory away
	}
	if err := errors.Join(os.Chmod(dir, 0o700), os.Chown(dir, 65534, 65534)); err != nil {
		t.Skip(err)
	}
	if err := Usable(dir); err == nil || !strings.Contains(err.Error(), "another user owns") {
		t.Errorf("a directory of another user: %v", err)
	}
}
