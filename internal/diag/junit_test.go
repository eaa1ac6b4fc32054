package diag

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"heddle/internal/source"
)

// document is JUnit XML as a reader parses it.
type document struct {
	Tests    int     `xml:"tests,attr"`
	Failures int     `xml:"failures,attr"`
	Errors   int     `xml:"errors,attr"`
	Suites   []suite `xml:"testsuite"`
}

type suite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Cases    []struct {
		Name    string `xml:"name,attr"`
		Failure *struct {
			Message string `xml:"message,attr"`
			Text    string `xml:",chardata"`
		} `xml:"failure"`
		Error *struct {
			Type string `xml:"type,attr"`
		} `xml:"error"`
		Skipped *struct {
			Message string `xml:"message,attr"`
		} `xml:"skipped"`
		Out string `xml:"system-out"`
	} `xml:"testcase"`
}

func junitOf(t rapid.TB, set *source.Set, ds []*Diagnostic, vs []*Verdict) (doc document) {
	t.Helper()
	var b bytes.Buffer
	j := NewJUnit(&b, set, "/base")
	for _, d := range ds {
		if err := j.Finding(d); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range vs {
		if err := j.Verdict(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	if err := xml.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatalf("%v in\n%s", err, b.String())
	}
	return doc
}

func TestJUnit(t *testing.T) {
	set, d := tile(t)
	d.Input = "tile.cu"
	hidden := *d
	hidden.Suppressed = &Suppression{Reason: "why"}
	doc := junitOf(t, set, []*Diagnostic{
		d, d, &hidden,
		{Code: CodeHostCode, Severity: Warning, Message: "left out", Input: "tile.cu"},
		{Code: CodeCompile, Severity: Error, Message: "no", Input: "broken.cu"},
	}, []*Verdict{
		{Kind: Bug, Kernel: "k(int*)", Input: "tile.cu", Suppressed: 1},
		{Kind: Clean, Kernel: "ok", Scope: "s", Input: "/base/tile.cu"},
		{Kind: Unsupported, Kernel: "u", Reason: "wgmma", Input: "tile.cu"},
	})
	if doc.Tests != 5 || doc.Failures != 1 || doc.Errors != 1 || doc.Suites[0].Skipped != 1 {
		t.Errorf("%d tests, %d failures, %d errors, %d skipped", doc.Tests, doc.Failures, doc.Errors,
			doc.Suites[0].Skipped)
	}
	var got []string
	for _, s := range doc.Suites {
		for _, c := range s.Cases {
			line := s.Name + " " + c.Name
			switch {
			case c.Failure != nil:
				line += " failed: " + c.Failure.Message
				if n := strings.Count(c.Failure.Text, "error[race-shared]"); n != 2 {
					t.Errorf("%d findings in the failure", n)
				}
			case c.Error != nil:
				line += " error: " + c.Error.Type
			case c.Skipped != nil:
				line += " skipped: " + c.Skipped.Message
			}
			got = append(got, line)
		}
	}
	want := []string{
		"tile.cu k(int*) failed: race-shared (2 times)",
		"tile.cu (input)",
		"tile.cu ok",
		"tile.cu u skipped: unsupported: kernel u: wgmma",
		"broken.cu (input) error: compile-error",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if out := doc.Suites[0].Cases[0].Out; !strings.Contains(out, "1 finding is suppressed") {
		t.Errorf("output %q", out)
	}
}

// junitAttributes lists the elements of JUnit XML with the attributes that readers require (+) and
// those that they know. It follows junit-10.xsd of Jenkins' xUnit plugin, the strictest schema in
// use.
var junitAttributes = map[string]string{
	"testsuites": "name tests failures errors time",
	"testsuite": "+name +tests +failures +errors skipped group time timestamp hostname id package " +
		"file log url",
	"testcase":   "+name classname group time",
	"failure":    "type message",
	"error":      "type message",
	"skipped":    "type message",
	"system-out": "",
}

// Readers know every element and attribute in the output, and junitparser, one of those readers,
// counts the same results.
func TestJUnitReaders(t *testing.T) {
	set, d := tile(t)
	d.Input = "tile.cu"
	var b bytes.Buffer
	j := NewJUnit(&b, set, "/base")
	warning := *d
	warning.Severity, warning.Kernel = Warning, "ok"
	for _, f := range []*Diagnostic{d, &warning,
		{Code: CodeCompile, Severity: Error, Message: "no", Input: "b.cu"}} {
		if err := j.Finding(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range []Verdict{{Kind: Bug, Kernel: "k(int*)", Input: "tile.cu"},
		{Kind: Clean, Kernel: "ok", Scope: "s", Input: "tile.cu"},
		{Kind: Unknown, Kernel: "u", Reason: "so", Input: "tile.cu"}} {
		if err := j.Verdict(&v); err != nil {
			t.Fatal(err)
		}
	}
	if err := j.Close(); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	checkAttributes(t, text)
	checkJunitparser(t, text)
}

// checkAttributes reports elements and attributes that readers do not know, and missing ones that
// they require.
func checkAttributes(t *testing.T, text string) {
	t.Helper()
	for dec := xml.NewDecoder(strings.NewReader(text)); ; {
		token, err := dec.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		e, ok := token.(xml.StartElement)
		if !ok {
			continue
		}
		known, ok := junitAttributes[e.Name.Local]
		if !ok {
			t.Errorf("no reader knows <%s>", e.Name.Local)
		}
		words := strings.Fields(known)
		for _, a := range e.Attr {
			if !slices.Contains(words, a.Name.Local) && !slices.Contains(words, "+"+a.Name.Local) {
				t.Errorf("no reader knows <%s %s>", e.Name.Local, a.Name.Local)
			}
		}
		for _, w := range words {
			name, needed := strings.CutPrefix(w, "+")
			if needed && !slices.ContainsFunc(e.Attr,
				func(a xml.Attr) bool { return a.Name.Local == name }) {
				t.Errorf("<%s> lacks %s", e.Name.Local, name)
			}
		}
	}
}

// checkJunitparser compares the counts that junitparser writes with those of the document.
func checkJunitparser(t *testing.T, text string) {
	t.Helper()
	reader, err := exec.LookPath("junitparser")
	if err != nil {
		t.Skip("no junitparser")
	}
	dir := t.TempDir()
	in, out := filepath.Join(dir, "in.xml"), filepath.Join(dir, "out.xml")
	if err := os.WriteFile(in, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	if say, err := exec.Command(reader, "merge", in, out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, say)
	}
	merged, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	var ours, theirs document
	if err := errors.Join(xml.Unmarshal([]byte(text), &ours),
		xml.Unmarshal(merged, &theirs)); err != nil {
		t.Fatal(err)
	}
	for _, want := range ours.Suites { // junitparser may reorder them
		i := slices.IndexFunc(theirs.Suites, func(s suite) bool { return s.Name == want.Name })
		if i < 0 {
			t.Fatalf("junitparser misses the suite %s", want.Name)
		}
		if got := theirs.Suites[i]; got.Tests != want.Tests || got.Skipped != want.Skipped ||
			got.Failures != want.Failures || got.Errors != want.Errors {
			t.Errorf("junitparser counts %+v, not %+v", got, want)
		}
	}
	if err := exec.Command(reader, "verify", in).Run(); err == nil {
		t.Error("junitparser reports a failure as a pass")
	}
}

// The document is well-formed for any names and messages, and a name without control characters is
// read back unchanged.
func TestJUnitNames(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.OneOf(rapid.String(),
			rapid.SampledFrom([]string{"k<a&b>(\"x\")", "]]>", "\x00\x1b\xff", "\uFFFE"})).Draw(t, "name")
		doc := junitOf(t, source.NewSet(),
			[]*Diagnostic{{Code: CodeTrap, Severity: Error, Message: name, Kernel: name, Input: "f"}},
			[]*Verdict{{Kind: Bug, Kernel: name, Input: "f", Reason: name}})
		cases := doc.Suites[0].Cases
		if name == "" {
			return
		}
		if len(cases) != 1 || cases[0].Failure == nil {
			t.Fatalf("%d cases for one kernel", len(cases))
		}
	})
	doc := junitOf(t, source.NewSet(), nil,
		[]*Verdict{{Kind: Clean, Kernel: "f<a&b>(\"']]>", Input: "f"}})
	if got := doc.Suites[0].Cases[0].Name; got != "f<a&b>(\"']]>" {
		t.Errorf("the name is read back as %q", got)
	}
}
