package main

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/testing/mutate"
)

// TestMutants measures a small module. The tests of p notice two of four conditions: that of
// positive at 0 is not tested, and one function is not called. A judge, package q, calls it, but
// notices nothing; another one notices what it does.
func TestMutants(t *testing.T) {
	t.Chdir(t.TempDir())
	const module = `-- go.mod
module p

go 1.26
-- p.go
package p

func positive(n int) bool { return n > 0 }

func Never(n int) bool { return n == 3 }

func both(a, b bool) bool { return a && b }

func count(n int) int {
	c := 0
	for i := 0; i < n; i++ {
		c++
	}
	return c
}
-- p_test.go
package p

import "testing"

func TestP(t *testing.T) {
	if !positive(1) || positive(-1) || both(true, false) || count(2) != 2 {
		t.Error("wrong")
	}
}
-- q/q_test.go
package q

import (
	"p"
	"testing"
)

func TestCall(t *testing.T) { p.Never(1) }

func TestResult(t *testing.T) {
	if p.Never(1) {
		t.Error("wrong")
	}
}
`
	for f := range strings.SplitSeq(module[len("-- "):], "\n-- ") {
		name, text, _ := strings.Cut(f, "\n")
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	list := filepath.Join(t.TempDir(), "equivalent")
	call, result := judge{pkg: "q", run: "TestCall"}, judge{pkg: "q", run: "TestResult"}
	for _, c := range []struct {
		list   string
		judges []judge
		own    bool
		want   string // in the output
		ok     bool   // 60 percent are killed
	}{
		{want: "p        4       2       50         1            1"},
		{judges: []judge{call}, want: "p        4       2       50         2            0"},
		{judges: []judge{call, result}, ok: true,
			want: "p        4       3       75         1            0"},
		{judges: []judge{call, result}, own: true,
			want: "p        4       2       50         1            1"},
		{list: "./p.go Never: n == 3: != for ==\n  it is never called\n", ok: true,
			want: "p        3       2       67         1            0"},
		{list: "./p.go Never: n == 4: != for ==\n  it is never called\n", want: "stale"},
	} {
		if err := os.WriteFile(list, []byte(c.list), 0o644); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		gs := []group{{name: "p", packages: []string{"."}, judges: c.judges}}
		opt := options{seed: 1, min: 60, workers: 1, equivalent: list, own: c.own}
		ok, err := measure(context.Background(), &out, gs, opt)
		if err != nil || ok != c.ok || !strings.Contains(out.String(), c.want) {
			t.Errorf("with %+v: %v, %v\n%s", c, ok, err, out.String())
		}
	}
}

// TestChoose: groups are named as packages are.
func TestChoose(t *testing.T) {
	got, err := choose([]string{"./internal/lockstep/...", "internal/race"})
	if err != nil || len(got) != 2 || got[0].name != "internal/lockstep" {
		t.Errorf("groups %v, %v", got, err)
	}
	if _, err := choose([]string{"internal/rac"}); err == nil {
		t.Error("internal/rac is a group")
	}
}

// TestEquivalentList: each entry of the list is a mutant of the code, and is there once.
func TestEquivalentList(t *testing.T) {
	t.Chdir("../..")
	known, err := loadEquivalent(equivalentFile)
	if err != nil {
		t.Fatal(err)
	}
	seen, mutants := map[mutate.Key]bool{}, map[mutate.Key]bool{}
	read := map[string]bool{}
	for _, e := range known {
		if !read[e.File] {
			read[e.File] = true
			text, err := os.ReadFile(e.File)
			if err != nil {
				t.Fatal(err)
			}
			found, err := mutate.Find(e.File, text)
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range found {
				mutants[m.Key()] = true
			}
		}
		if !mutants[e.Key] || seen[e.Key] {
			t.Errorf("line %d: no mutant is %s, or it is listed twice", e.Line, e.Key)
		}
		seen[e.Key] = true
	}
}
