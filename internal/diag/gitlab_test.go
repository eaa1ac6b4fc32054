package diag

import (
	"bytes"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"
	"testing"

	"heddle/internal/source"
)

// gitlabReport prints findings and verdicts and reads the report.
func gitlabReport(t *testing.T, set *source.Set, findings []*Diagnostic, verdicts ...*Verdict) (
	issues []gitlabIssue) {
	t.Helper()
	var b bytes.Buffer
	g := NewGitLab(&b, set, "/base")
	for _, d := range findings {
		if err := g.Finding(d); err != nil {
			t.Fatal(err)
		}
	}
	for _, v := range verdicts {
		if err := g.Verdict(v); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.Close(); err != nil {
		t.Fatal(err)
	}
	checkCodeQuality(t, b.String())
	if err := json.Unmarshal(b.Bytes(), &issues); err != nil {
		t.Fatal(err)
	}
	return issues
}

// checkCodeQuality holds a report to GitLab's documentation, "Code Quality report format": the file
// is one JSON array and has no byte order mark. Each object has description and check_name, a
// unique fingerprint, a severity of info, minor, major, critical or blocker, location.path,
// relative to the repository and without a leading ./, and location.lines.begin, a line.
func checkCodeQuality(t *testing.T, text string) {
	t.Helper()
	var issues []map[string]any
	if err := json.Unmarshal([]byte(text), &issues); err != nil || !strings.HasPrefix(text, "[") {
		t.Fatalf("not an array of objects: %v\n%s", err, text)
	}
	seen := make(map[any]bool)
	for _, issue := range issues {
		word := func(key string) string { s, _ := issue[key].(string); return s }
		location, _ := issue["location"].(map[string]any)
		lines, _ := location["lines"].(map[string]any)
		begin, _ := lines["begin"].(float64)
		name, _ := location["path"].(string)
		if word("description") == "" || word("check_name") == "" || word("fingerprint") == "" {
			t.Errorf("a field is missing: %v", issue)
		}
		if seen[issue["fingerprint"]] {
			t.Errorf("two issues have the fingerprint %v", issue["fingerprint"])
		}
		seen[issue["fingerprint"]] = true
		severities := []string{"info", "minor", "major", "critical", "blocker"}
		if !slices.Contains(severities, word("severity")) {
			t.Errorf("severity %q", word("severity"))
		}
		if begin < 1 || begin != float64(int(begin)) {
			t.Errorf("line %v", lines["begin"])
		}
		if name == "" || strings.HasPrefix(name, "./") || path.IsAbs(name) {
			t.Errorf("path %q", name)
		}
	}
}

func TestGitLab(t *testing.T) {
	set, d := tile(t)
	warning, hidden, again := *d, *d, *d
	warning.Severity, warning.Code = Warning, CodeRaceUnorderedStrong
	hidden.Suppressed = &Suppression{Reason: "known"}
	issues := gitlabReport(t, set, []*Diagnostic{d, &warning, &hidden, &again,
		{Code: CodeLaunch, Severity: Note, Message: "guessed", Input: "/base/src/a.cu"},
		{Code: CodeInput, Severity: Error, Message: "file not found", Input: "src/b.cu"},
		{Code: CodeInput, Severity: Error, Message: "no file at all"},
	}, &Verdict{Kind: Bug, Kernel: "k"}, &Verdict{Kind: Clean, Kernel: "c", Input: "c.cu"},
		&Verdict{Kind: Verified, Kernel: "v", Input: "v.cu"},
		&Verdict{Kind: Unknown, Kernel: "u", Reason: "why", Input: "u.cu"},
		&Verdict{Kind: Unsupported, Kernel: "s", Reason: "call", Span: d.Span, Input: "tile.cu"})
	print := Fingerprint(set, d)
	text := d.Message + "; kernel k(int*)"
	// d is in line 1 of tile.cu. What passed, and what is suppressed, is no issue.
	want := []gitlabIssue{
		{text, "race-shared", print, "critical", gitlabLocation{"tile.cu", gitlabLines{1}}},
		{text, "race-unordered-strong", Fingerprint(set, &warning), "minor",
			gitlabLocation{"tile.cu", gitlabLines{1}}},
		{text, "race-shared", print + ":2", "critical", gitlabLocation{"tile.cu", gitlabLines{1}}},
		{"guessed", "launch", "", "info", gitlabLocation{"src/a.cu", gitlabLines{1}}},
		{"file not found", "input", "", "major", gitlabLocation{"src/b.cu", gitlabLines{1}}},
		{"no file at all", "input", "", "major", gitlabLocation{"(no file)", gitlabLines{1}}},
		{"unknown: kernel u: why", "unknown", "", "minor", gitlabLocation{"u.cu", gitlabLines{1}}},
		{"unsupported: kernel s: call", "unsupported", "", "minor",
			gitlabLocation{"tile.cu", gitlabLines{1}}},
	}
	if len(issues) != len(want) {
		t.Fatalf("%d issues, want %d: %+v", len(issues), len(want), issues)
	}
	for i, w := range want {
		if w.Fingerprint == "" {
			w.Fingerprint = issues[i].Fingerprint // checkCodeQuality compares them
		}
		if issues[i] != w {
			t.Errorf("got  %+v\nwant %+v", issues[i], w)
		}
	}
}

// A run without issues writes an empty array: GitLab then shows that all earlier ones are resolved.
func TestGitLabEmpty(t *testing.T) {
	got := gitlabReport(t, source.NewSet(), nil, &Verdict{Kind: Clean})
	if got == nil || len(got) > 0 {
		t.Errorf("%+v, want []", got)
	}
}

// An issue keeps its fingerprint when its lines move, and gets another line.
func TestGitLabMoved(t *testing.T) {
	report := func(text string) gitlabIssue {
		set, d := twoLines(t, text)
		return gitlabReport(t, set, []*Diagnostic{d})[0]
	}
	was := report("one = 1;\ntwo = 2;\n")
	is := report("// new\n\none = 1;\ntwo = 2;\n")
	if was.Fingerprint != is.Fingerprint || was.Location.Lines.Begin != 2 ||
		is.Location.Lines.Begin != 4 {
		t.Errorf("before %+v, after %+v", was, is)
	}
}

// No text of a file, a name or a message makes the report invalid.
func TestGitLabHostileText(t *testing.T) {
	for _, s := range hostile {
		checkCodeQuality(t, printAll(t, s, func(w io.Writer, set *source.Set) Printer {
			return NewGitLab(w, set, "/base")
		}))
	}
}
