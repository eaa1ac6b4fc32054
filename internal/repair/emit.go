package repair

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// target is where a thread continues behind a stable block: the beginning of a block, or behind its
// n-th cut. Every target has a number from 1, unique in its region; 0 is the exit. The number is
// the value of the register.
type target struct {
	block ir.BlockID
	cut   int // 0: the beginning, else one more than the index of the cut
}

// emitter writes one transformed region.
//
// A thread that must pass a stable block writes into a register where it continues, and jumps to
// the stable block. Behind the barrier each thread compares: if its target belongs to this level,
// it jumps there, else to the next stable block.
type emitter struct {
	*levels
	t       *text
	number  int // of the region
	ids     map[target]int
	labels  map[target]string
	targets []target
	code    strings.Builder
}

// The names of registers and labels begin with a prefix that the text does not use. The registers
// hold, in this order: the number of the target of a thread, the result of a comparison, and
// whether a thread is still in a group.
func (e *emitter) next() string   { return "%" + e.t.prefix + "next" }
func (e *emitter) pred() string   { return "%" + e.t.prefix + "p" }
func (e *emitter) active() string { return "%" + e.t.prefix + "active" }
func (e *emitter) stable(n int) string {
	return fmt.Sprintf("$%sstable%d_%d", e.t.prefix, e.number, n)
}
func (e *emitter) behind(g *group) string {
	return fmt.Sprintf("$%sbehind%d_%d", e.t.prefix, e.number, g.first+1)
}

func (e *emitter) round(g *group) string {
	return fmt.Sprintf("$%sround%d_%d", e.t.prefix, e.number, g.first+1)
}

// entry is the label by which a thread reaches its next stable block from a level of g. For a group
// it is the start of the round, which makes the group one loop with one entry.
func (e *emitter) entry(g *group, level int) string {
	n := e.levels.next(g, level)
	if to := e.begins(n); to != nil && (to != g || level != g.first) {
		return e.round(to)
	}
	return e.stable(n)
}

// exitID is the number of the region's exit.
const exitID = 0

// emit writes the region. cuts also makes the labels of all targets, which stableBlock needs. The
// edges of the entry block are rewritten too, although it is not in the region.
func (e *emitter) emit() error {
	e.collect()
	e.assign(nil)
	if err := e.cuts(); err != nil {
		return err
	}
	for b := range e.w.f.Blocks {
		if id := ir.BlockID(b); e.r.in.has(id) || id == e.r.entry {
			if err := e.leave(id); err != nil {
				return err
			}
		}
	}
	for n := 1; n <= e.top; n++ {
		e.stableBlock(n)
	}
	return nil
}

// collect finds the targets. A target is needed behind each cut, and at each block that some edge
// enters from another level. Edges within one level stay as they are and need none.
func (e *emitter) collect() {
	seen := map[target]bool{}
	add := func(t target) {
		if !seen[t] {
			seen[t] = true
			e.targets = append(e.targets, t)
		}
	}
	for _, b := range e.w.rpo {
		if !e.r.in.has(b) && b != e.r.entry {
			continue
		}
		if e.r.in.has(b) {
			for i := range e.r.cuts[b] {
				add(target{b, i + 1})
			}
		}
		for _, s := range e.w.f.Block(b).Succs {
			if s != e.r.exit && !e.direct(b, s) {
				add(target{block: s})
			}
		}
	}
}

// assign numbers the targets of a group; those of an inner group are consecutive. So two
// comparisons decide whether a thread is still in a group (stableBlock).
func (e *emitter) assign(g *group) {
	if e.ids == nil {
		e.ids = map[target]int{}
	}
	low := len(e.ids) + 1
	for _, t := range e.targets {
		if e.of[t.block] == g {
			e.ids[t] = len(e.ids) + 1
		}
	}
	for _, c := range e.groups {
		if c.parent == g {
			e.assign(c)
		}
	}
	if g != nil {
		g.low, g.high = low, len(e.ids)
	}
}

// level returns the level at which a target runs.
func (e *emitter) level(t target) int {
	if t.cut > 0 {
		return e.after[t.block][t.cut-1]
	}
	return e.start[t.block]
}

// label returns the label of a target, and inserts one if there is none.
func (e *emitter) label(t target) (string, error) {
	if s, ok := e.labels[t]; ok {
		return s, nil
	}
	b := e.w.f.Block(t.block)
	name := fmt.Sprintf("$%slabel%d_%d", e.t.prefix, e.number, e.ids[t])
	if t.cut == 0 {
		if at, ok := e.t.labels[b.Label]; ok {
			if at.nested {
				return "", unsupported(firstOf(b),
					"the repair needs a label inside a { } block, which no branch from outside can reach")
			}
			name = b.Label
		} else {
			off, err := e.t.point(Point{Block: t.block}, true)
			if err != nil {
				return "", err
			}
			e.t.insert(off, name+":\n\t", entering)
		}
	}
	if e.labels == nil {
		e.labels = map[target]string{}
	}
	e.labels[t] = name
	return name, nil
}

// cuts inserts the jump to the stable block at each cut.
func (e *emitter) cuts() error {
	for _, t := range e.targets {
		name, err := e.label(t)
		if err != nil {
			return err
		}
		if t.cut == 0 {
			continue
		}
		c := e.r.cuts[t.block][t.cut-1]
		before := e.start[t.block]
		if t.cut > 1 {
			before = e.after[t.block][t.cut-2]
		}
		jump := fmt.Sprintf("%s%s:", e.jump("", e.ids[t], e.entry(e.of[t.block], before)), name)
		if c.barrier == nil {
			if err := e.t.put(Point{t.block, c.index}, jump, true); err != nil {
				return err
			}
			continue
		}
		s, ok := e.t.at(c.barrier)
		if !ok {
			return unsupported(c.barrier, "the position of this barrier in the PTX text is unknown")
		}
		e.t.replace(s.insert, s.end, jump)
	}
	return nil
}

// jump returns the text that takes a thread to a stable block; guard is "@p " or empty.
func (e *emitter) jump(guard string, id int, to string) string {
	return fmt.Sprintf("%smov.u32 \t%s, %d;\n\t%sbra \t%s;\n", guard, e.next(), id, guard, to)
}

func guardText(f *ir.Func, in *ir.Instr) string {
	if in.Guard == ir.NoReg {
		return ""
	}
	not := ""
	if in.Neg {
		not = "!"
	}
	return "@" + not + f.Regs[in.Guard].Name + " "
}

// leave rewrites the edges from a block to another level. A block without successors that is not an
// exit is a trap: it ends the kernel, so no thread waits for another. A block that falls through
// has the jump inserted behind it; a branch is replaced by a write of the register and a jump under
// the same guard.
func (e *emitter) leave(u ir.BlockID) error {
	b := e.w.f.Block(u)
	if !e.w.leaves[u] && len(b.Succs) == 0 {
		return nil // a trap
	}
	to := e.entry(e.of[u], e.end[u])
	id := func(v ir.BlockID) int {
		if v == ir.NoBlock || v == e.r.exit {
			return exitID
		}
		return e.ids[target{block: v}]
	}
	fall := func(v ir.BlockID) error {
		if e.direct(u, v) {
			return nil
		}
		off, err := e.t.point(Point{u, len(b.Instrs)}, false)
		if err != nil {
			return err
		}
		e.t.insert(off, "\n\t"+strings.TrimSuffix(e.jump("", id(v), to), "\n"), leaving)
		return nil
	}
	in := b.Terminator()
	if in == nil {
		return fall(b.Succs[0])
	}
	s, ok := e.t.at(in)
	if !ok {
		return unsupported(in, "the position of this instruction in the PTX text is unknown")
	}
	guard := guardText(e.w.f, in)
	switch in.Action() {
	case isa.ActBranch:
		if !e.direct(u, b.Succs[0]) {
			e.t.replace(s.start, s.end, strings.TrimSuffix(e.jump(guard, id(b.Succs[0]), to), "\n"))
		}
		if guard != "" {
			return fall(b.Succs[1])
		}
	case isa.ActReturn, isa.ActExit:
		if !e.direct(u, ir.NoBlock) {
			e.t.replace(s.start, s.end, strings.TrimSuffix(e.jump(guard, exitID, to), "\n"))
		}
		if guard != "" {
			return fall(b.Succs[0])
		}
	default:
		if slices.ContainsFunc(b.Succs, func(v ir.BlockID) bool { return !e.direct(u, v) }) {
			return unsupported(in, "%s bypasses a barrier that all threads must reach", in.Text())
		}
	}
	return nil
}
