package diag

import (
	"fmt"
	"io"
	"strings"

	"heddle/internal/source"
)

// Bounds of a summary. GitHub rejects one of more than 1 MiB for a step, and nobody reads the rest.
const (
	mostRows    = 100       // of each table
	mostSummary = 512 << 10 // bytes of both tables together
	cellWidth   = 300       // characters of a cell, before they are escaped
)

// Markdown collects findings and verdicts, and Close writes them as two tables of GitHub Flavored
// Markdown, the worst first. It is the summary of a job: notes, suppressed findings and all that
// belongs to one finding are left out, and what exceeds the bounds is counted.
//
// Messages, names of kernels and of files come from the code that is checked. They are escaped so
// that they are text wherever they are shown: no markup, HTML, link or mention
// (markdown_escape.go).
type Markdown struct {
	w        io.Writer
	files    *source.Set
	paths    paths
	findings [Error + 1]rows       // by severity
	verdicts [Unsupported + 1]rows // by kind
	mistakes int                   // errors in the input, part of findings
}

// rows are the first rows of a part of a table, and the number of all.
type rows struct {
	text []string
	all  int
}

// add keeps a row if there is room.
func (r *rows) add(cells ...string) {
	if r.all++; len(r.text) < mostRows {
		r.text = append(r.text, "| "+strings.Join(cells, " | ")+" |\n")
	}
}

// NewMarkdown returns a renderer that resolves positions in files. Names of files below base become
// relative to it.
func NewMarkdown(w io.Writer, files *source.Set, base string) *Markdown {
	return &Markdown{w: w, files: files, paths: paths{base}}
}

// Finding adds a row for an error or a warning that is not suppressed.
func (m *Markdown) Finding(d *Diagnostic) error {
	if d.Suppressed != nil || d.Severity == Note {
		return nil
	}
	severity := min(d.Severity, Error)
	if severity == Error && d.Code.Family() == Inputs {
		m.mistakes++
	}
	m.findings[severity].add(severities[severity].name, markdownCode(string(d.Code)),
		m.place(d.Span, d.Input), markdownCode(d.Kernel), markdownText(d.Message))
	return nil
}

// Verdict adds a row.
func (m *Markdown) Verdict(v *Verdict) error {
	text := strings.TrimPrefix(v.text("", v.Scope, v.Reason)+v.tail(), ": ")
	text = strings.TrimPrefix(text, "; ")
	kernel := "all kernels"
	if v.Kernel != "" {
		kernel = markdownCode(v.Kernel)
	}
	m.verdicts[v.Kind].add(v.Kind.String(), kernel, m.place(source.Span{}, v.Input),
		markdownText(text))
	return nil
}

// place names the file and the line of a span, or the input.
func (m *Markdown) place(s source.Span, input string) string {
	file, r := placeOf(m.files, s, input)
	if file == "" {
		return ""
	}
	name, _ := m.paths.rel(file)
	if r.line > 0 {
		name += fmt.Sprint(":", r.line)
	}
	return markdownCode(name)
}

// Close writes the summary. It is called once.
func (m *Markdown) Close() error {
	room := mostSummary
	text := "### heddle: " + m.heading() + "\n\n" +
		joinRows(&room, "finding", "| | finding | place | kernel | message |\n|---|---|---|---|---|\n",
			&m.findings[Error], &m.findings[Warning]) +
		joinRows(&room, "verdict", "| verdict | kernel | file | |\n|---|---|---|---|\n",
			&m.verdicts[Bug], &m.verdicts[Unknown], &m.verdicts[Unsupported], &m.verdicts[Clean],
			&m.verdicts[Verified])
	_, err := io.WriteString(m.w, text)
	return err
}

// heading counts verdicts and findings: "1 bug, 3 verified; 2 errors, 1 warning".
func (m *Markdown) heading() string {
	var kinds, found []string
	for _, k := range []VerdictKind{Bug, Unknown, Unsupported, Clean, Verified} {
		if n := m.verdicts[k].all; n > 0 {
			kinds = append(kinds, fmt.Sprintf("%d %v", n, k))
		}
	}
	if n := m.findings[Error].all - m.mistakes; n > 0 {
		found = append(found, count(n, "finding", "findings"))
	}
	if n := m.findings[Warning].all; n > 0 {
		found = append(found, count(n, "warning", "warnings"))
	}
	if n := m.mistakes; n > 0 {
		found = append(found, count(n, "error in the input", "errors in the input"))
	}
	if len(kinds) == 0 {
		kinds = []string{"nothing was checked"}
	}
	parts := []string{strings.Join(kinds, ", ")}
	if len(found) > 0 {
		parts = append(parts, strings.Join(found, ", "))
	}
	return strings.Join(parts, "; ")
}

// joinRows joins the parts of a table, as far as there is room for bytes and rows, and counts the
// rest. It returns nothing for a table without rows.
func joinRows(room *int, noun, head string, parts ...*rows) string {
	var b strings.Builder
	shown, all := 0, 0
	for _, p := range parts {
		all += p.all
		for _, row := range p.text {
			if *room < len(row) || shown == mostRows {
				break
			}
			*room -= len(row)
			shown++
			b.WriteString(row)
		}
	}
	switch {
	case all == 0:
		return ""
	case shown < all:
		return head + b.String() + "\n" + count(all-shown, "more "+noun+" is", "more "+noun+"s are") +
			" not shown.\n\n"
	}
	return head + b.String() + "\n"
}
