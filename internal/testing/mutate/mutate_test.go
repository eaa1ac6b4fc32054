package mutate

import (
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// program has conditions of every kind. Its output is one digit for each of them.
const program = `package main

import "os"

type box[T any] struct{ v T }

func (b *box[T]) less(x, y int) bool { return x < y }

func describe(n int) string {
	switch {
	case n < 0:
		return "-"
	case n == 0, n == 1:
		return "s"
	}
	if n > 5 && // large
		n != 7 {
		return "l"
	}
	return "m"
}

func printed(n int) bool { return n < 3 } // only for people

func checked(p *int) int {
	if p == nil || *p < 0 {
		panic("no number")
	}
	if p != nil {
		return *p
	}
	return 0
}

func main() {
	for _, n := range []int{-1, 0, 1, 5, 6, 7} {
		os.Stdout.WriteString(describe(n))
	}
	n := 3
	if (&box[int]{}).less(2, checked(&n)) {
		os.Stdout.WriteString("!")
	}
}
`

// TestFind: which conditions have mutants, and which of them.
func TestFind(t *testing.T) {
	want := []string{
		"p.go box.less: x < y: <= for <",
		"p.go describe: n < 0: negated",
		"p.go describe: n == 0: negated",
		"p.go describe: n == 1: negated",
		"p.go describe: n < 0: <= for <",
		"p.go describe: n > 5 && // large n != 7: negated",
		"p.go describe: n > 5 && // large n != 7: || for &&",
		"p.go describe: n > 5: >= for >",
		"p.go describe: n != 7: == for !=",
		"p.go main: (&box[int]{}).less(2, checked(&n)): negated",
	}
	ms, err := Find("p.go", []byte(program))
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range ms {
		if i >= len(want) || m.Key().String() != want[i] {
			t.Errorf("mutant %d is %s", i, m.Key())
		}
		if k, err := parseKey(m.Key().String()); err != nil || k != m.Key() {
			t.Errorf("%s is read as %v, %v", m.Key(), k, err)
		}
	}
	if len(ms) != len(want) {
		t.Errorf("%d mutants, want %d", len(ms), len(want))
	}
	if ms[0].Line != 7 || ms[0].Column != 47 {
		t.Errorf("the first mutant is at %d:%d, want 7:47", ms[0].Line, ms[0].Column)
	}
}

// TestNth: equal conditions of one function are told apart by their order.
func TestNth(t *testing.T) {
	ms, err := Find("p.go", []byte("package p\nfunc f(a, b bool) bool { return a && b || a && b }"))
	if err != nil || len(ms) != 3 {
		t.Fatalf("mutants %v, %v, want 3", ms, err)
	}
	if a, b := ms[1].Key().String(), ms[2].Key().String(); b != a+" #2" {
		t.Errorf("keys %q and %q, want the second with #2", a, b)
	}
}

// TestRewrite runs a program with all its mutants. Without an active one it prints what it printed
// before, and with each what its changed condition makes of it.
func TestRewrite(t *testing.T) {
	ms, err := Find("p.go", []byte(program))
	if err != nil {
		t.Fatal(err)
	}
	numbered := map[int]*Mutant{}
	for i, m := range ms {
		numbered[i+1] = m
	}
	dir := t.TempDir()
	text := Rewrite([]byte(program), numbered)
	if _, err := parser.ParseFile(token.NewFileSet(), "p.go", text, 0); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	for name, b := range map[string][]byte{"p.go": text, "support.go": Support("main", len(ms)),
		"go.mod": []byte("module p\n\ngo 1.26\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), b, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	bin := filepath.Join(dir, "p")
	cmd := exec.Command("go", "build", "-o", bin, ".")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, out, text)
	}
	reached := filepath.Join(dir, "reached")
	// What describe makes of -1, 0, 1, 5, 6 and 7, and "!" if 2 < 3; the mutants of TestFind in order.
	for i, want := range []string{"-ssmlm!", "-ssmlm!", "m-----!", "-mssss!", "-smsss!", "--smlm!",
		"-sslml!", "-sslll!", "-ssllm!", "-ssmml!", "-ssmlm"} {
		cmd := exec.Command(bin)
		cmd.Env = append(os.Environ(), ActiveEnv+"="+strconv.Itoa(i), ReachedEnv+"="+reached)
		out, err := cmd.CombinedOutput()
		if err != nil || string(out) != want {
			t.Errorf("mutant %d prints %q, %v, want %q\n%s", i, out, err, want, text)
		}
	}
	list, err := os.ReadFile(reached)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Fields(string(list))); n < len(ms) {
		t.Errorf("%d numbers of reached mutants, want %d at least", n, len(ms))
	}
}

// TestParseEquivalent: entries, comments, and what is wrong with a list.
func TestParseEquivalent(t *testing.T) {
	list, err := ParseEquivalent("# comment\na/b.go T.f: x == \"a: b\" && y: || for && #2\n" +
		"  one\n  two\n\nc.go g: z: negated\n  three\n")
	if err != nil || len(list) != 2 {
		t.Fatalf("%v, %v, want 2 entries", list, err)
	}
	want := Key{File: "a/b.go", Func: "T.f", Text: `x == "a: b" && y`, Change: "|| for &&", Nth: 2}
	if list[0].Key != want || list[0].Reason != "one two" || list[1].Line != 6 {
		t.Errorf("entries %+v", list)
	}
	for _, bad := range []string{"  reason\n", "a.go f: x: negated\n", "a.go\n  r\n",
		"a.go f: x: negated #1\n  r\n"} {
		if list, err := ParseEquivalent(bad); err == nil {
			t.Errorf("%q is read as %+v", bad, list)
		}
	}
}
