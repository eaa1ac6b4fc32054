package report

import (
	"cmp"
	"fmt"
	"html/template"
	"strings"

	"heddle/internal/diag"
)

// svg collects the elements of a drawing. Colors come from the style sheet of the page by class, so
// that drawings follow the dark theme.
type svg struct{ strings.Builder }

// addf adds an element. Arguments that can contain input must be escaped: a kernel name may contain
// < and &.
func (s *svg) addf(format string, args ...any) { fmt.Fprintf(s, format+"\n", args...) }

// text adds escaped text at (x, y), in SVG units from the upper left corner; anchor is "start",
// "middle" or "end".
func (s *svg) text(class string, x, y int, anchor, text string) {
	s.addf(`<text class="%s" x="%d" y="%d" text-anchor="%s">%s</text>`, class, x, y, anchor,
		template.HTMLEscapeString(text))
}

// done returns the drawing. class is "wide" or "narrow" for drawings of one screen width, and empty
// for all. label describes the drawing to screen readers.
func (s *svg) done(class string, width, height int, label string) template.HTML {
	return template.HTML(fmt.Sprintf(
		`<svg class="%s" viewBox="0 0 %d %d" role="img" aria-label="%s">%s</svg>`,
		class, width, height, template.HTMLEscapeString(label), s.String()))
}

// wide is the width of a drawing in SVG user units, which are pixels on a wide screen.
const wide = 760

// layout holds the measures of a timeline in SVG units. A wide timeline has the names of the
// threads left of their lines, a narrow one above and below.
type layout struct {
	width, left   int // left: x where the lines start
	row, top      int
	before        int  // x of the last barrier that both threads passed
	first, second int  // x of the operations, from the start of their interval
	outside       bool // names are above the first line and below the second
}

var (
	wideLayout = layout{width: wide, left: 168, row: 64, top: 42, before: 300, first: 60,
		second: 250}
	narrowLayout = layout{width: 400, left: 4, row: 72, top: 52, before: 72, first: 26, second: 150,
		outside: true}
)

// timelines returns a timeline for wide screens and one for narrow ones; the style sheet hides one,
// since SVG text does not wrap.
func timelines(w *diag.Witness, places []place) template.HTML {
	return timeline(w, places, wideLayout, "wide") + timeline(w, places, narrowLayout, "narrow")
}

// timeline draws the two threads of a race as rows and barrier intervals as columns: the earlier
// intervals, the interval with both operations, and a dashed line for the missing order.
func timeline(w *diag.Witness, places []place, l layout, class string) template.HTML {
	var s svg
	height := l.top + 2*l.row + 30
	sameBlock := w.Level != "inter-block"
	// Intervals of different blocks cannot be compared: no barrier orders blocks.
	start, column := "kernel entry", "the whole kernel: no barrier orders blocks"
	if sameBlock {
		column = "before the first barrier of the block"
		switch {
		case w.NoBarrier && w.Level == "intra-warp":
			column = "no barrier between the two"
		case w.NoBarrier:
			column = "the whole kernel: it has no barrier of the block"
		}
		if w.Interval > 0 {
			column = fmt.Sprintf("after the %s barrier that the block passes", ordinal(w.Interval))
		}
	}
	x := l.left
	if sameBlock && w.Interval > 0 {
		start = ordinal(w.Interval) + " barrier"
		earlier := "earlier intervals"
		if l.outside {
			earlier = "earlier"
		}
		s.text("head", (l.left+l.before)/2, 20, "middle", earlier)
		x = l.before
	}
	right := l.width - 8
	s.addf(`<rect class="interval" x="%d" y="30" width="%d" height="%d" rx="4"/>`, x, right-x,
		height-48)
	s.text("head", (x+right)/2, 20, "middle", column)
	s.addf(`<line class="barrier" x1="%d" y1="30" x2="%d" y2="%d"/>`, x, x, height-18)
	// Near the left edge, centered text would be cut off.
	anchor := "middle"
	if x < 60 {
		anchor = "start"
	}
	s.text("note start", x, height-5, anchor, start)
	if mid := x + (l.first+l.second)/2; sameBlock { // below the text
		s.addf(`<line class="missing gap" x1="%d" y1="30" x2="%d" y2="%d"/>`, mid, mid, height-18)
	}
	at := [2][2]int{}
	for i, op := range []diag.WitnessAccess{w.First, w.Second} {
		y := l.top + i*l.row + l.row/2 - 6
		thread, block, found := strings.Cut(nameOf(&op), " of ")
		if l.outside {
			s.text("thread", x+8, y+[]int{-22, 36}[i], "start", nameOf(&op))
		} else {
			s.text("thread", 4, y-2, "start", thread)
			if found {
				s.text("note start", 4, y+14, "start", block)
			}
		}
		s.addf(`<line class="life" x1="%d" y1="%d" x2="%d" y2="%d"/>`, l.left, y, right, y)
		cx := x + []int{l.first, l.second}[i]
		at[i] = [2]int{cx, y}
		class, letter := opClass(op.Kind)
		s.addf(`<rect class="op %s" x="%d" y="%d" width="34" height="24" rx="12"/>`, class, cx-17, y-12)
		s.text("number "+class, cx, y+5, "middle", fmt.Sprint(i+1, " ", letter))
		s.text("op", cx+24, y-6, "start", clip(does(&op), (right-cx-24)/7))
		where := short(places[i].At)
		if op.When != "" {
			where += ", " + op.When
		}
		s.text("note", cx+24, y+16, "start", clip(where, (right-cx-24)/7))
	}
	s.addf(`<line class="missing" x1="%d" y1="%d" x2="%d" y2="%d"/>`, at[0][0]+6, at[0][1]+14,
		at[1][0]-8, at[1][1]-12)
	s.text("missing", (at[0][0]+at[1][0])/2+24, (at[0][1]+at[1][1])/2-1, "start",
		"nothing orders these two")
	label := fmt.Sprintf("%s: %s %s and %s %s, and nothing orders the two", column, nameOf(&w.First),
		does(&w.First), nameOf(&w.Second), does(&w.Second))
	return s.done(class, l.width, height, label)
}

// ordinal writes a number as in "the 2nd barrier".
func ordinal(n uint32) string {
	end := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			end = "st"
		case 2:
			end = "nd"
		case 3:
			end = "rd"
		}
	}
	return fmt.Sprint(n, end)
}

// opClass returns the style class of an operation, and its letter: everything that may write is
// drawn as a write, atomics included.
func opClass(kind string) (class, letter string) {
	if kind == "read" {
		return "read", "R"
	}
	return "write", "W"
}

// nameOf names the thread of an operation.
func nameOf(a *diag.WitnessAccess) string { return cmp.Or(a.Name, a.Thread) }

// does says what an operation does, in the words of the source if they are known.
func does(a *diag.WitnessAccess) string {
	if a.Does == "" {
		return a.Op
	}
	return strings.ReplaceAll(a.Does, "`", "")
}

// clip shortens a text to about n characters.
func clip(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:max(n-1, 1)]) + "…"
	}
	return text
}

// short returns a place without its directories, because drawings have little room.
func short(at string) string {
	if i := strings.LastIndexByte(at, '/'); i >= 0 {
		return at[i+1:]
	}
	return at
}

// memory draws the part of the array around what both operations access, and marks that: rows and
// columns of elements as declared, or 4-byte words if the type is not known.
func memory(w *diag.Witness) template.HTML {
	if w.Size == 0 {
		return ""
	}
	if w.Element != "" && w.ElementSize > 0 {
		return elements(w)
	}
	// 16 words of 4 bytes; the conflict starts in the first third.
	const cell = 4
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
		s.addf(`<rect class="%s" x="%d" y="28" width="42" height="26" rx="2"/>`, class, x)
		s.text("note", x+21, 70, "middle", fmt.Sprint(from))
	}
	label := fmt.Sprintf("%s: both access byte %d", w.Memory, w.Offset)
	if w.Size > 1 {
		label = fmt.Sprintf("%s: both access bytes %d to %d", w.Memory, w.Offset, w.Offset+w.Size-1)
	}
	s.text("op", 8, 16, "start", label)
	return s.done("", wide, 78, label)
}

// cells is the number of elements of a row in a drawing, and mostRows that of its rows.
const (
	cells    = 15
	mostRows = 5
)

// elements draws the elements around the one that both operations access: those of its row, and of
// the rows above and below if the array has more than one dimension.
func elements(w *diag.Witness) template.HTML {
	columns, last := uint64(1), len(w.Dims)-1
	if last >= 0 {
		columns = uint64(max(w.Dims[last], 0)) // 0: open
	}
	n := w.Offset / uint64(w.ElementSize)
	row, col, rows := uint64(0), n, uint64(1)
	if last > 0 && columns > 0 {
		row, col = n/columns, n%columns
		if rows = mostRows; len(w.Dims) == 2 && w.Dims[0] > 0 {
			rows = min(rows, uint64(w.Dims[0]))
		}
	}
	from := col - min(col, cells/3)
	if columns > 0 && from+cells > columns {
		from = columns - min(columns, cells)
	}
	top := row - min(row, mostRows/2)
	if len(w.Dims) == 2 && w.Dims[0] > 0 && top+rows > uint64(w.Dims[0]) {
		top = uint64(w.Dims[0]) - rows
	}
	name, _, _ := strings.Cut(w.Element, "[")
	label := fmt.Sprintf("both access %s, %d bytes", w.Element, w.Size)
	if dims := declared(name, w.Dims); dims != "" {
		label += ", of " + dims
	}
	const left, high = 64, 28
	var s svg
	s.text("op", 8, 16, "start", label)
	for i := range uint64(cells) {
		if columns == 0 || from+i < columns {
			s.text("note", left+int(i)*46+21, 36, "middle", fmt.Sprint(from+i))
		}
	}
	for r := range rows {
		y := 42 + int(r)*high
		if last > 0 {
			s.text("note", left-8, y+17, "end", fmt.Sprint(top+r))
		}
		for i := range uint64(cells) {
			if columns > 0 && from+i >= columns {
				break
			}
			class := "cell"
			if top+r == row && from+i == col {
				class = "cell hit"
			}
			s.addf(`<rect class="%s" x="%d" y="%d" width="42" height="24" rx="2"/>`, class, left+int(i)*46, y)
		}
	}
	return s.done("", wide, 48+int(rows)*high, label)
}

// declared returns the declarator of an array with known dimensions: "tile[16][17]"; empty for
// anything else.
func declared(name string, dims []int) string {
	if len(dims) == 0 {
		return ""
	}
	for _, d := range dims {
		if d <= 0 {
			return ""
		}
		name += fmt.Sprintf("[%d]", d)
	}
	return name
}
