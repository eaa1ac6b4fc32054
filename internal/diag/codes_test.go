package diag

import (
	"bytes"
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestDocsAreComplete(t *testing.T) {
	seen := make(map[Code]bool)
	form := regexp.MustCompile(`^[a-z]+(-[a-z]+)*$`)
	for _, d := range Docs() {
		if seen[d.Code] || !form.MatchString(string(d.Code)) {
			t.Errorf("code %q is a duplicate or badly named", d.Code)
		}
		seen[d.Code] = true
		if d.Title == "" || d.Text == "" || d.Fix == "" || d.Example.File == "" || d.Example.Text == "" ||
			d.Fixed.Text == "" && d.Fixed.Flags == nil {
			t.Errorf("%s: documentation is missing", d.Code)
		}
		if strings.HasSuffix(d.Title, ".") || strings.Contains(d.Title, "\n") {
			t.Errorf("%s: the title is one line without a period", d.Code)
		}
		for _, text := range []string{d.Text, d.Fix, d.Example.Text, d.Fixed.Text} {
			for l := range strings.Lines(text) {
				if len(l) > 101 {
					t.Errorf("%s: a line of %d characters", d.Code, len(l))
				}
			}
		}
	}
	// Every constant of codes.go is documented.
	src, err := os.ReadFile("codes.go")
	if err != nil {
		t.Fatal(err)
	}
	consts := regexp.MustCompile(`Code\w+\s+Code = "([a-z-]+)"`).FindAllSubmatch(src, -1)
	if len(consts) != len(seen) {
		t.Errorf("%d constants, %d documented codes", len(consts), len(seen))
	}
	for _, m := range consts {
		if !seen[Code(m[1])] {
			t.Errorf("%s is not documented", m[1])
		}
	}
}

func TestExplain(t *testing.T) {
	d, ok := Lookup(CodeRaceShared)
	if !ok {
		t.Fatal("no race-shared")
	}
	var b bytes.Buffer
	if err := Explain(&b, d); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"race-shared: ", "What to do",
		"$ heddle run --grid 1 --block 64 neighbour.cu", "    s[t] = t;", "The same after the repair",
		"    __syncthreads();"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
	b.Reset()
	if err := List(&b, 0); err != nil {
		t.Fatal(err)
	}
	for _, d := range Docs() {
		if !strings.Contains(b.String(), "  "+string(d.Code)+" ") {
			t.Errorf("%s is not listed", d.Code)
		}
	}
	if _, ok := Lookup("no-such-code"); ok {
		t.Error("a code that does not exist is documented")
	}
	if got := Similar("Race"); len(got) != 10 {
		t.Errorf("similar to Race: %v", got)
	}
}
