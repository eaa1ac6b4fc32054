package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/diag"
)

// Every code's example must show that very code, as heddle explain promises, and the repaired one
// must be clean. What heddle prints for both is in docs/examples/codes, which the pages of the
// codes show.
func TestCodeExamples(t *testing.T) {
	docs, err := filepath.Abs("../../docs/examples/codes")
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range diag.Docs() {
		t.Run(string(doc.Code), func(t *testing.T) {
			if filepath.Ext(doc.Example.File) == ".cu" && !hasClang() {
				t.Skip("no clang")
			}
			t.Chdir(t.TempDir()) // one directory, so that each example is compiled once
			code, out, errs := runExample(t, doc.Repaired())
			codes, _ := results(t, []byte(out))
			if code != exitClean || slices.Contains(codes, string(doc.Code)) {
				t.Errorf("repaired: exit code %d, findings %v\n%s%s", code, codes, out, errs)
			}
			code, out, errs = runExample(t, doc.Example)
			codes, verdicts := results(t, []byte(out))
			switch doc.Family {
			case diag.Bugs:
				want := exitBugs
				switch doc.Code {
				case diag.CodeBarrierSplit, diag.CodeProxyFenceLate, diag.CodeEarlyAccess,
					diag.CodeTensorFence: // warnings
					want = exitClean
				}
				if code != want || !slices.Contains(codes, string(doc.Code)) {
					t.Errorf("exit code %d, findings %v\n%s%s", code, codes, out, errs)
				}
			case diag.Limits:
				want := "unsupported"
				if doc.Code == diag.CodeStepLimit || doc.Code == diag.CodeAssumptions {
					want = "unknown"
				}
				if code != exitUnknown || !slices.Contains(verdicts, want) {
					t.Errorf("exit code %d, verdicts %v\n%s%s", code, verdicts, out, errs)
				}
			case diag.Inputs:
				want := exitUsage
				if doc.Code == diag.CodeHostCode || doc.Code == diag.CodeSuppressionUnused { // a warning
					want = exitClean
				}
				if code != want || !slices.Contains(codes, string(doc.Code)) {
					t.Errorf("exit code %d, findings %v\n%s%s", code, codes, out, errs)
				}
			}
			if testing.Short() || !hasClang() {
				return
			}
			var text strings.Builder
			for _, e := range []diag.Example{doc.Example, doc.Repaired()} {
				text.WriteString(transcript(t, e))
			}
			current(t, filepath.Join(docs, string(doc.Code)+".txt"), text.String())
		})
	}
}

// writeExample empties the current directory but for the file of an example.
func writeExample(t *testing.T, e diag.Example) {
	t.Helper()
	files, err := filepath.Glob("*")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if err := os.RemoveAll(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(e.File, []byte(e.Text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// runExample runs an example in the current directory. It returns the exit code and what is
// printed.
func runExample(t *testing.T, e diag.Example) (code int, stdout, stderr string) {
	t.Helper()
	writeExample(t, e)
	var out, errs bytes.Buffer
	args := slices.Concat([]string{cmp.Or(e.Command, "run"), "--format", "json"}, e.Flags,
		[]string{e.File})
	code = run(args, strings.NewReader(""), &out, &errs)
	if e.Command == "exec" { // standard output belongs to the program
		if strings.Contains(errs.String(), "found no C++ library") {
			t.Skip("no C++ library")
		}
		return code, errs.String(), out.String()
	}
	return code, out.String(), errs.String()
}

// transcript runs an example as heddle explain shows it, and returns the command with both streams.
func transcript(t *testing.T, e diag.Example) string {
	t.Helper()
	writeExample(t, e)
	line := e.CommandLine()
	var out bytes.Buffer
	run(strings.Fields(line)[1:], strings.NewReader(""), &out, &out)
	if strings.Contains(out.String(), "found no C++ library") {
		t.Skip("no C++ library")
	}
	return "$ " + line + "\n" + strings.TrimRight(out.String(), "\n") + "\n"
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
