package main

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"
)

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
