package lower

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// The headers replace those of CUDA and of clang's OpenCL C. They are written to the cache
// directory once per version of heddle; their hash is in the name of the directory and in every key
// of the cache. Positions in them are omitted from inline stacks, so that a report names the user's
// call of __shfl_sync and not its definition.

// headerFS holds CUDA's and OpenCL's headers, written for heddle: no CUDA toolkit is needed, and
// their functions use the instructions that heddle knows.
//
//go:embed all:headers
var headerFS embed.FS

// headerHash identifies the embedded headers.
var headerHash = sync.OnceValue(func() string {
	h, piece := sha256.New(), make([]byte, 1<<16)
	err := fs.WalkDir(headerFS, "headers", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		f, err := headerFS.Open(path)
		if err != nil {
			return err
		}
		h.Write([]byte(path))
		h.Write([]byte{0})
		_, err = io.CopyBuffer(h, f, piece)
		return err
	})
	if err != nil {
		panic("BUG: embedded headers: " + err.Error())
	}
	return hex.EncodeToString(h.Sum(nil))[:16]
})

// writeHeaders writes the embedded headers below dir and returns their root directory. It does
// nothing if they are already there. Several processes may call it at the same time.
func writeHeaders(dir string) (string, error) {
	root := filepath.Join(dir, "headers-"+headerHash())
	if _, err := os.Stat(root); err == nil {
		return root, nil
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
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
	if err := os.Chmod(tmp, 0o700); err != nil {
		return "", err
	}
	if err := os.Rename(tmp, root); err != nil {
		if _, statErr := os.Stat(root); statErr != nil {
			return "", err
		}
	}
	return root, nil
}

// LaunchMacros returns the text of a header whose macros stand for launches and functions of the
// runtime, by its name in an #include; nil if it is none.
func LaunchMacros(name string) []byte {
	if !strings.HasPrefix(name, "hip/") {
		return nil
	}
	text, err := headerFS.ReadFile("headers/cuda/hip/hip_runtime.h")
	if err != nil {
		return nil
	}
	return text
}

// IsHeader reports whether a file is one of the embedded headers, on disk.
func IsHeader(name string) bool {
	sep := string(filepath.Separator)
	return strings.Contains(name, sep+"headers-"+headerHash()+sep)
}
