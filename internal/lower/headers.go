package lower

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
)

//go:embed all:headers
var headerFS embed.FS

// headerHash identifies the embedded headers.
var headerHash = sync.OnceValue(func() string {
	h := sha256.New()
	err := fs.WalkDir(headerFS, "headers", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := headerFS.ReadFile(path)
		if err != nil {
			return err
		}
		h.Write([]byte(path))
		h.Write([]byte{0})
		h.Write(b)
		return nil
	})
	if err != nil {
		panic("BUG: embedded headers: " + err.Error())
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
})

// writeHeaders puts the embedded headers under dir and returns their root. With the same content there
// already it does nothing; several processes may do it at once.
func writeHeaders(dir string) (string, error) {
	root := filepath.Join(dir, "headers-"+headerHash())
	if _, err := os.Stat(root); err == nil {
		return root, nil
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", err
	}
	tmp, err := os.MkdirTemp(dir, "headers-*.tmp")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(tmp)
	sub, err := fs.Sub(headerFS, "headers")
	if err != nil {
		return "", err
	}
	if err := os.CopyFS(tmp, sub); err != nil {
		return "", err
	}
	if err := os.Chmod(tmp, 0o755); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, root); err != nil {
		if _, statErr := os.Stat(root); statErr != nil {
			return "", err
		}
	}
	return root, nil
}
