package report

import (
	"fmt"
	"html/template"
	"math"
	"slices"

	"heddle/internal/diag"
)

// Measures of a pipeline, in pixels. It is not scaled: it scrolls sideways.
const (
	pipeNames = 196 // width of the names of the roles
	pipeTop   = 30
	pipeTitle = 26 // of a stage
	pipeLane  = 54
	pipeMark  = 27 // center of a mark, from the top of its lane
	pipeAbove = 15 // base line of a label above it, from its center
	pipeBelow = 25 // and of one below it
	pipeLeft  = 10
	pipeGap   = 70 // width of a gap for omitted phases
	pipeChar  = 6.6
)

// pipelineDrawing is a drawing in progress: each stage has a lane for each role that does something
// there, and each phase is a column of slots, in which marks follow each other from left to right.
type pipelineDrawing struct {
	svg
	p       *diag.Pipeline
	r       *diag.PipelineRing
	number  int
	edges   []broken
	texts   func(*diag.PipelineMark) string
	stages  []int          // that are drawn
	lanes   map[[2]int]int // top of a lane, by stage and role
	tops    map[int]int    // of stages
	slots   []int          // of marks; -1: not drawn
	columns []pipeColumn
	slot    int // width
	width   int
	height  int
	badges  [][2]int
}

// pipeColumn is a phase.
type pipeColumn struct {
	phase int64
	x     int // of its left side
	slots int
	gap   int64 // phases before it that are not shown
}

// newPipelineDrawing lays out ring r of a pipeline.
func newPipelineDrawing(p *diag.Pipeline, r int, edges []broken) *pipelineDrawing {
	d := &pipelineDrawing{
		p: p, r: &p.Rings[r], number: r, edges: edges, lanes: map[[2]int]int{}, tops: map[int]int{},
	}
	d.selectStages()
	y := pipeTop
	for _, s := range d.stages {
		d.tops[s] = y
		y += pipeTitle
		for role := range p.Roles {
			if slices.ContainsFunc(d.r.Marks, func(m diag.PipelineMark) bool {
				return m.Stage == s && m.Role == role
			}) {
				d.lanes[[2]int{s, role}] = y
				y += pipeLane
			}
		}
		y += 6
	}
	d.height = y
	d.layOut()
	return d
}

// selectStages chooses the stages that are drawn.
func (d *pipelineDrawing) selectStages() {
	wrong := map[int]bool{}
	for i := range d.p.Broken {
		for _, m := range []int{d.p.Broken[i].From, d.p.Broken[i].To} {
			if d.p.Broken[i].Ring == d.number && m >= 0 {
				wrong[d.r.Marks[m].Stage] = true
			}
		}
	}
	n := len(d.r.Stages)
	for s := range n {
		if n <= mostStages || s < 3 || s == n-1 || wrong[s] {
			d.stages = append(d.stages, s)
		}
	}
}

// layOut gives each mark its slot: behind the marks of its lane and its stage in the same phase,
// and a wait behind what it waits for.
func (d *pipelineDrawing) layOut() {
	type lane struct {
		stage, role int
		phase       int64
	}
	type object struct {
		stage, object int
		phase         int64
	}
	next := map[lane]int{}
	done := map[object]int{}
	width := map[int64]int{}
	longest := 6
	d.slots = make([]int, len(d.r.Marks))
	for i := range d.r.Marks {
		m := &d.r.Marks[i]
		d.slots[i] = -1
		if !slices.Contains(d.stages, m.Stage) {
			continue
		}
		of, at := lane{m.Stage, m.Role, m.Phase}, object{m.Stage, m.Object, m.Phase}
		slot := next[of]
		switch {
		case waits(m):
			slot = max(slot, done[at])
		case m.Kind == diag.PipelineCopy:
			slot = max(slot, next[lane{m.Stage, m.By, m.Phase}])
		}
		if operates(m) || m.Kind == diag.PipelineLacks {
			done[at] = max(done[at], slot+1)
		}
		d.slots[i], next[of] = slot, slot+1
		width[m.Phase] = max(width[m.Phase], slot+1)
		longest = max(longest, len(d.label(m)))
		if m.Kind == diag.PipelineCopy {
			longest = max(longest, len(copyText(m))+2)
		}
	}
	d.slot = max(52, int(float64(longest)*pipeChar)+10)
	x := pipeLeft
	for i, p := range d.r.Phases {
		c := pipeColumn{phase: p, slots: max(width[p], 1)}
		if i > 0 {
			c.gap = p - d.r.Phases[i-1] - 1
		} else if p > 0 {
			c.gap = p
		}
		if c.gap > 0 {
			x += pipeGap
		}
		c.x = x
		x += c.slots*d.slot + 12
		d.columns = append(d.columns, c)
	}
	d.width = x + 24
}

// label is the text below a mark.
func (d *pipelineDrawing) label(m *diag.PipelineMark) string {
	switch m.Kind {
	case diag.PipelineArrive:
		text := ""
		if of := d.r.Stages[m.Stage].Objects[m.Object].Count; of > 1 || m.Arrivals > 1 {
			text = fmt.Sprintf("%d/%d", m.Arrivals, of)
		}
		if m.Bytes > 0 {
			if text != "" {
				text += " "
			}
			text += "+" + bytesText(m.Bytes)
		}
		return text
	case diag.PipelineExpect:
		if m.Bytes < 0 {
			return "-" + bytesText(-m.Bytes)
		}
		return "+" + bytesText(m.Bytes)
	case diag.PipelineWait:
		if m.Times > 1 {
			return fmt.Sprintf("%d times", m.Times)
		}
	case diag.PipelineStuck:
		return "for ever"
	case diag.PipelineLacks:
		switch {
		case m.Bytes > 0:
			return "−" + bytesText(m.Bytes)
		case m.Bytes < 0:
			return "+" + bytesText(-m.Bytes)
		}
		return fmt.Sprintf("%d missing", m.Arrivals)
	}
	return ""
}

// copyText is the text in the box of an asynchronous operation.
func copyText(m *diag.PipelineMark) string {
	switch {
	case m.Bytes != 0:
		return bytesText(m.Bytes)
	case m.Arrivals != 0:
		return "arrives"
	}
	return "copy"
}

// at returns the center of a mark.
func (d *pipelineDrawing) at(i int) (x, y int) {
	m := &d.r.Marks[i]
	for _, c := range d.columns {
		if c.phase == m.Phase {
			x = c.x + 6 + d.slots[i]*d.slot + d.slot/2
		}
	}
	return x, d.lanes[[2]int{m.Stage, m.Role}] + pipeMark
}

// draw returns two drawings side by side, as that of a barrier graph.
func (d *pipelineDrawing) draw() template.HTML {
	var names svg
	d.frame(&names)
	for i := range d.r.Marks {
		d.orders(i)
	}
	for i := range d.p.Broken {
		if e := &d.p.Broken[i]; e.Ring == d.number {
			d.missing(e)
		}
	}
	for i := range d.r.Marks {
		if d.slots[i] >= 0 {
			d.mark(i)
		}
	}
	for i := range d.p.Broken {
		if e := &d.p.Broken[i]; e.Ring == d.number {
			d.badge(e, &d.edges[i])
		}
	}
	label := fmt.Sprintf("phases of mbarriers of block %s of %s: %s, %s; the list below has the same "+
		"content", d.p.Block, d.p.Kernel, plural(len(d.stages), "stage", "stages"),
		plural(len(d.columns), "phase", "phases"))
	return template.HTML(fmt.Sprintf(
		`<svg class="names" width="%d" height="%d" aria-hidden="true">%s</svg>`+
			`<svg class="graph pipeline" width="%d" height="%d" role="img" aria-label="%s">%s</svg>`,
		pipeNames, d.height, names.String(), d.width, d.height, template.HTMLEscapeString(label),
		d.String()))
}

// frame draws columns, stages and lanes.
func (d *pipelineDrawing) frame(names *svg) {
	for i, c := range d.columns {
		w := c.slots*d.slot + 12
		if i%2 == 0 {
			d.addf(`<rect class="phase" x="%d" y="0" width="%d" height="%d"/>`, c.x, w, d.height)
		}
		name := fmt.Sprintf("phase %d", c.phase)
		if c.phase < 0 {
			name = "new" // objects, of which no phase is complete
		}
		d.text("head", c.x+w/2, 19, "middle", name)
		if c.gap > 0 {
			d.text("note", c.x-pipeGap/2, 19, "middle", fmt.Sprintf("%d more", c.gap))
		}
	}
	for _, s := range d.stages {
		y := d.tops[s]
		names.addf(`<line class="stage" x1="0" y1="%d" x2="%d" y2="%d"/>`, y, pipeNames, y)
		d.addf(`<line class="stage" x1="0" y1="%d" x2="%d" y2="%d"/>`, y, d.width, y)
		title := ""
		for j, o := range d.r.Stages[s].Objects {
			if j > 0 {
				title += ", "
			}
			title += o.Name
		}
		if len(d.r.Stages) > 1 {
			title = fmt.Sprintf("%d: %s", s, title)
		}
		names.titled("thread", 4, y+18, title, 24)
		for role := range d.p.Roles {
			top, ok := d.lanes[[2]int{s, role}]
			if !ok {
				continue
			}
			names.titled("note", 14, top+pipeMark+5, d.p.Roles[role].Name, 26)
			for _, c := range d.columns {
				d.addf(`<line class="life" x1="%d" y1="%d" x2="%d" y2="%d"/>`, c.x, top+pipeMark,
					c.x+c.slots*d.slot+12, top+pipeMark)
			}
		}
	}
}

// titled adds a text of about n characters, whose tooltip is the whole text.
func (s *svg) titled(class string, x, y int, text string, n int) {
	s.addf(`<text class="%s" x="%d" y="%d">%s<title>%s</title></text>`, class, x, y,
		template.HTMLEscapeString(clip(text, n)), template.HTMLEscapeString(text))
}

// orders draws what a wait waits for, and by whom a copy is issued.
func (d *pipelineDrawing) orders(i int) {
	m := &d.r.Marks[i]
	if d.slots[i] < 0 {
		return
	}
	x, y := d.at(i)
	from, ok := d.lanes[[2]int{m.Stage, m.By}]
	if ok && m.Kind == diag.PipelineCopy && m.By != m.Role {
		d.addf(`<line class="issue" x1="%d" y1="%d" x2="%d" y2="%d"/>`, x, from+pipeMark, x, y)
	}
	if m.Kind != diag.PipelineWait {
		return
	}
	for j := range d.r.Marks {
		o := &d.r.Marks[j]
		if operates(o) && o.Stage == m.Stage && o.Object == m.Object && o.Phase == m.Phase {
			d.order(j, i, objectClass(m.Object))
		}
	}
}

// order draws an arrow from an operation to a wait.
func (d *pipelineDrawing) order(from, to int, class string) {
	x1, y1 := d.at(from)
	x2, y2 := d.at(to)
	x1 += d.reach(from)
	x2 -= 9
	d.addf(`<line class="%s" x1="%d" y1="%d" x2="%d" y2="%d"/>`, class, x1, y1, x2, y2)
	angle := math.Atan2(float64(y2-y1), float64(x2-x1)) * 180 / math.Pi
	d.addf(`<path class="head-%s" d="M0 0 l-9 -4 v8 z" transform="translate(%d %d) rotate(%.0f)"/>`,
		class, x2, y2, angle)
}

// reach is how far a mark extends from its center to the right.
func (d *pipelineDrawing) reach(i int) int {
	switch d.r.Marks[i].Kind {
	case diag.PipelineCopy:
		return d.slot/2 - 5
	case diag.PipelineRead, diag.PipelineWrite:
		return 13
	}
	return 8
}

// mark draws a mark with its label; its text is the tooltip.
func (d *pipelineDrawing) mark(i int) {
	m := &d.r.Marks[i]
	x, y := d.at(i)
	d.addf(`<g><title>%s</title>`, template.HTMLEscapeString(d.texts(m)))
	label, at := d.labelAt(i)
	class := "tiny"
	object := objectClass(m.Object)
	switch m.Kind {
	case diag.PipelineArrive:
		d.addf(`<circle class="arrives %s" cx="%d" cy="%d" r="7"/>`, object, x, y)
	case diag.PipelineExpect:
		d.addf(`<path class="arrives %s" d="M%d %d l8 8 l-8 8 l-8 -8 z"/>`, object, x, y-8)
	case diag.PipelineCopy:
		r := d.reach(i)
		d.addf(`<rect class="copies %s" x="%d" y="%d" width="%d" height="22" rx="5"/>`, object, x-r, y-11,
			2*r)
		d.text("tiny", x, y+4, "middle", copyText(m))
	case diag.PipelineWait:
		d.addf(`<circle class="waits %s" cx="%d" cy="%d" r="7"/>`, object, x, y)
	case diag.PipelineStuck:
		d.addf(`<circle class="stuck" cx="%d" cy="%d" r="8"/>`, x, y)
		class = "tiny missing"
	case diag.PipelineLacks:
		d.addf(`<circle class="lacks" cx="%d" cy="%d" r="8"/>`, x, y)
		class = "tiny missing"
	case diag.PipelineRead, diag.PipelineWrite:
		kind, letter := "read", "R"
		if m.Kind == diag.PipelineWrite {
			kind, letter = "write", "W"
		}
		d.addf(`<rect class="op %s" x="%d" y="%d" width="26" height="22" rx="11"/>`, kind, x-13, y-11)
		d.text("number "+kind, x, y+5, "middle", letter)
	case diag.PipelineFault:
		d.addf(`<path class="fault" d="M%d %d l14 14 m0 -14 l-14 14"/>`, x-7, y-7)
	}
	if label != "" {
		d.text(class, x, at, "middle", label)
	}
	d.addf(`</g>`)
}

// labelAt returns the label of a mark, and its base line.
func (d *pipelineDrawing) labelAt(i int) (text string, y int) {
	m := &d.r.Marks[i]
	_, y = d.at(i)
	if d.leadsDown(m) {
		return d.label(m), y - pipeAbove
	}
	return d.label(m), y + pipeBelow
}

// leadsDown reports whether an arrow connects a mark with a lane below, so that its label is above.
func (d *pipelineDrawing) leadsDown(m *diag.PipelineMark) bool {
	return slices.ContainsFunc(d.r.Marks, func(o diag.PipelineMark) bool {
		return o.Stage == m.Stage && o.Object == m.Object && o.Phase == m.Phase && o.Role > m.Role &&
			waits(&o) != waits(m)
	})
}

// operates reports whether a mark is an operation that a phase consists of.
func operates(m *diag.PipelineMark) bool { return m.Kind <= diag.PipelineCopy }

// waits reports whether a mark is a wait.
func waits(m *diag.PipelineMark) bool {
	return m.Kind == diag.PipelineWait || m.Kind == diag.PipelineStuck
}

// missing draws a missing order, and marks its ends.
func (d *pipelineDrawing) missing(e *diag.PipelineEdge) {
	for _, i := range []int{e.From, e.To} {
		if i < 0 {
			continue
		}
		x, y := d.at(i)
		switch d.r.Marks[i].Kind {
		case diag.PipelineCopy, diag.PipelineRead, diag.PipelineWrite:
			r := d.reach(i) + 4
			d.addf(`<path class="halo" d="M%d %d h%d v30 h%d z"/>`, x-r, y-15, 2*r, -2*r)
			continue
		}
		d.addf(`<circle class="halo" cx="%d" cy="%d" r="12"/>`, x, y)
	}
	if e.From >= 0 && e.To >= 0 {
		x1, y1 := d.at(e.From)
		x2, y2 := d.at(e.To)
		d.addf(`<line class="missing" x1="%d" y1="%d" x2="%d" y2="%d"/>`, x1, y1, x2, y2)
	}
}

// badge draws the number of a missing order where no other badge and no mark is, as a link to its
// finding, or to its text.
func (d *pipelineDrawing) badge(e *diag.PipelineEdge, b *broken) {
	x, y := 0, 0
	free := func() bool {
		for _, o := range d.badges {
			if abs(o[0]-x) < 20 && abs(o[1]-y) < 20 {
				return false
			}
		}
		for i := range d.r.Marks {
			if d.slots[i] < 0 {
				continue
			}
			mx, my := d.at(i)
			if abs(mx-x) < 11+d.reach(i) && abs(my-y) < 19 {
				return false
			}
			if text, at := d.labelAt(i); text != "" &&
				abs(mx-x) < 9+int(pipeChar*float64(len(text)))/2 && abs(at-4-y) < 15 {
				return false
			}
		}
		return x > 10 && x < d.width-10 && y > pipeTop && y < d.height-10
	}
	var places [][2]int
	if e.From >= 0 && e.To >= 0 {
		x1, y1 := d.at(e.From)
		x2, y2 := d.at(e.To)
		for _, t := range []int{50, 40, 60, 30, 70, 25, 75} {
			places = append(places, [2]int{x1 + (x2-x1)*t/100, y1 + (y2-y1)*t/100})
		}
	}
	end := max(e.To, e.From)
	ex, ey := d.at(end)
	far := d.reach(end) + 13
	for _, o := range [][2]int{{1, -16}, {-1, -16}, {1, 0}, {-1, 0}, {1, 17}, {-1, 17}} {
		places = append(places, [2]int{ex + o[0]*far, ey + o[1]})
	}
	for _, at := range places {
		if x, y = at[0], at[1]; free() {
			break
		}
	}
	d.badges = append(d.badges, [2]int{x, y})
	to := b.Finding
	if to == "" {
		to = b.ID
	}
	d.addf(`<a href="#%s"><title>%s</title><circle class="badge" cx="%d" cy="%d" r="9"/>`, to,
		template.HTMLEscapeString(b.Label), x, y)
	d.text("number", x, y+5, "middle", fmt.Sprint(b.Number))
	d.addf(`</a>`)
}

func abs(n int) int { return max(n, -n) }
