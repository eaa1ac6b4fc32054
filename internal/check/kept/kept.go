// Package kept keeps the results of examinations in a directory, for later runs of the same
// program (check.Kept).
package kept

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"path/filepath"
	"sync/atomic"

	"heddle/internal/cache"
)

// Dir is a directory with one file for each result. Several processes may use it at a time.
type Dir struct {
	path    string
	program string
	added   atomic.Bool
}

// most bounds the number of results, of 1 to 50 KB each.
const most = 40_000

// prefix begins the names of results.
const prefix = "result-"

// Open returns the results in a directory of a cache; nil if others could change them. program
// identifies the program, of which each version has results of its own.
func Open(dir, program string) *Dir {
	d := &Dir{path: filepath.Join(dir, "results"), program: program}
	if cache.Usable(d.path) != nil {
		return nil
	}
	return d
}

// file is the path of a result.
func (d *Dir) file(key [sha256.Size]byte) string {
	name := sha256.Sum256(append([]byte(d.program), key[:]...))
	return filepath.Join(d.path, prefix+hex.EncodeToString(name[:]))
}

// Get implements check.Kept.
func (d *Dir) Get(key [sha256.Size]byte) []byte {
	b, err := os.ReadFile(d.file(key))
	if err != nil {
		return nil
	}
	return b
}

// Put implements check.Kept.
func (d *Dir) Put(key [sha256.Size]byte, result []byte) {
	if cache.Write(d.file(key), result) == nil {
		d.added.Store(true)
	}
}

// Close removes the oldest results if there are too many.
func (d *Dir) Close() {
	if d.added.Load() {
		cache.Prune(d.path, prefix, most)
	}
}
