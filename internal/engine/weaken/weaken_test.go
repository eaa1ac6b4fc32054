package weaken_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/weaken"
	"heddle/internal/lower"
	"heddle/internal/testing/long"
)

// expected are the comments of a file: what is offered in each line, or that nothing is.
var expected = regexp.MustCompile(`// (offer|keep):? ?([^:]*)`)

// optimize searches a file.
func optimize(t *testing.T, name string, text []byte) *weaken.Result {
	t.Helper()
	in := driver.Input{Input: lower.Input{Name: name, Content: text}}
	res, err := weaken.File(t.Context(), weaken.Options{}, in, func(d diag.Diagnostic) {
		if d.Severity == diag.Error {
			t.Errorf("%s: %s", name, d.Message)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Each place of testdata/optimize is offered what its comment says, or nothing, and the file with
// all offers runs without a finding.
func TestOffers(t *testing.T) {
	files, err := filepath.Glob("../../../testdata/optimize/*.c[ul]")
	if err != nil || len(files) < 7 {
		t.Fatalf("%v, %d files", err, len(files))
	}
	if testing.Short() {
		t.Skip("compiles each candidate")
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			long.Sample(t, 2)
			t.Parallel()
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			name := filepath.Base(path)
			res := optimize(t, name, text)
			compare(t, res, text)
			clean(t, name, res)
		})
	}
}

// compare compares the offers of a file with its comments.
func compare(t *testing.T, res *weaken.Result, text []byte) {
	at := map[int]*weaken.Offer{}
	for i := range res.Offers {
		at[res.Offers[i].At.Line()] = &res.Offers[i]
	}
	for i, line := range strings.Split(string(text), "\n") {
		m := expected.FindStringSubmatch(line)
		if m == nil || strings.HasPrefix(line, "//") {
			continue
		}
		o := at[i+1]
		switch {
		case m[1] == "keep" && o != nil && o.Offered():
			t.Errorf("line %d: %s -> %q is offered: %s", i+1, o.Before, o.After, line)
		case m[1] == "offer" && (o == nil || !o.Offered()):
			t.Errorf("line %d: nothing is offered (%+v): %s", i+1, o, line)
		case m[1] == "offer" && m[2] == "nothing" && o.After != "",
			m[1] == "offer" && m[2] != "nothing" && !strings.Contains(o.After, m[2]):
			t.Errorf("line %d: %q is offered: %s", i+1, o.After, line)
		}
	}
}
