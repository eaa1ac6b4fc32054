package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"heddle/internal/diag"
)

// TestSiteFor: the documents are where the linker says, or else on the pages of the repository that
// the path of the module names, or else nowhere.
func TestSiteFor(t *testing.T) {
	for _, c := range []struct {
		site, module string
		want         diag.Site
	}{
		{"", "heddle", ""}, {"", "", ""},
		{"", "github.com/alice/heddle", "https://alice.github.io/heddle/"},
		{"https://docs.example.org/h", "heddle", "https://docs.example.org/h/"},
		{"https://docs.example.org/", "github.com/alice/heddle", "https://docs.example.org/"},
		{"none", "github.com/alice/heddle", ""},
	} {
		if got := siteFor(c.site, c.module); got != c.want {
			t.Errorf("%q, %q: %q, want %q", c.site, c.module, got, c.want)
		}
	}
}

// What users get for kernels of all kinds is valid: by the schema of OASIS, and as XML.
func TestFormatsAreValid(t *testing.T) {
	if !hasClang() {
		t.Skip("no clang")
	}
	files := []string{"../../examples/reduce_racy.cu", "../../examples/grid_barrier_racy.cu", "../../examples/matmul.cu", "../../testdata/suite/named", "../../testdata/suite/divergence"}
	output := func(format string) []byte {
		var out, errs bytes.Buffer
		args := append([]string{"check", "--max-steps", "200000", "--format", format}, files...)
		if code := run(args, strings.NewReader(""), &out, &errs); code != exitBugs {
			t.Fatalf("exit code %d: %s", code, errs.String())
		}
		return out.Bytes()
	}
	text := output("sarif")
	report, err := sarif.FromBytes(text)
	if err != nil {
		t.Fatal(err)
	}
	if err := report.Validate(); err != nil {
		t.Error(err)
	}
	if n := len(report.Runs[0].Results); n < 5 {
		t.Errorf("%d results", n)
	}
	for _, r := range report.Runs[0].Results { // as code scanning demands
		if len(r.Locations) != 1 || r.Locations[0].PhysicalLocation == nil {
			t.Errorf("no place of %s", *r.Message.Text)
		}
	}
	if again := output("sarif"); !bytes.Equal(again, text) {
		t.Error("another log for the same kernels")
	}
	dec := xml.NewDecoder(bytes.NewReader(output("junit")))
	for {
		if _, err := dec.Token(); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
	}
}
