// Package answers caches the answers of solvers in files, for the next run. Each decided query has
// a file named by its digest; undecided queries are not stored.
//
// A truncated or changed file is ignored: a checksum at its end covers the content and the digest.
// The reader of a model checks it against the query (smt.Pool does). An "unsat" cannot be checked
// and is trusted if the checksum is right, so a solver bug requires a new version number.
package answers

import (
	"encoding/hex"
	"encoding/json"
	"path/filepath"
	"sync/atomic"

	"heddle/internal/cache"
	"heddle/internal/smt"
)

// version is part of the path. It changes when old answers must not be used: after a change of the
// format, or when a solver turns out to have been wrong.
const version = "2"

// most bounds the number of files; one has about 500 bytes.
const most = 20_000

// Dir is an smt.Store over a directory, safe for concurrent use by several processes. Errors of
// reading or writing are not reported: the query is solved again.
type Dir struct {
	path    string
	written atomic.Int64
}

// Open returns the store in dir, which is created by the first Put.
func Open(dir string) *Dir { return &Dir{path: filepath.Join(dir, "answers-"+version)} }

// entry is the content of a file, which a checksum follows.
type entry struct {
	Digest string
	Status string
	By     string
	Steps  int64
	Vars   map[string]uint64            `json:",omitempty"`
	Funcs  map[string]map[string]uint64 `json:",omitempty"` // arguments in hexadecimal
}

// file returns the path of the answer to a query.
func (d *Dir) file(q smt.Digest) string {
	name := hex.EncodeToString(q[:])
	return filepath.Join(d.path, name)
}

// Get returns the stored answer to a query, and false if there is none or its file is damaged.
func (d *Dir) Get(q smt.Digest) (smt.Answer, bool) {
	text, ok := cache.Checked(d.file(q))
	var e entry
	if !ok || json.Unmarshal(text, &e) != nil || e.Digest != hex.EncodeToString(q[:]) {
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

// Put stores a decided answer. It writes a temporary file and renames it, so that other processes
// never read a partial one.
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
	if cache.WriteChecked(d.file(q), text) == nil {
		d.written.Add(1)
	}
}

// Prune removes the oldest answers when there are too many. It is called at the end of a run.
func (d *Dir) Prune() {
	if d.written.Load() > 0 {
		cache.Prune(d.path, "", most)
	}
}
