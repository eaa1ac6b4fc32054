package diag

import (
	"encoding/json"
	"fmt"
	"io"

	"heddle/internal/source"
)

// GitLab collects findings and undecided kernels, and Close writes them as a Code Quality report:
// one JSON array, of which GitLab shows what a merge request adds and what it resolves. GitLab's
// documentation, "Code Quality report format", defines the fields.
//
// The severities are: critical for a bug in a kernel, major for any other error (an input that
// cannot be used), minor for a warning and for a kernel that is unknown or unsupported, info for a
// note. A kernel that passed has no entry, because each entry is an issue.
type GitLab struct {
	w      io.Writer
	files  *source.Set
	paths  paths
	issues []gitlabIssue
	seen   map[string]int // occurrences of each fingerprint
}

// gitlabIssue is one object of the report. All fields are required.
type gitlabIssue struct {
	Description string         `json:"description"`
	Check       string         `json:"check_name"`
	Fingerprint string         `json:"fingerprint"`
	Severity    string         `json:"severity"`
	Location    gitlabLocation `json:"location"`
}

// gitlabLocation is a line of a file. The path is relative to the root of the repository.
type gitlabLocation struct {
	Path  string      `json:"path"`
	Lines gitlabLines `json:"lines"`
}

// gitlabLines has the first line, from 1.
type gitlabLines struct {
	Begin int `json:"begin"`
}

// NewGitLab returns a renderer that resolves positions in files. Names of files below base become
// relative to it, because GitLab matches them with the files of the repository.
func NewGitLab(w io.Writer, files *source.Set, base string) *GitLab {
	return &GitLab{w: w, files: files, paths: paths{base}, issues: []gitlabIssue{},
		seen: make(map[string]int)}
}

// Finding adds an issue. Suppressed findings are left out.
func (g *GitLab) Finding(d *Diagnostic) error {
	if d.Suppressed != nil {
		return nil
	}
	severity := "info"
	switch {
	case d.Severity == Warning:
		severity = "minor"
	case d.Severity == Error && d.Code.Family() == Bugs:
		severity = "critical"
	case d.Severity == Error:
		severity = "major"
	}
	text := d.Message
	if d.Kernel != "" {
		text += "; kernel " + d.Kernel
	}
	g.add(gitlabIssue{Description: text, Check: string(d.Code), Severity: severity,
		Fingerprint: Fingerprint(g.files, d)}, d.Span, d.Input)
	return nil
}

// Verdict adds an issue for a kernel that is unknown or unsupported.
func (g *GitLab) Verdict(v *Verdict) error {
	if v.Kind == Unknown || v.Kind == Unsupported {
		name := v.Kind.String()
		g.add(gitlabIssue{Description: name + ": " + v.Text(), Check: name, Severity: "minor",
			Fingerprint: verdictPrint(v)}, v.Span, v.Input)
	}
	return nil
}

// add adds an issue at a span, or at the first line of the input. GitLab drops all but one of the
// issues with equal fingerprints, so a later one gets a number.
func (g *GitLab) add(issue gitlabIssue, s source.Span, input string) {
	print := issue.Fingerprint
	g.seen[print]++
	if n := g.seen[print]; n > 1 {
		issue.Fingerprint = fmt.Sprintf("%s:%d", print, n)
	}
	file, r := placeOf(g.files, s, input)
	issue.Location = gitlabLocation{noFile, gitlabLines{max(r.line, 1)}}
	if file != "" {
		issue.Location.Path, _ = g.paths.rel(file)
	}
	issue.Description = printable(issue.Description)
	g.issues = append(g.issues, issue)
}

// Close writes the report, which is an empty array if there is no issue. It is called once.
func (g *GitLab) Close() error {
	enc := json.NewEncoder(g.w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(g.issues)
}
