package diag

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
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

// FindingFunc is a Printer that passes findings on and ignores verdicts.
type FindingFunc func(*Diagnostic)

// Finding implements Printer.
func (f FindingFunc) Finding(d *Diagnostic) error { f(d); return nil }

// Verdict implements Printer.
func (FindingFunc) Verdict(*Verdict) error { return nil }

// Close implements Printer.
func (FindingFunc) Close() error { return nil }

// Text renders for people, in the form of compiler messages:
//
//	tile.cu:41:9: error[race-shared]: data race on shared s[63]: ...
//	   29 |     s[t] = in[t];
//	      |          ^ (1) written here by thread 63, earlier in this run
//	   41 |     out[t] = s[63 - t];
//	      |              ^~~~~~~~~ (2) read here by thread 0
//	...
//	  help: ...
//	  reproduce: heddle run --seed 17 ...
type Text struct {
	w     *bufio.Writer
	files *source.Set
	color bool
	// Verbose prints verdicts complete, with the details of their scopes, and opcodes.
	Verbose bool
	// Next prints after a verdict of bug what to do: heddle fix, with Flags, and heddle explain.
	Next   bool
	Flags  string          // those of the command line that heddle fix needs too, quoted for a shell
	bugs   []Code          // of the findings since the last verdict
	told   map[string]bool // what next has printed
	alike  []*Diagnostic   // findings with Alike that are not printed yet
	helped []string        // the help of the finding before them
	// what the last finding said of its run, which the next one does not repeat
	kernel, launch, reproduce string
}

// NewText returns a renderer that resolves positions in files. With color it writes ANSI escapes.
func NewText(w io.Writer, files *source.Set, color bool) *Text {
	return &Text{w: bufio.NewWriter(w), files: files, color: color, told: make(map[string]bool)}
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
	if doc, ok := Lookup(d.Code); ok && doc.Family == Bugs && !slices.Contains(t.bugs, d.Code) {
		t.bugs = append(t.bugs, d.Code)
	}
	sev := severities[min(d.Severity, Error)]
	name := sev.name
	if d.Code != "" {
		name += "[" + string(d.Code) + "]"
	}
	if d.Alike != "" && !t.Verbose {
		if len(t.alike) > 0 && t.alike[0].Severity != d.Severity {
			t.others()
		}
		t.alike = append(t.alike, d)
		return nil
	}
	t.others()
	if d.Code == CodeCompile { // the compiler's output has the places
		t.title(source.Span{}, sev.style, name, d.Message)
	} else {
		t.title(d.Span, sev.style, name, d.Message)
		t.places(d, sev.style)
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
	if t.Verbose {
		if d.Alike != "" {
			t.item("note", d.Alike)
		}
		for _, n := range d.Details {
			t.item("note", n)
		}
	}
	t.helped = d.Help
	for _, h := range d.Help {
		t.item("help", h)
	}
	for _, f := range d.Fixes {
		t.fix(f)
	}
	t.run(d)
	fmt.Fprintln(t.w)
	return t.w.Flush()
}

// mostPlaces bounds the places of a finding that are printed as one excerpt.
const mostPlaces = 5

// places prints the source at the places of a finding: as one excerpt, if they are few in one file.
// Two accesses are (1) before (2); more places are in the order of lines.
func (t *Text) places(d *Diagnostic, st style) {
	if t.together(d) {
		list := append(slices.Clone(d.Related), Related{Span: d.Span, Message: d.Label})
		if len(list) > 2 {
			slices.SortStableFunc(list, func(a, b Related) int {
				return cmp.Or(a.Span.Start.Line()-b.Span.Start.Line(), a.Span.Start.Col()-b.Span.Start.Col())
			})
		}
		for i, r := range list {
			if i == 0 || list[i-1].Span.Start.Line() != r.Span.Start.Line() ||
				t.shown(list[i-1].Span) != t.shown(r.Span) {
				t.source(r.Span)
			}
			style := cyan
			if r.Span == d.Span && r.Message == d.Label {
				style = st
			}
			t.mark(r.Span, r.Message, style)
		}
		return
	}
	t.excerpt(d.Span, d.Label, st)
	t.stack(d.Stack)
	for _, r := range d.Related {
		t.title(r.Span, cyan, "note", r.Message)
		t.excerpt(r.Span, "", cyan)
		t.stack(r.Stack)
	}
}

// together reports whether the places of a finding are printed as one excerpt.
func (t *Text) together(d *Diagnostic) bool {
	if n := len(d.Related); n == 0 || n >= mostPlaces || len(d.Stack) > 1 || d.Label == "" ||
		t.files.File(d.Span.Start.File()) == nil {
		return false
	}
	return !slices.ContainsFunc(d.Related, func(r Related) bool {
		return len(r.Stack) > 1 || !r.Span.IsValid() || r.Span.Start.File() != d.Span.Start.File()
	})
}

// mostAlike bounds the findings that others lists.
const mostAlike = 4

// others prints the findings that may have the cause of the last one that was printed, in few
// lines.
func (t *Text) others() {
	n := len(t.alike)
	if n == 0 {
		return
	}
	sev := severities[min(t.alike[0].Severity, Error)]
	t.title(t.alike[0].Span, sev.style, sev.name+"["+string(t.alike[0].Code)+"]",
		count(n, "more pair", "more pairs")+" of accesses that "+t.alike[0].causeOf()+" (-v: all notes)")
	shown, said := 0, map[string]bool{} // the parts of a vector are at one place
	for _, d := range t.alike {
		text := d.pair(t.files)
		if said[text] || len(said) < mostAlike {
			shown++
		}
		if !said[text] && len(said) < mostAlike {
			said[text] = true
			t.item("also", text)
		}
	}
	if n > shown {
		t.item("also", fmt.Sprintf("%d more", n-shown))
	}
	told := slices.Clone(t.helped)
	for _, d := range t.alike {
		for _, h := range d.Help {
			if !slices.Contains(told, h) && len(told) < len(t.helped)+mostAlike {
				told = append(told, h)
				t.item("help", h)
			}
		}
	}
	t.alike = nil
	fmt.Fprintln(t.w)
}

// causeOf says what a finding has in common with an earlier one, of several: a barrier that orders
// both, or only that nothing orders them.
func (d *Diagnostic) causeOf() string {
	if d.Separate {
		return "nothing orders either"
	}
	return "may have the same cause"
}

// pair describes the two accesses of a race in one line: "line 11 writes `s[y][x]`, line 9 reads
// `s[y][x + 1]`".
func (d *Diagnostic) pair(files *source.Set) string {
	if d.Witness == nil || len(d.Related) == 0 || d.Witness.First.Does == "" {
		return d.Message
	}
	at := func(s source.Span) string {
		if s.Start.File() == d.Span.Start.File() {
			return fmt.Sprintf("line %d", s.Start.Line())
		}
		return files.Format(s.Start)
	}
	return fmt.Sprintf("%s %s, %s %s", at(d.Related[0].Span), d.Witness.First.Does, at(d.Span),
		d.Witness.Second.Does)
}

// run prints the launch that showed a finding and the command that repeats it, unless the finding
// before it had the same.
func (t *Text) run(d *Diagnostic) {
	same := d.Kernel == t.kernel
	if d.Launch != "" && !(same && d.Launch == t.launch) {
		t.item("launch", d.Launch)
	}
	if d.Reproduce != "" && !(same && d.Reproduce == t.reproduce) {
		t.item("reproduce", d.Reproduce)
	}
	t.kernel, t.launch, t.reproduce = d.Kernel, d.Launch, d.Reproduce
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
	t.others()
	text := v.Line(LineWidth - len(name.name) - len(": "))
	if t.Verbose {
		text = v.complete(nameIn(v.from(v.Kernel), v.Input))
	}
	if v.Kind != Unsupported {
		t.title(source.Span{}, name.style, name.name, text)
		if v.Kind == Bug && t.Next {
			t.next(v.Input)
		}
		t.bugs = nil
		return t.w.Flush()
	}
	t.title(v.Span, name.style, name.name, text)
	t.excerpt(v.Span, "", name.style)
	return t.w.Flush()
}

// next prints the commands that repair and explain the findings of a kernel, each once.
func (t *Text) next(input string) {
	say := func(text string) {
		if !t.told[text] {
			t.item("next", text)
		}
		t.told[text] = true
	}
	if slices.ContainsFunc(t.bugs, func(c Code) bool { return Repairable(c, input) }) {
		command := "heddle fix "
		if t.Flags != "" {
			command += t.Flags + " "
		}
		say(command + input + " tries to find a repair and to verify it")
	}
	for _, c := range t.bugs {
		say("heddle explain " + string(c) + " explains this kind of finding")
	}
}

// Repairable reports whether heddle fix may repair findings of a code in an input.
func Repairable(c Code, input string) bool {
	race := strings.HasPrefix(string(c), "race-") && c != CodeRaceStream
	return (race || c == CodeBarrierDivergence) &&
		slices.Contains([]string{".cu", ".hip", ".cl", ".ptx"}, filepath.Ext(input))
}

// Close prints what is still to be printed.
func (t *Text) Close() error {
	t.others()
	return t.w.Flush()
}

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
