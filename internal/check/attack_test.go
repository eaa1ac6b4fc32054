package check_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/testing/long"
)

// claim is what a file of testdata/attack says of the verdicts on its kernels: all of them are
// wrong, so that none may be verified, or all are right, so that none may be a bug. A wrong kernel
// may be verified if the verdict says what it does not cover, in a word that the file names. A
// kernel that is right as its host code launches it may be a bug of heddle verify, which answers
// for all arguments.
type claim struct {
	wrong    bool
	except   map[string]string // by the name of a wrong kernel: what its verdict says
	launched map[string]bool   // right kernels that are right as launched
}

// readClaim reads the first line of a file: "// expect: not verified; k verified alias" or
// "// expect: not bug; k as launched". The lines above each kernel say why, by the specification.
func readClaim(t *testing.T, path string) claim {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	line, _, _ := strings.Cut(string(text), "\n")
	parts := strings.Split(strings.TrimPrefix(line, "// expect: "), "; ")
	c := claim{wrong: parts[0] == "not verified", except: map[string]string{},
		launched: map[string]bool{}}
	if !c.wrong && parts[0] != "not bug" {
		t.Fatalf("%s: the first line is no expectation", path)
	}
	for _, one := range parts[1:] {
		if kernel, ok := strings.CutSuffix(one, " as launched"); ok && !c.wrong {
			c.launched[kernel] = true
			continue
		}
		kernel, word, ok := strings.Cut(one, " verified ")
		if !ok {
			t.Fatalf("%s: %q is no expectation", path, one)
		}
		c.except[kernel] = word
	}
	return c
}

// breaks says what is wrong with a verdict of a command; empty: nothing.
func (c *claim) breaks(v *diag.Verdict, mode check.Mode) string {
	name, _, _ := strings.Cut(v.Kernel, "(")
	name = name[strings.LastIndex(name, " ")+1:]
	switch word, said := c.except[name]; {
	case v.Kernel == "":
		return "no kernel was examined"
	case !c.wrong && v.Kind == diag.Bug && !(mode == check.Verify && c.launched[name]):
		return "a right kernel"
	case c.wrong && v.Kind == diag.Verified && !(said && strings.Contains(v.Text(), word)):
		return "a wrong kernel"
	case strings.Contains(v.Text(), "internal error"):
		return "an error of heddle"
	}
	return ""
}

// TestAttack verifies and checks the kernels of testdata/attack, which were written to be wrong in
// ways that a proof may overlook, or right in ways that a run may mistake. It fails if a wrong
// kernel is verified or a right one is a bug. With HEDDLE_LONG it takes all files, else a few, and
// prints a table of the verdicts by class.
func TestAttack(t *testing.T) {
	files, err := filepath.Glob("../../testdata/attack/*/*.*")
	if err != nil || len(files) == 0 {
		t.Fatal(len(files), err)
	}
	long := long.All()
	var table bytes.Buffer
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', tabwriter.AlignRight)
	kinds := []diag.VerdictKind{diag.Bug, diag.Unknown, diag.Unsupported, diag.Clean, diag.Verified}
	fmt.Fprintln(w, "class\tcommand\tbug\tunknown\tunsupported\tclean\tverified\t")
	for i, path := range files {
		if !long && i%12 != 5 {
			continue
		}
		c := readClaim(t, path)
		modes := []check.Mode{check.Verify, check.Check}
		if base := filepath.Base(path); base == "named.cu" || base == "mbarrier.ptx" {
			modes = append(modes, check.Trace) // what is wrong with these is in shared memory and barriers
		}
		for _, mode := range modes {
			if !long && mode == check.Check && c.wrong {
				continue
			}
			count := map[diag.VerdictKind]int{}
			sum, err := check.Files(t.Context(), check.Options{Mode: mode}, []string{path},
				func(diag.Diagnostic) {})
			if err != nil {
				t.Fatal(path, err)
			}
			for i := range sum.Verdicts {
				v := &sum.Verdicts[i]
				count[v.Kind]++
				if what := c.breaks(v, mode); what != "" {
					t.Errorf("%s: %s of %s: %v: %s", path, mode, what, v.Kind, v.Text())
				}
			}
			class := filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path)
			fmt.Fprintf(w, "%s\t%s\t", class, mode)
			for _, k := range kinds {
				fmt.Fprintf(w, "%d\t", count[k])
			}
			fmt.Fprintln(w)
		}
		for name := range c.except { // a name that no kernel has would excuse nothing, unnoticed
			text, _ := os.ReadFile(path)
			if !slices.Contains(strings.FieldsFunc(string(text), notName), name) {
				t.Errorf("%s: no kernel is called %s", path, name)
			}
		}
	}
	w.Flush()
	t.Log("\n" + table.String())
}

// notName reports whether a character is no part of a name.
func notName(r rune) bool {
	return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
}
