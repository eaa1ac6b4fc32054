package report

import (
	"fmt"
	"html/template"
	"math"
)

// Execution is an execution that a memory model allows, as a graph: the events of the threads, who
// reads from whom, and what is wrong.
type Execution struct {
	Input, Kernel string
	Title         string // what it shows: "data race of ..."
	Missing       string // what would order the events that race; empty: nothing to say
	Threads       []string
	Events        []ExecutionEvent // in an order in which sources come first, as far as there is one
	Arrows        []ExecutionArrow
	Ends          []string // of each thread that does not end, why
}

// ExecutionEvent is an event of one thread.
type ExecutionEvent struct {
	Thread       int    // index into Threads
	Text, Effect string // the instruction, and what it does to memory
	At           string
	Wrong        bool // it takes part in what the title says
}

// ArrowKind is what an arrow says.
type ArrowKind uint8

// The arrows of an execution.
const (
	ReadsFrom    ArrowKind = iota // the second event reads what the first writes
	Synchronizes                  // what precedes the first is seen after the second
	Unordered                     // nothing orders the two, and they should be
)

// ExecutionArrow leads from one event to another, by their indices.
type ExecutionArrow struct {
	From, To int
	Kind     ArrowKind
}

// execution is an Execution as the template prints it.
type execution struct {
	*Execution
	Drawing template.HTML
	ByEvent []ExecutionEvent
}

// Execution adds the graph of an execution to the page.
func (h *HTML) Execution(e *Execution) {
	h.page.Executions = append(h.page.Executions, execution{Execution: e, Drawing: e.drawing(),
		ByEvent: e.Events})
}

// Measures of an execution, in pixels. It is not scaled: it scrolls sideways.
const (
	executionColumn = 252 // of a thread
	executionBox    = 214
	executionRow    = 56
	executionHigh   = 42 // of a box
	executionTop    = 34
)

// box returns the left upper corner of an event's box.
func (e *Execution) box(i int) (x, y int) {
	return e.Events[i].Thread*executionColumn + 4, executionTop + i*executionRow
}

// drawing draws each thread as a column and each event in a row of its own, so that arrows between
// threads cross few boxes.
func (e *Execution) drawing() template.HTML {
	var s svg
	width := len(e.Threads)*executionColumn - (executionColumn - executionBox) + 8
	height := executionTop + len(e.Events)*executionRow
	last := map[int]int{}
	for i, name := range e.Threads {
		s.text("thread", i*executionColumn+4, 18, "start", name)
	}
	for i := range e.Events { // program order
		x, y := e.box(i)
		if before, ok := last[e.Events[i].Thread]; ok {
			_, from := e.box(before)
			s.addf(`<line class="life" x1="%d" y1="%d" x2="%d" y2="%d"/>`, x+16, from+executionHigh,
				x+16, y)
		}
		last[e.Events[i].Thread] = i
	}
	for i := range e.Events {
		ev := &e.Events[i]
		x, y := e.box(i)
		class := "event"
		if ev.Wrong {
			class += " hit"
		}
		s.addf(`<rect class="%s" x="%d" y="%d" width="%d" height="%d" rx="4"/>`, class, x, y,
			executionBox, executionHigh)
		s.text("op", x+8, y+17, "start", clip(ev.Text, 28))
		s.text("note", x+8, y+34, "start", clip(ev.Effect, 29))
	}
	for _, a := range e.Arrows {
		e.arrow(&s, a)
	}
	label := fmt.Sprintf("execution of %s with %s of %s; the list below has the same content", e.Kernel,
		plural(len(e.Events), "event", "events"), plural(len(e.Threads), "thread", "threads"))
	return template.HTML(fmt.Sprintf(
		`<svg class="graph" width="%d" height="%d" role="img" aria-label="%s">%s</svg>`,
		width, height, template.HTMLEscapeString(label), s.String()))
}

// arrowClass has the style of each kind of arrow.
var arrowClass = map[ArrowKind]string{ReadsFrom: "produced", Synchronizes: "order",
	Unordered: "missing"}

// arrow draws an arrow between the sides of two boxes; within a thread, at their right.
func (e *Execution) arrow(s *svg, a ExecutionArrow) {
	x1, y1 := e.box(a.From)
	x2, y2 := e.box(a.To)
	y1, y2 = y1+executionHigh/2, y2+executionHigh/2
	switch from, to := e.Events[a.From].Thread, e.Events[a.To].Thread; {
	case from < to:
		x1 += executionBox
	case from > to:
		x2 += executionBox
	default:
		x1, x2 = x1+executionBox, x2+executionBox
		s.addf(`<path class="%s bow" d="M%d %d Q%d %d %d %d"/>`, arrowClass[a.Kind], x1, y1, x1+26,
			(y1+y2)/2, x2, y2)
		return
	}
	s.addf(`<line class="%s" x1="%d" y1="%d" x2="%d" y2="%d"/>`, arrowClass[a.Kind], x1, y1, x2, y2)
	if a.Kind == Unordered {
		return
	}
	angle := math.Atan2(float64(y2-y1), float64(x2-x1)) * 180 / math.Pi
	s.addf(`<path class="arrow %s" d="M0 0 l-10 -5 v10 z" transform="translate(%d %d) rotate(%.1f)"/>`,
		arrowClass[a.Kind]+"-head", x2, y2, angle)
}
