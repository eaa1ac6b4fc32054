package report

import (
	"fmt"
	"html/template"
	"strings"

	"heddle/internal/diag"
)

// svg collects a drawing. Colours come from the style of the page, by class.
type svg struct{ strings.Builder }

func (s *svg) addf(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

// text writes escaped text.
func (s *svg) text(class string, x, y int, anchor, text string) {
	s.addf(`<text class="%s" x="%d" y="%d" text-anchor="%s">%s</text>`, class, x, y, anchor, template.HTMLEscapeString(text))
}

func (s *svg) done(width, height int, label string) template.HTML {
	return template.HTML(fmt.Sprintf(`<svg viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`, width, height, template.HTMLEscapeString(label), s.String()))
}

// Measures of a timeline, in units of the drawing.
const (
	wide       = 760
	left       = 168 // of the first column, behind the names of the threads
	rowHeight  = 64
	top        = 42
	beforeLine = 300 // where the barrier that both have passed stands
)

// timeline draws the two threads of a race as rows and their barrier intervals as columns: the interval of the two
// operations, what is before it, and between the operations the order that is missing.
func timeline(w *diag.Witness, places []place) template.HTML {
	var s svg
	height := top + 2*rowHeight + 26
	sameBlock := w.Level != "inter-block"
	start := "kernel entry"
	if sameBlock && w.Interval > 0 {
		start = fmt.Sprintf("barrier %d", w.Interval)
	}
	column := "the whole kernel: no barrier orders blocks"
	if sameBlock {
		column = fmt.Sprintf("barrier interval %d", w.Interval)
	}
	x := left
	if sameBlock && w.Interval > 0 {
		s.text("head", (left+beforeLine)/2, 20, "middle", "earlier intervals")
		x = beforeLine
	}
	s.addf(`<rect class="interval" x="%d" y="30" width="%d" height="%d" rx="4"/>`, x, wide-x-8, height-44)
	s.text("head", (x+wide)/2, 20, "middle", column)
	s.addf(`<line class="barrier" x1="%d" y1="30" x2="%d" y2="%d"/>`, x, x, height-14)
	s.text("note", x, height-1, "middle", start)
	at := [2][2]int{}
	for i, op := range []diag.WitnessAccess{w.First, w.Second} {
		y := top + i*rowHeight + rowHeight/2 - 6
		thread, block, found := strings.Cut(op.Thread, " of ")
		s.text("thread", 4, y-2, "start", thread)
		if found {
			s.text("note", 4, y+14, "start", block)
		}
		s.addf(`<line class="life" x1="%d" y1="%d" x2="%d" y2="%d"/>`, left, y, wide-8, y)
		cx := x + 60 + i*190
		at[i] = [2]int{cx, y}
		s.addf(`<circle class="op %s" cx="%d" cy="%d" r="13"/>`, opClass(op.Kind), cx, y)
		s.text("number", cx, y+5, "middle", fmt.Sprint(i+1))
		s.text("op", cx+20, y-8, "start", op.Op)
		s.text("note", cx+20, y+16, "start", short(places[i].At))
	}
	s.addf(`<line class="missing" x1="%d" y1="%d" x2="%d" y2="%d"/>`, at[0][0]+6, at[0][1]+14, at[1][0]-8, at[1][1]-12)
	s.text("missing", (at[0][0]+at[1][0])/2+14, (at[0][1]+at[1][1])/2+4, "start", "nothing orders these two")
	return s.done(wide, height, fmt.Sprintf("%s: %s by %s and %s by %s, with nothing between them that orders them", column, w.First.Op, w.First.Thread, w.Second.Op, w.Second.Thread))
}

// opClass is how an operation is drawn.
func opClass(kind string) string {
	if kind == "read" {
		return "read"
	}
	return "write"
}

// short is a place without its directories.
func short(at string) string {
	if i := strings.LastIndexByte(at, '/'); i >= 0 {
		return at[i+1:]
	}
	return at
}

// memory draws the words around the bytes that two operations share.
func memory(w *diag.Witness) template.HTML {
	if w.Size == 0 {
		return ""
	}
	const cells, cell = 16, 4
	first := w.Offset / cell
	first -= min(first, cells/3)
	var s svg
	for i := range uint64(cells) {
		from := (first + i) * cell
		x := 8 + int(i)*46
		class := "cell"
		if from < w.Offset+w.Size && w.Offset < from+cell {
			class = "cell hit"
		}
		s.addf(`<rect class="%s" x="%d" y="8" width="42" height="30" rx="2"/>`, class, x)
		s.text("note", x+21, 54, "middle", fmt.Sprint(from))
	}
	last := w.Offset + w.Size - 1
	return s.done(wide, 62, fmt.Sprintf("%s: both operations touch bytes %d to %d", w.Memory, w.Offset, last))
}
