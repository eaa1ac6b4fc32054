package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"heddle/internal/source"
)

// GitHub writes workflow commands, which GitHub Actions turns into annotations of source lines:
//
//	::error file=a.cu,line=3,endLine=3,col=5,endColumn=9,title=heddle%3A race-shared::message
//
// The syntax is described in GitHub's documentation, "Workflow commands for GitHub Actions". A
// verdict is a plain line of the log; unknown and unsupported become warnings.
type GitHub struct {
	w     *bufio.Writer
	files *source.Set
	paths paths
}

// NewGitHub returns a renderer that resolves positions in files. Names of files below base become
// relative to it, because annotations need paths relative to the repository.
func NewGitHub(w io.Writer, files *source.Set, base string) *GitHub {
	return &GitHub{w: bufio.NewWriter(w), files: files, paths: paths{base}}
}

var githubCommands = [...]string{Note: "notice", Warning: "warning", Error: "error"}

// Finding writes one command. Suppressed findings are not written.
func (g *GitHub) Finding(d *Diagnostic) error {
	if d.Suppressed != nil {
		return nil
	}
	text := fullText(d)
	for _, r := range d.Related {
		text += "\n" + r.Message
		if r.Span.IsValid() {
			text += " at " + g.files.Format(r.Span.Start)
		}
	}
	if d.Kernel != "" {
		text += "\nkernel: " + d.Kernel
	}
	g.command(githubCommands[min(d.Severity, Error)], d.Span, d.Input, "heddle: "+string(d.Code), text)
	return g.w.Flush()
}

// Verdict writes a line of the log, or a warning if the verdict is unknown or unsupported.
func (g *GitHub) Verdict(v *Verdict) error {
	name := v.Kind.String()
	if v.Kind == Unknown || v.Kind == Unsupported {
		g.command("warning", v.Span, v.Input, "heddle: "+name, v.Text())
	} else {
		fmt.Fprintf(g.w, "%s: %s\n", name, noCommand.Replace(printable(v.Text())))
	}
	return g.w.Flush()
}

// Close does nothing, since every call writes immediately.
func (g *GitHub) Close() error { return nil }

// dataEscapes and propertyEscapes are the escapes of the GitHub runner for the message and for the
// values of properties. noCommand is for other lines, in which the runner looks for commands of its
// older syntax, ##[command], at any place.
var (
	noCommand       = strings.NewReplacer("##[", "# #[")
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// command writes one workflow command at a span, or at the whole input if the span is invalid.
// Properties without a value are omitted. Control characters other than line ends, which the syntax
// cannot express, are replaced: a terminal or a log viewer would obey them.
func (g *GitHub) command(name string, s source.Span, input, title, text string) {
	var props []string
	add := func(key, value string) {
		props = append(props, key+"="+propertyEscapes.Replace(printableBut(value, "\t\r\n")))
	}
	number := func(key string, n int) {
		if n > 0 {
			add(key, fmt.Sprint(n))
		}
	}
	if file, r := placeOf(g.files, s, input); file != "" {
		rel, _ := g.paths.rel(file)
		add("file", rel)
		number("line", r.line)
		number("endLine", r.endLine)
		if r.endLine == 0 || r.endLine == r.line { // GitHub rejects columns for a range of lines
			number("col", r.col)
			number("endColumn", r.endCol)
		}
	}
	add("title", title)
	fmt.Fprintf(g.w, "::%s %s::%s\n", name, strings.Join(props, ","),
		dataEscapes.Replace(printableBut(text, "\t\r\n")))
}
