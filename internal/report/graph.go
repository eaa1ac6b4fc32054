package report

import (
	"fmt"
	"html/template"
	"math/bits"
	"slices"
	"strings"

	"heddle/internal/diag"
)

// graph is a barrier dependence graph as the template prints it.
type graph struct {
	Kernel, Input, Block string
	Summary              string
	Drawing              template.HTML
	Generations          []generation // the content of the drawing as text
}

// generation describes a node of the graph in words.
type generation struct {
	Name  string
	Parts []string
	After string
	Wrong string
	Link  string // id of the finding about it; empty: none
}

// Graph adds the barrier graph of a traced block. It is drawn by Close, when all findings are
// known.
func (h *HTML) Graph(g *diag.BarrierGraph) { h.graphs = append(h.graphs, g) }

// wrongs holds the label below a generation that a finding is about; it must fit graphColumn.
var wrongs = map[diag.Code]string{
	diag.CodeBarrierDeadlock:   "never completes",
	diag.CodeBarrierDivergence: "not all arrive",
	diag.CodeBarrierRecycle:    "reused too early",
	diag.CodeBarrierTooMany:    "too many arrive",
	diag.CodeBarrierNoWaiter:   "no thread waits",
}

// graphOf converts a graph to text and a drawing. link returns the id of the finding with a code,
// or "".
func (h *HTML) graphOf(g *diag.BarrierGraph, link func(diag.Code) string) graph {
	out := graph{Kernel: g.Kernel, Input: g.Input, Block: g.Block}
	out.Summary = fmt.Sprintf("showing %d of %d generations", len(g.Generations), g.Total)
	if len(g.Generations) == g.Total {
		out.Summary = plural(g.Total, "generation", "generations")
	}
	names := map[int]string{}
	for i := range g.Generations {
		n := &g.Generations[i]
		names[n.Index] = fmt.Sprintf("generation %d of barrier %d", n.Number, n.Barrier)
	}
	for i := range g.Generations {
		n := &g.Generations[i]
		one := generation{Name: fmt.Sprintf("Generation %d of barrier %d, for %s", n.Number, n.Barrier,
			plural(n.Count, "thread", "threads"))}
		for _, p := range n.Parts {
			does := "arrive"
			if p.Waits {
				does = "wait"
			}
			one.Parts = append(one.Parts, fmt.Sprintf("%s of warp %d %s at %s",
				plural(bits.OnesCount32(p.Lanes), "thread", "threads"), p.Warp, does, h.at(p.Span)))
		}
		var after []string
		for _, a := range n.After {
			if names[a] != "" {
				after = append(after, names[a])
			} else {
				after = append(after, "a generation that is not shown")
			}
		}
		one.After = strings.Join(slices.Compact(after), ", ")
		one.Wrong, one.Link = end(n, link)
		out.Generations = append(out.Generations, one)
	}
	d := newGraphDrawing(g, link)
	out.Drawing = d.draw()
	return out
}

// end returns a label for a generation that is wrong or incomplete, and the id of the finding about
// it. Both are empty for a regular generation.
func end(n *diag.Generation, link func(diag.Code) string) (text, at string) {
	came := 0
	for _, p := range n.Parts {
		came += bits.OnesCount32(p.Lanes)
	}
	switch {
	case n.Wrong != "":
		text = wrongs[n.Wrong]
		if text == "" {
			text = string(n.Wrong)
		}
		at = link(n.Wrong)
	case !n.Complete:
		text = "incomplete at exit"
	}
	if text != "" && !n.Complete {
		text += fmt.Sprintf(": %d of %d", came, n.Count)
	}
	return text, at
}

// plural returns n with the singular or plural form of a noun, for labels.
func plural(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Measures of a graph, in pixels. A graph is not scaled: it scrolls sideways.
const (
	graphNames  = 92 // width of the names of the warps
	graphLeft   = 8
	graphTop    = 50
	graphColumn = 112
	graphRow    = 36
	graphGap    = 84 // width of a gap for omitted generations
	graphEnd    = 60 // width after the last generation
)

// graphDrawing is a drawing in progress: warps are rows, generations are columns.
type graphDrawing struct {
	svg
	g     *diag.BarrierGraph
	link  func(diag.Code) string
	rows  []warps
	rowOf []int // by warp: index into rows
	x     []int // by generation: x of its center
	width int
}

// warps is a range of consecutive warps with the same behavior; last is inclusive.
type warps struct{ first, last int }

// newGraphDrawing lays out the rows and columns of a graph. link returns the anchor of a finding by
// its code.
func newGraphDrawing(g *diag.BarrierGraph, link func(diag.Code) string) *graphDrawing {
	d := &graphDrawing{g: g, link: link, rowOf: make([]int, g.Warps)}
	d.fold()
	x, next := graphLeft, 0 // next: index of the generation that leaves no gap
	for i := range g.Generations {
		if g.Generations[i].Index > next {
			x += graphGap
		}
		next = g.Generations[i].Index + 1
		d.x = append(d.x, x+graphColumn/2)
		x += graphColumn
	}
	d.width = x + graphEnd
	return d
}

// fold combines adjacent warps into one row if they take part in the same generations with the same
// lanes and instructions.
func (d *graphDrawing) fold() {
	// does[w] encodes all participations of warp w; equal strings mean equal behavior.
	does := make([]string, d.g.Warps)
	for i := range d.g.Generations {
		for _, p := range d.g.Generations[i].Parts {
			does[p.Warp] += fmt.Sprintf("%d %x %t %v;", i, p.Lanes, p.Waits, p.Span)
		}
	}
	for w := range d.g.Warps {
		if n := len(d.rows); n > 0 && does[w] == does[w-1] && d.g.Exited[w] == d.g.Exited[w-1] {
			d.rows[n-1].last = w
		} else {
			d.rows = append(d.rows, warps{w, w})
		}
		d.rowOf[w] = len(d.rows) - 1
	}
}

// y returns the center of a row in SVG units.
func (d *graphDrawing) y(row int) int { return graphTop + row*graphRow + graphRow/2 }

// height returns the height of the drawing in SVG units, with space for labels if any generation
// has one.
func (d *graphDrawing) height() int {
	for i := range d.g.Generations {
		if text, _ := end(&d.g.Generations[i], d.link); text != "" {
			return graphTop + len(d.rows)*graphRow + 40
		}
	}
	return graphTop + len(d.rows)*graphRow
}

// draw returns two drawings side by side. The first holds the names of the warps and stays visible
// while the second is scrolled.
func (d *graphDrawing) draw() template.HTML {
	for i := range d.g.Generations {
		d.head(i)
	}
	// Lifelines come first, so that the dots and arrows of the nodes are drawn over them.
	var names svg
	for row, w := range d.rows {
		name := fmt.Sprintf("warp %d", w.first)
		if w.last > w.first {
			name = fmt.Sprintf("warps %d-%d", w.first, w.last)
		}
		names.text("thread", 4, d.y(row)+5, "start", name)
		d.life(row, w.first)
	}
	for i := range d.g.Generations {
		d.node(i)
	}
	label := fmt.Sprintf("barriers of block %s of %s: %s, %s; the list below has the same content",
		d.g.Block, d.g.Kernel, plural(d.g.Warps, "warp", "warps"),
		plural(len(d.g.Generations), "generation", "generations"))
	// Screen readers get the label once; the names are repeated in the list below the drawing.
	return template.HTML(fmt.Sprintf(
		`<svg class="names" width="%d" height="%d" aria-hidden="true">%s</svg>`+
			`<svg class="graph" width="%d" height="%d" role="img" aria-label="%s">%s</svg>`,
		graphNames, d.height(), names.String(),
		d.width, d.height(), template.HTMLEscapeString(label), d.String()))
}

// head writes the names above a generation, and frames and links one that a finding is about.
func (d *graphDrawing) head(i int) {
	n := &d.g.Generations[i]
	x := d.x[i]
	text, at := end(n, d.link)
	if n.Wrong != "" {
		d.addf(`<rect class="wrong" x="%d" y="2" width="%d" height="%d" rx="4"/>`, x-graphColumn/2+3,
			graphColumn-6, d.height()-6)
	}
	d.text("thread", x, 18, "middle", fmt.Sprintf("barrier %d", n.Barrier))
	d.text("head", x, 36, "middle", fmt.Sprintf("generation %d", n.Number))
	if text != "" {
		if at != "" {
			d.addf(`<a href="#%s">`, at)
		}
		first, second, _ := strings.Cut(text, ": ")
		d.text("missing", x, d.height()-24, "middle", first)
		d.text("missing", x, d.height()-8, "middle", second)
		if at != "" {
			d.addf(`</a>`)
		}
	}
	if before := d.left(i); before > 0 {
		gap := x - graphColumn/2 - graphGap/2
		d.text("note", gap, 18, "middle", "…")
		d.text("note", gap, 36, "middle", fmt.Sprintf("%d more", before))
	}
}

// left returns the number of omitted generations before generation i: long traces repeat
// themselves, and the drawing shows their ends.
func (d *graphDrawing) left(i int) int {
	if i == 0 {
		return d.g.Generations[0].Index
	}
	return d.g.Generations[i].Index - d.g.Generations[i-1].Index - 1
}

// life draws a warp from one generation to the next. The line is solid after a wait, which orders
// everything that follows, and dotted after an arrival, which orders nothing.
func (d *graphDrawing) life(row, warp int) {
	from, class := graphLeft, "loose"
	y := d.y(row)
	stuck := false // the last wait of the warp never ended
	for i := range d.g.Generations {
		n := &d.g.Generations[i]
		j := slices.IndexFunc(n.Parts, func(p diag.Part) bool { return p.Warp == warp })
		if j < 0 {
			continue
		}
		d.addf(`<line class="%s" x1="%d" y1="%d" x2="%d" y2="%d"/>`, class, from, y, d.x[i], y)
		from, class = d.x[i], "loose"
		if n.Parts[j].Waits {
			class = "order"
			stuck = !n.Complete
		}
	}
	if stuck && d.g.Exited[warp] == 0 {
		return
	}
	d.addf(`<line class="%s" x1="%d" y1="%d" x2="%d" y2="%d"/>`, class, from, y, d.width-graphEnd+6, y)
	if d.g.Exited[warp] != 0 {
		d.text("note", d.width-graphEnd+10, y+5, "start", "exits")
	}
}

// node draws the participants of a generation: a dot waits, a ring only arrives, and arrows lead
// from producers to the threads that wait for them.
func (d *graphDrawing) node(i int) {
	n := &d.g.Generations[i]
	x := d.x[i]
	var waits, arrives []int // rows
	for _, p := range n.Parts {
		if row := d.rowOf[p.Warp]; p.Waits {
			waits = append(waits, row)
		} else {
			arrives = append(arrives, row)
		}
	}
	// A folded row stands for several warps, and a warp may take part by several instructions.
	slices.Sort(waits)
	slices.Sort(arrives)
	waits, arrives = slices.Compact(waits), slices.Compact(arrives)
	all := append(slices.Clone(waits), arrives...)
	class := "together"
	if n.Produced() {
		class = "produced"
	}
	d.addf(`<line class="%s" x1="%d" y1="%d" x2="%d" y2="%d"/>`, class, x, d.y(slices.Min(all)), x,
		d.y(slices.Max(all)))
	for _, row := range arrives {
		d.addf(`<circle class="arrives" cx="%d" cy="%d" r="7"/>`, x, d.y(row))
	}
	for _, row := range waits {
		d.addf(`<circle class="waits" cx="%d" cy="%d" r="7"/>`, x, d.y(row))
		if len(arrives) > 0 && slices.Min(arrives) < row {
			d.addf(`<path class="arrow" d="M%d %d l-5 -10 h10 z"/>`, x, d.y(row)-6)
		}
		if len(arrives) > 0 && slices.Max(arrives) > row {
			d.addf(`<path class="arrow" d="M%d %d l-5 10 h10 z"/>`, x, d.y(row)+6)
		}
	}
}
