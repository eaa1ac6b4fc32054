package kept

import (
	"crypto/sha256"
	"os"
	"path/filepath"
	"testing"
)

// Results are found again by the same program alone.
func TestDir(t *testing.T) {
	dir := t.TempDir()
	d := Open(dir, "heddle 1")
	if d == nil {
		t.Fatal("no directory")
	}
	key := sha256.Sum256([]byte("a request"))
	if b := d.Get(key); b != nil {
		t.Errorf("%q although nothing was kept", b)
	}
	d.Put(key, []byte("a result"))
	d.Close()
	for program, want := range map[string]string{"heddle 1": "a result", "heddle 2": ""} {
		if b := Open(dir, program).Get(key); string(b) != want {
			t.Errorf("%s: %q, want %q", program, b, want)
		}
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "results", prefix+"*")); len(files) != 1 {
		t.Errorf("files %v", files)
	}
}

// What other users may write to is not read.
func TestUnsafe(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "results")
	if err := os.Mkdir(path, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o777); err != nil {
		t.Fatal(err)
	}
	if Open(dir, "heddle") != nil {
		t.Error("a directory that everybody may write to is used")
	}
}
