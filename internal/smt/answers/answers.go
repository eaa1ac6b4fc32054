// Package answers keeps the answers of solvers in files for the next run: one file for each query,
// named by its digest. Only decided answers are kept. A damaged file counts as no answer. Whoever
// reads a model checks it against the query; an "unsat" is believed if its file's checksum holds.
package answers

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"sync/atomic"

	"heddle/internal/cache"
	"heddle/internal/smt"
)

// version changes whenever older answers must not be used: when the format of the files changes, or
// when a solver turns out to have been wrong.
const version = "2"

// most bounds the number of files; one has about 500 bytes.
const most = 20_000

// Dir is an smt.Store over a directory. An answer that cannot be read or written is lost without an
// error: the solver then answers the query again.
type Dir struct {
	path    string
	written atomic.Int64
}

// Open returns the store in dir, which need not exist.
func Open(dir string) *Dir { return &Dir{path: filepath.Join(dir, "answers-"+version)} }

// entry is the content of a file, which ends with the SHA-256 sum of the entry's text.
type entry struct {
	Digest string
	Status string
	By     string
	Steps  int64
	Vars   map[string]uint64            `json:",omitempty"`
	Funcs  map[string]map[string]uint64 `json:",omitempty"` // arguments in hexadecimal
}

func (d *Dir) file(q smt.Digest) string {
	name := hex.EncodeToString(q[:])
	return filepath.Join(d.path, name)
}

// Get reads an answer.
func (d *Dir) Get(q smt.Digest) (smt.Answer, bool) {
	b, err := os.ReadFile(d.file(q))
	if err != nil || len(b) < sha256.Size {
		return smt.Answer{}, false
	}
	text, sum := b[:len(b)-sha256.Size], b[len(b)-sha256.Size:]
	var e entry
	if sha256.Sum256(text) != [sha256.Size]byte(sum) || json.Unmarshal(text, &e) != nil ||
		e.Digest != hex.EncodeToString(q[:]) {
		return smt.Answer{}, false
	}
	a := smt.Answer{By: e.By, Steps: e.Steps}
	switch e.Status {
	case smt.Unsat.String():
		a.Status = smt.Unsat
	case smt.Sat.String():
		a.Status = smt.Sat
		a.Model = &smt.Model{Vars: e.Vars, Funcs: map[string]map[string]uint64{}}
		if a.Model.Vars == nil {
			a.Model.Vars = map[string]uint64{}
		}
		for f, table := range e.Funcs {
			a.Model.Funcs[f] = map[string]uint64{}
			for args, v := range table {
				key, err := hex.DecodeString(args)
				if err != nil {
					return smt.Answer{}, false
				}
				a.Model.Funcs[f][string(key)] = v
			}
		}
	default:
		return smt.Answer{}, false
	}
	return a, true
}

// Put writes an answer.
func (d *Dir) Put(q smt.Digest, a smt.Answer) {
	e := entry{Digest: hex.EncodeToString(q[:]), Status: a.Status.String(), By: a.By, Steps: a.Steps}
	if a.Status == smt.Sat {
		e.Vars, e.Funcs = a.Model.Vars, map[string]map[string]uint64{}
		for f, table := range a.Model.Funcs {
			e.Funcs[f] = map[string]uint64{}
			for args, v := range table {
				e.Funcs[f][hex.EncodeToString([]byte(args))] = v
			}
		}
	}
	text, err := json.Marshal(e)
	if err != nil {
		return
	}
	sum := sha256.Sum256(text)
	if cache.Write(d.file(q), append(text, sum[:]...)) == nil {
		d.written.Add(1)
	}
}

// Prune removes the oldest answers when there are too many. It is called at the end of a run.
func (d *Dir) Prune() {
	if d.written.Load() > 0 {
		cache.Prune(d.path, "", most)
	}
}
