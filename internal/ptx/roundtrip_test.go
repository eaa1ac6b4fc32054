package ptx

import (
	"os"
	"path/filepath"
	"testing"
)

// testFiles returns the files of testdata, which together use every construct of the grammar.
func testFiles(t testing.TB) []string {
	t.Helper()
	names, err := filepath.Glob("testdata/*.ptx")
	if err != nil || len(names) == 0 {
		t.Fatalf("no test files (%v)", err)
	}
	return names
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestRoundTrip(t *testing.T) {
	for _, name := range testFiles(t) {
		roundTrip(t, name, mustParse(t, name, readFile(t, name)))
	}
}

// The call sites that LLVM writes in a comment behind a .loc are part of the tree.
func TestCallSites(t *testing.T) {
	for comment, want := range map[string]string{
		" // b.py:1:2 @[ a.py:3:4 ]":               "a.py:3:4",
		"\t//b.py:1:2 @[ a.py:3:4 @[ k.py:5:6 ] ]": "a.py:3:4 @[ k.py:5:6 ]",
		" ; // @[ a.py:3:4 ] \r":                   "a.py:3:4",
		" // b.py:1:2":                             "",
		" // b.py:1:2 @[ a.py:3:4":                 "",
		" // b.py:1:2 @[  ]":                       "",
		" /* b.py:1:2 @[ a.py:3:4 ] */":            "",
		"\n// b.py:1:2 @[ a.py:3:4 ]":              "",
	} {
		text := ".version 8.0\n.target sm_80\n.func f()\n{\n.loc 1 2 3" + comment + "\nret;\n}\n"
		tree := mustParse(t, "k.ptx", []byte(text))
		again := mustParse(t, "k.ptx", []byte(printed(t, tree)))
		for _, f := range []*File{tree, again} {
			for s := range f.Decls[len(f.Decls)-1].(*Func).Body.Stmts() {
				if s.Kind() == StmtLoc && s.Loc().CallSites != want {
					t.Errorf("%q: %q, want %q", comment, s.Loc().CallSites, want)
				}
			}
		}
	}
}

// FuzzParse checks that no text makes the parser or the printer fail, and that every text that
// parses survives a round trip.
func FuzzParse(f *testing.F) {
	for _, name := range testFiles(f) {
		f.Add(readFile(f, name))
	}
	for _, tt := range errorTests {
		f.Add([]byte(tt.text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		tree, errs := Parse(newFile(t, "fuzz.ptx", text))
		checkPlain(t, tree, errs)
		if len(errs) == 0 {
			checkSpans(t, tree, string(text))
			checkRecords(t, tree)
			roundTrip(t, "fuzz.ptx", tree)
			return
		}
		printed(t, tree)
		for _, e := range errs {
			if !e.Span.IsValid() || e.Span.End < e.Span.Start || e.Msg == "" {
				t.Fatalf("error %q has the range %v-%v", e.Msg, e.Span.Start, e.Span.End)
			}
		}
	})
}
