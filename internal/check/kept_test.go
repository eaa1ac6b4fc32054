package check_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle/internal/check"
	"heddle/internal/diag"
)

// memory keeps results in memory.
type memory struct {
	mu        sync.Mutex
	results   map[[sha256.Size]byte][]byte
	got, puts int
}

// Get implements check.Kept.
func (m *memory) Get(key [sha256.Size]byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.results[key] != nil {
		m.got++
	}
	return bytes.Clone(m.results[key])
}

// Put implements check.Kept.
func (m *memory) Put(key [sha256.Size]byte, result []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.results == nil {
		m.results = map[[sha256.Size]byte][]byte{}
	}
	m.puts++
	m.results[key] = bytes.Clone(result)
}

// counts returns how many results were taken and kept since the last call.
func (m *memory) counts() (got, puts int) {
	got, puts = m.got, m.puts
	m.got, m.puts = 0, 0
	return got, puts
}

// TestKept: a run that takes results of an earlier one reports the same, and so do the run that
// leaves them and a run with results that cannot be read.
func TestKept(t *testing.T) {
	names := sampleFiles(t)
	if testing.Short() {
		names = names[:4]
	}
	m := new(memory)
	here := reported(t, check.Options{}, names...)
	for _, run := range []struct {
		name          string
		taken, leaves bool
	}{{"first", false, true}, {"second", true, false}} {
		if d := cmp.Diff(here, reported(t, check.Options{Kept: m}, names...)); d != "" {
			t.Errorf("%s run: -without +with\n%s", run.name, d)
		}
		if got, puts := m.counts(); got > 0 != run.taken || puts > 0 != run.leaves {
			t.Errorf("%s run: %d results taken, %d left", run.name, got, puts)
		}
	}
	for key, b := range m.results {
		m.results[key] = b[:len(b)/2]
	}
	if d := cmp.Diff(here, reported(t, check.Options{Kept: m}, names...)); d != "" {
		t.Errorf("damaged results: -without +with\n%s", d)
	}
	if _, puts := m.counts(); puts != len(m.results) {
		t.Errorf("%d of %d damaged results were replaced", puts, len(m.results))
	}
}

// TestKeptChanges: a kernel is examined again if its file, an option or the launch is another one.
func TestKeptChanges(t *testing.T) {
	at := write(t, map[string]string{"a.cu": kernelText("a", ""), "b.cu": kernelText("b", "")})
	m := new(memory)
	expect := func(what string, opt check.Options, got, puts int) {
		t.Helper()
		opt.Kept = m
		reported(t, opt, at["a.cu"], at["b.cu"])
		if g, p := m.counts(); g != got || p != puts {
			t.Errorf("%s: %d results taken and %d left, want %d and %d", what, g, p, got, puts)
		}
	}
	expect("first run", check.Options{}, 0, 2)
	expect("no change", check.Options{}, 2, 0)
	seeds := check.Options{}
	seeds.Run.Seeds = 3
	expect("other seeds", seeds, 0, 2)
	text, err := os.ReadFile(at["b.cu"])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(at["b.cu"], append([]byte("// a comment\n"), text...), 0o644); err != nil {
		t.Fatal(err)
	}
	expect("another line in one file", check.Options{}, 1, 1)
	known := check.Options{}
	known.Known = func(*diag.Diagnostic) bool { return false }
	expect("a baseline", known, 0, 0)
	known = check.Options{SkipProof: true, Mode: check.Run}
	expect("another mode", known, 0, 0)
}

// TestKeptInterrupted: what a run that was interrupted has of a kernel is not kept.
func TestKeptInterrupted(t *testing.T) {
	at := write(t, map[string]string{"a.cu": kernelText("a", "") + kernelText("b", "")})
	ctx, cancel := context.WithCancel(t.Context())
	m := new(memory)
	opt := check.Options{Kept: m}
	opt.Workers = 1
	sum, err := check.Files(ctx, opt, []string{at["a.cu"]}, func(diag.Diagnostic) { cancel() })
	if err != nil {
		t.Fatal(err)
	}
	if len(m.results) > 0 {
		t.Errorf("%d results", len(m.results))
	}
	var all []string
	for _, v := range sum.Verdicts {
		all = append(all, v.Reason)
	}
	if !strings.Contains(strings.Join(all, " "), "interrupted") {
		t.Errorf("verdicts %q", all)
	}
}
