package ptxtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestBeside: each program of examples/ has expectations, each expectation has a program, and no
// program carries markup of tests.
func TestBeside(t *testing.T) {
	programs, err := parseBeside(besideText)
	if err != nil {
		t.Fatal(err)
	}
	for name := range programs {
		if _, err := os.Stat(filepath.Join(examplesDir, name)); err != nil {
			t.Error(err)
		}
	}
	for _, path := range kernels(t, examplesDir) {
		text, err := Source(path)
		if err != nil {
			t.Error(err)
			continue
		}
		if _, err := Parse(text); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, markup := range []string{"want ", "expect: ", "redundant: ", "options: ", "unsupported "} {
			if strings.Contains(string(raw), "// "+markup) {
				t.Errorf("%s has // %s: examples are for users; see testdata/examples.txt", path, markup)
			}
		}
	}
}

func TestAnnotate(t *testing.T) {
	const table = "# comment\na.cu: bug\n\t2: b[0] = 1; // c // want race-global \"b\"\n"
	programs, err := parseBeside(table)
	if err != nil {
		t.Fatal(err)
	}
	got, err := programs["a.cu"].annotate("a\n  b[0] = 1; // c\n")
	const want = "a\n  b[0] = 1; // c // want race-global \"b\"\n\n// expect: bug\n"
	if err != nil || got != want {
		t.Errorf("%q, %v, want %q", got, err, want)
	}
	if _, err := programs["a.cu"].annotate("b[0] = 1; // c\n"); err == nil {
		t.Error("a line that moved is not noticed")
	}
	for _, bad := range []string{
		"\t1: x // want y\n", "a.cu: bug\na.cu: bug\n", "a.cu: bug\n\tx // want y\n", "a.cu: bug\n\t1: x\n",
	} {
		if _, err := parseBeside(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
