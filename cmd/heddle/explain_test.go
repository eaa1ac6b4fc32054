package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/diag"
)

// Every code's example must show that very code, as heddle explain promises.
func TestCodeExamples(t *testing.T) {
	for _, doc := range diag.Docs() {
		t.Run(string(doc.Code), func(t *testing.T) {
			if filepath.Ext(doc.Example.File) == ".cu" && !hasClang() {
				t.Skip("no clang")
			}
			file := filepath.Join(t.TempDir(), doc.Example.File)
			if err := os.WriteFile(file, []byte(doc.Example.Text), 0o600); err != nil {
				t.Fatal(err)
			}
			var out, errs bytes.Buffer
			args := slices.Concat([]string{"run", "--format", "json"}, doc.Example.Flags, []string{file})
			code := run(args, strings.NewReader(""), &out, &errs)
			codes, verdicts := results(t, out.Bytes())
			switch doc.Family {
			case diag.Bugs:
				if code != exitBugs || !slices.Contains(codes, string(doc.Code)) {
					t.Errorf("exit code %d, findings %v\n%s%s", code, codes, out.String(), errs.String())
				}
			case diag.Limits:
				want := "unsupported"
				if doc.Code == diag.CodeStepLimit || doc.Code == diag.CodeAssumptions {
					want = "unknown"
				}
				if code != exitUnknown || !slices.Contains(verdicts, want) {
					t.Errorf("exit code %d, verdicts %v\n%s%s", code, verdicts, out.String(), errs.String())
				}
			case diag.Inputs:
				want := exitUsage
				if doc.Code == diag.CodeHostCode { // a warning
					want = exitClean
				}
				if code != want || !slices.Contains(codes, string(doc.Code)) {
					t.Errorf("exit code %d, findings %v\n%s%s", code, codes, out.String(), errs.String())
				}
			}
		})
	}
}

// results reads JSON output: the codes of the findings and the kinds of the verdicts.
func results(t *testing.T, out []byte) (codes, verdicts []string) {
	t.Helper()
	for line := range bytes.Lines(out) {
		var o struct{ Type, Code, Verdict string }
		if err := json.Unmarshal(line, &o); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
		if o.Type == "finding" {
			codes = append(codes, o.Code)
		} else {
			verdicts = append(verdicts, o.Verdict)
		}
	}
	return codes, verdicts
}
