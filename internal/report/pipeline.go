package report

import (
	"cmp"
	"fmt"
	"html/template"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/source"
)

// pipeline is a diag.Pipeline as the template prints it.
type pipeline struct {
	Kernel, Input, Block string
	Seed                 uint64
	Unused               int
	Broken               []broken
	Rings                []ring
}

// broken is a missing order: its number in the drawing, and the finding that it is about.
type broken struct {
	ID      string
	Number  int
	Label   string
	Text    template.HTML
	Finding string // id; empty: none
}

// ring is a drawing of a ring, and the same as text.
type ring struct {
	Title, Summary string
	Objects        []ringObject
	Drawing        template.HTML
	Stages         []stageText
	Left           int // stages that are not drawn
}

// ringObject is an mbarrier of each stage, for the legend.
type ringObject struct {
	Class, Name string
}

// stageText lists what happens at the objects of a stage.
type stageText struct {
	Name  string
	Marks []string
}

// Pipeline adds the phases of the mbarriers of a traced block. They are drawn by Close, when all
// findings are known.
func (h *HTML) Pipeline(p *diag.Pipeline) { h.pipelines = append(h.pipelines, p) }

// mostStages is the number of stages of a ring that are drawn: if there are more, the first ones,
// the last one, and those with a finding.
const mostStages = 8

// drawPipelines converts all pipelines, and gives each finding a link to its drawing.
func (h *HTML) drawPipelines() {
	for i, p := range h.pipelines {
		out := pipeline{
			Kernel: p.Kernel, Input: p.Input, Block: p.Block, Seed: p.Seed, Unused: p.Unused,
		}
		for j := range p.Broken {
			e := &p.Broken[j]
			b := broken{
				ID: fmt.Sprintf("p%dw%d", i, j+1), Number: j + 1, Label: e.Label, Text: code(e.Text),
			}
			if f := h.findingOf(p, e); f != nil {
				b.Finding, b.Text = f.ID, f.Message
				f.Drawn = cmp.Or(f.Drawn, b.ID)
			}
			out.Broken = append(out.Broken, b)
		}
		for r := range p.Rings {
			out.Rings = append(out.Rings, h.ringOf(p, r, out.Broken))
		}
		h.page.Pipelines = append(h.page.Pipelines, out)
	}
}

// findingOf returns the finding that an edge is about; nil if there is none.
func (h *HTML) findingOf(p *diag.Pipeline, e *diag.PipelineEdge) *finding {
	if e.Code == "" {
		return nil
	}
	var other *finding
	for i := range h.page.Findings {
		f := &h.page.Findings[i]
		if f.Input != p.Input || f.Kernel != p.Kernel {
			continue
		}
		here := slices.ContainsFunc(e.Spans, func(s source.Span) bool { return s.Start == f.span.Start })
		switch {
		case here && f.Code == string(e.Code):
			return f
		case here || f.Code == string(e.Code):
			other = cmp.Or(other, f)
		}
	}
	return other
}

// ringOf converts ring r of a pipeline.
func (h *HTML) ringOf(p *diag.Pipeline, r int, edges []broken) ring {
	d := newPipelineDrawing(p, r, edges)
	out := ring{Left: len(d.r.Stages) - len(d.stages), Title: "One stage"}
	if n := len(d.r.Stages); n > 1 {
		out.Title = fmt.Sprintf("Ring of %d stages", n)
	}
	total := int(d.r.Last) + 1
	shown := len(d.r.Phases)
	if shown > 0 && d.r.Phases[0] < 0 {
		shown--
	}
	out.Summary = plural(total, "phase", "phases")
	if shown < total {
		out.Summary = fmt.Sprintf("showing %d of %d phases", shown, total)
	}
	for i := range d.r.Stages {
		var names []string
		for j, o := range d.r.Stages[i].Objects {
			names = append(names, fmt.Sprintf("%s for %s", o.Name, plural(o.Count, "arrival", "arrivals")))
			if j == len(out.Objects) {
				last := o.Name
				for _, s := range d.r.Stages {
					if j < len(s.Objects) {
						last = s.Objects[j].Name
					}
				}
				name := o.Name
				if last != name {
					name += " to " + last
				}
				out.Objects = append(out.Objects, ringObject{objectClass(j), name})
			}
		}
		s := stageText{Name: fmt.Sprintf("Stage %d: %s", i, strings.Join(names, ", "))}
		for j := range d.r.Marks {
			if m := &d.r.Marks[j]; m.Stage == i {
				s.Marks = append(s.Marks, h.markText(d.r, m))
			}
		}
		out.Stages = append(out.Stages, s)
	}
	d.texts = func(m *diag.PipelineMark) string { return h.markText(d.r, m) }
	out.Drawing = d.draw()
	return out
}

// markText says what a mark is.
func (h *HTML) markText(r *diag.PipelineRing, m *diag.PipelineMark) string {
	object := &r.Stages[m.Stage].Objects[m.Object]
	one := m.Threads == 1
	verb := func(single, many string) string {
		if one {
			return single
		}
		return many
	}
	var does string
	switch m.Kind {
	case diag.PipelineArrive:
		does = fmt.Sprintf("%s %s (%d of %d arrivals)", m.Who, verb("arrives", "arrive"), m.Arrivals,
			object.Count)
		if m.Bytes > 0 {
			does += fmt.Sprintf(" and %s %d bytes", verb("expects", "expect"), m.Bytes)
		}
	case diag.PipelineExpect:
		does = fmt.Sprintf("%s %s %d bytes", m.Who, verb("expects", "expect"), m.Bytes)
		if m.Bytes < 0 {
			does = fmt.Sprintf("%s %s %d bytes", m.Who, verb("completes", "complete"), -m.Bytes)
		}
	case diag.PipelineCopy:
		does = fmt.Sprintf("%s, issued by %s", m.Op, m.Who)
		switch {
		case m.Bytes != 0:
			does += fmt.Sprintf(", brings %d bytes", m.Bytes)
		case m.Arrivals != 0:
			does += fmt.Sprintf(", signals by %s", plural(int(m.Arrivals), "arrival", "arrivals"))
		default:
			does += ", has not signalled at the end"
		}
	case diag.PipelineWait:
		does = fmt.Sprintf("%s %s waited", m.Who, verb("has", "have"))
		if m.Phase < 0 {
			does = fmt.Sprintf("%s %s at once, because of the parity of the new object", m.Who,
				verb("passes", "pass"))
		}
	case diag.PipelineStuck:
		does = fmt.Sprintf("%s %s for ever", m.Who, verb("waits", "wait"))
	case diag.PipelineLacks:
		does = "the phase misses " + lacks(m)
	case diag.PipelineRead, diag.PipelineWrite:
		does = fmt.Sprintf("%s: %s", m.Who, m.Op)
	case diag.PipelineFault:
		does = fmt.Sprintf("%s: %s is wrong", m.Who, m.Op)
	}
	if m.Times > 1 {
		does += fmt.Sprintf(", %d times", m.Times)
	}
	phase := fmt.Sprintf("phase %d", m.Phase)
	if m.Phase < 0 {
		phase = "before phase 0"
	}
	text := fmt.Sprintf("%s of %s: %s", phase, object.Name, does)
	if at := h.at(m.Span); at != "" && m.Kind != diag.PipelineLacks {
		text += " at " + at
	}
	return text
}

// lacks says what a phase misses.
func lacks(m *diag.PipelineMark) string {
	var parts []string
	if m.Arrivals > 0 {
		parts = append(parts, plural(int(m.Arrivals), "arrival", "arrivals"))
	}
	switch {
	case m.Bytes > 0:
		parts = append(parts, fmt.Sprintf("%d bytes", m.Bytes))
	case m.Bytes < 0:
		parts = append(parts, fmt.Sprintf("the announcement of %d bytes", -m.Bytes))
	}
	return strings.Join(parts, " and ")
}

// objectClass is the style of an mbarrier by its index in its stage.
func objectClass(i int) string { return fmt.Sprintf("object%d", i%4) }

// bytesText writes a number of bytes in little room.
func bytesText(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d B", n)
}
