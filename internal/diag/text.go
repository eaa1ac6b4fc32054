package diag

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"heddle/internal/edit"
	"heddle/internal/source"
)

// Printer renders findings and verdicts. Close is called once, after the last of them. Errors are
// those of writing.
type Printer interface {
	Finding(*Diagnostic) error
	Verdict(*Verdict) error
	Close() error
}

// Text renders for people, in the form of compiler messages:
//
//	tile.cu:41:9: error[race-shared]: read-write data race on ...
//	   41 |     out[t] = s[63 - t];
//	      |              ^ (2) just happened here
//	tile.cu:29:7: note: and (1) occurred earlier here
//	...
//	  help: ...
//	  reproduce: heddle run --seed 17 ...
type Text struct {
	w     *bufio.Writer
	files *source.Set
	color bool
	// Verbose prints verdicts complete, with the details of their scopes.
	Verbose bool
}

// NewText returns a renderer that resolves positions in files. With color it writes ANSI escapes.
func NewText(w io.Writer, files *source.Set, color bool) *Text {
	return &Text{w: bufio.NewWriter(w), files: files, color: color}
}

// style is an ANSI "select graphic rendition" sequence.
type style string

const (
	bold    style = "1"
	red     style = "1;31"
	green   style = "1;32"
	magenta style = "1;35"
	cyan    style = "1;36"
)

// paint wraps text in the escape sequences of a style if the renderer uses color.
func (t *Text) paint(s style, text string) string {
	if !t.color || text == "" {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

var severities = [...]struct {
	name  string
	style style
}{Note: {"note", cyan}, Warning: {"warning", magenta}, Error: {"error", red}}

// Finding prints one finding and an empty line. Suppressed findings are not printed; the verdict
// counts them.
func (t *Text) Finding(d *Diagnostic) error {
	if d.Suppressed != nil {
		return nil
	}
	sev := severities[min(d.Severity, Error)]
	name := sev.name
	if d.Code != "" {
		name += "[" + string(d.Code) + "]"
	}
	t.title(d.Span, sev.style, name, d.Message)
	t.excerpt(d.Span, d.Label, sev.style)
	t.stack(d.Stack)
	for _, r := range d.Related {
		t.title(r.Span, cyan, "note", r.Message)
		t.excerpt(r.Span, "", cyan)
		t.stack(r.Stack)
	}
	if d.Kernel != "" {
		t.item("kernel", d.Kernel)
	}
	for _, n := range d.Notes {
		if d.Code == CodeCompile { // compiler output: its carets must stay aligned
			fmt.Fprintf(t.w, "  %s\n", printable(n))
		} else {
			t.item("note", n)
		}
	}
	for _, h := range d.Help {
		t.item("help", h)
	}
	for _, f := range d.Fixes {
		t.fix(f)
	}
	if d.Reproduce != "" {
		t.item("reproduce", d.Reproduce)
	}
	fmt.Fprintln(t.w)
	return t.w.Flush()
}

var verdictNames = [...]struct {
	name  string
	style style
}{
	Clean: {"clean", green}, Verified: {"verified", green}, Bug: {"bug", red},
	Unknown: {"unknown", magenta}, Unsupported: {"unsupported", magenta},
}

// Verdict prints the verdict on one kernel, with the unsupported construct if there is one.
func (t *Text) Verdict(v *Verdict) error {
	name := verdictNames[min(int(v.Kind), len(verdictNames)-1)]
	text := v.Line(LineWidth - len(name.name) - len(": "))
	if t.Verbose {
		text = v.complete(nameIn(v.Kernel, v.Input))
	}
	if v.Kind != Unsupported {
		t.title(source.Span{}, name.style, name.name, text)
		return t.w.Flush()
	}
	t.title(v.Span, name.style, name.name, text)
	t.excerpt(v.Span, "", name.style)
	return t.w.Flush()
}

// Close does nothing, since every call prints immediately.
func (t *Text) Close() error { return nil }

// title prints "place: name: message".
func (t *Text) title(s source.Span, st style, name, msg string) {
	if s.IsValid() {
		fmt.Fprint(t.w, t.paint(bold, printable(t.files.Format(s.Start))+":"), " ")
	}
	fmt.Fprintf(t.w, "%s %s\n", t.paint(st, name+":"), t.paint(bold, printable(msg)))
}

// item prints "  key: text" and aligns further lines of the text with the first.
func (t *Text) item(key, text string) {
	lines := strings.Split(text, "\n")
	fmt.Fprintf(t.w, "  %s %s\n", t.paint(bold, key+":"), printable(lines[0]))
	for _, l := range lines[1:] {
		fmt.Fprintf(t.w, "%*s%s\n", len(key)+4, "", printable(l))
	}
}

// stack prints the callers of a place. frames[0] is the place itself and was printed before. A
// frame with a parent was inlined into it.
func (t *Text) stack(frames []source.Frame) {
	for i := 1; i < len(frames); i++ {
		f := frames[i]
		if !f.Pos.IsValid() {
			continue
		}
		how := "called from"
		if frames[i-1].Parent != nil {
			how = "inlined from"
		}
		name := f.Func
		if name != "" {
			name += " "
		}
		fmt.Fprintf(t.w, "    %s %sat %s\n", how, printable(name), printable(t.files.Format(f.Pos)))
	}
}

// fix prints a suggested change, with a patch if the text of the file is known.
func (t *Text) fix(f Fix) {
	t.item("help", f.Message)
	for _, patch := range patches(t.files, f.Edits) {
		for l := range strings.Lines(patch) {
			fmt.Fprintf(t.w, "    %s\n", printable(strings.TrimRight(l, "\r\n")))
		}
	}
}

// patches returns a unified diff for each edited file, in the order of the edits. A file whose text
// is unknown, or whose edits overlap, has no patch.
func patches(files *source.Set, edits []Edit) []string {
	byFile := make(map[source.FileID][]Edit)
	var order []source.FileID
	for _, e := range edits {
		id := e.Span.Start.File()
		if byFile[id] == nil {
			order = append(order, id)
		}
		byFile[id] = append(byFile[id], e)
	}
	var out []string
	for _, id := range order {
		f := files.File(id)
		if f == nil {
			continue
		}
		if patch, err := edit.Diff(f, byFile[id]); err == nil && patch != "" {
			out = append(out, patch)
		}
	}
	return out
}
