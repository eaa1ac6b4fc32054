package repair

import (
	"fmt"

	"heddle/internal/ir"
)

// group returns the innermost group that contains stable block n. A group contains the stable
// blocks first+1 to last.
func (e *emitter) group(n int) *group {
	var out *group
	for _, g := range e.groups { // inner ones come later
		if g.first < n && n <= g.last {
			out = g
		}
	}
	return out
}

func (e *emitter) line(format string, args ...any) {
	e.code.WriteString("\t")
	fmt.Fprintf(&e.code, format, args...)
	e.code.WriteString("\n")
}

// stableBlock writes stable block n: the barrier, and where each thread continues. The first one of
// a group ends the loop once no thread is active in it.
//
// The text of the first stable block of a group begins with its round label, where a thread with
// the header as its target starts the next iteration. bar.red.or is barrier and vote in one: if no
// thread of the block has a target within the group, all leave it together (the repair of loops
// with different trip counts).
func (e *emitter) stableBlock(n int) {
	g := e.group(n)
	if g := e.begins(n); g != nil {
		header := target{block: g.loop.Header}
		fmt.Fprintf(&e.code, "%s:\n", e.round(g))
		e.line("setp.eq.u32 \t%s, %s, %d;", e.pred(), e.next(), e.ids[header])
		e.line("@%s bra \t%s;", e.pred(), e.labels[header])
	}
	fmt.Fprintf(&e.code, "%s:\n", e.stable(n))
	if loc := e.loc(n); loc != "" {
		e.line("%s", loc)
	}
	if g == nil || n != g.first+1 {
		e.line("bar.sync \t0;")
		e.dispatch(g, n)
		return
	}
	e.line("setp.ge.u32 \t%s, %s, %d;", e.active(), e.next(), g.low)
	e.line("setp.le.and.u32 \t%s, %s, %d, %s;", e.active(), e.next(), g.high, e.active())
	e.line("bar.red.or.pred \t%s, 0, %s;", e.active(), e.active())
	e.line("@!%s bra \t%s;", e.active(), e.behind(g))
	e.dispatch(g, n)
	fmt.Fprintf(&e.code, "%s:\n", e.behind(g))
	e.dispatch(g.parent, g.last)
}

// dispatch sends each thread to its target behind the barrier of level n. The comparisons are
// linear in the targets of the level; a kernel that needs repair has few.
func (e *emitter) dispatch(g *group, n int) {
	for _, t := range e.targets {
		h := e.of[t.block]
		header := t.cut == 0 && h != nil && h.loop.Header == t.block // round sends threads there
		here := !header && h == g && e.level(t) == n
		if here {
			e.line("setp.eq.u32 \t%s, %s, %d;", e.pred(), e.next(), e.ids[t])
			e.line("@%s bra \t%s;", e.pred(), e.labels[t])
		}
	}
	switch {
	case e.levels.next(g, n) <= e.top:
		e.line("bra.uni \t%s;", e.entry(g, n))
	case e.r.exit == ir.NoBlock:
		e.line("ret;")
	default:
		e.line("bra.uni \t%s;", e.exitLabel())
	}
}

// exitLabel returns the label of the region's exit.
func (e *emitter) exitLabel() string {
	b := e.w.f.Block(e.r.exit)
	if at, ok := e.t.labels[b.Label]; ok && !at.nested {
		return b.Label
	}
	name := fmt.Sprintf("$%sexit%d", e.t.prefix, e.number)
	if !e.t.exits[name] {
		off, err := e.t.point(Point{Block: e.r.exit}, true)
		if err != nil {
			e.t.err = err
			return name
		}
		e.t.exits[name] = true
		e.t.insert(off, name+":\n\t", entering)
	}
	return name
}

// loc returns the .loc of the first cut of a level, so that the barrier has a source position.
func (e *emitter) loc(n int) string {
	for _, t := range e.targets {
		if t.cut > 0 && e.level(t) == n {
			if off, err := e.t.point(Point{t.block, e.r.cuts[t.block][t.cut-1].index}, false); err == nil {
				return e.t.locBefore(off)
			}
		}
	}
	return ""
}
