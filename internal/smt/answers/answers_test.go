package answers

import (
	"os"
	"reflect"
	"testing"

	"heddle/internal/smt"
)

func TestRoundTrip(t *testing.T) {
	d := Open(t.TempDir())
	var q smt.Digest
	for i, a := range []smt.Answer{
		{Status: smt.Unsat, By: "gini"},
		{Status: smt.Sat, By: "z3", Model: &smt.Model{
			Vars: map[string]uint64{"x0": 1<<64 - 1, "x1": 0},
			Funcs: map[string]map[string]uint64{"f0": {smt.Key([]uint64{5, 1 << 63}): 7},
				"f1": {smt.Key(nil): 1}},
		}},
	} {
		q[0] = byte(i)
		if _, ok := d.Get(q); ok {
			t.Fatal("an answer before Put")
		}
		d.Put(q, a)
		got, ok := d.Get(q)
		if !ok || got.Status != a.Status || got.By != a.By || !reflect.DeepEqual(got.Model, a.Model) {
			t.Errorf("%v: read back %v, %v", a, got, ok)
		}
	}
}

// TestCorrupt checks that a file with any changed byte, a truncated file, and a file under another
// name yield no answer.
func TestCorrupt(t *testing.T) {
	d := Open(t.TempDir())
	var q, other smt.Digest
	other[3] = 1
	d.Put(q, smt.Answer{Status: smt.Unsat, By: "gini"})
	whole, err := os.ReadFile(d.file(q))
	if err != nil {
		t.Fatal(err)
	}
	write := func(b []byte) {
		if err := os.WriteFile(d.file(q), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for i := range whole {
		b := append([]byte(nil), whole...)
		b[i] ^= 1
		write(b)
		if a, ok := d.Get(q); ok {
			t.Fatalf("byte %d changed: %v", i, a)
		}
		write(whole[:i])
		if a, ok := d.Get(q); ok {
			t.Fatalf("cut at %d: %v", i, a)
		}
	}
	write(whole)
	if _, ok := d.Get(q); !ok {
		t.Fatal("the intact file yields no answer")
	}
	if err := os.Rename(d.file(q), d.file(other)); err != nil {
		t.Fatal(err)
	}
	if _, ok := d.Get(other); ok {
		t.Error("a file under another name yields an answer")
	}
}

func TestNoDirectory(t *testing.T) {
	path := t.TempDir() + "/file"
	if err := os.WriteFile(path, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	d := Open(path)
	d.Put(smt.Digest{}, smt.Answer{Status: smt.Unsat})
	if _, ok := d.Get(smt.Digest{}); ok {
		t.Error("an answer from a missing directory")
	}
	d.Prune()
}
