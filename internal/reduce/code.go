package reduce

import (
	"strings"

	"heddle/internal/ptx"
	"heddle/internal/source"
)

// blocks are the runs of statements from one label, or from the statement behind a branch, to the
// next. With the label of a block go the branches to it.
func blocks(c *Candidate) []edit {
	var out []edit
	for _, f := range c.functions() {
		jumps := c.branches(f)
		var now edit
		flush := func() {
			if len(now.changes) > 0 {
				out = append(out, now)
			}
			now = edit{}
		}
		for s := range f.Body.Stmts() {
			switch s.Kind() {
			case ptx.StmtLabel:
				flush()
				now.changes = append(now.changes, c.cut(s.Span()))
				now.changes = append(now.changes, jumps[s.Label()]...)
			case ptx.StmtInst:
				now.changes = append(now.changes, c.cut(s.Span()))
				if endsBlock(s.Inst()) {
					flush()
				}
			case ptx.StmtNode:
				if b, ok := s.Node().(*ptx.Block); ok {
					now.changes = append(now.changes, c.cut(b.Span()))
				}
			}
		}
		flush()
	}
	return out
}

// endsBlock reports whether the instruction after in may not follow it.
func endsBlock(in ptx.Inst) bool {
	switch in.Opcode() {
	case "bra", "brx", "ret", "exit", "trap":
		return true
	}
	return false
}

// branches returns, for each label, the changes that remove the branches to it.
func (c *Candidate) branches(f *ptx.Func) map[string][]change {
	out := map[string][]change{}
	for _, in := range c.instructions(f) {
		if target, ok := target(in); ok {
			out[target] = append(out[target], c.cut(in.Span()))
		}
	}
	return out
}

// target returns the label of a branch to one place.
func target(in ptx.Inst) (string, bool) {
	if in.Opcode() != "bra" || in.Operands().Len() != 1 {
		return "", false
	}
	return in.Operands().At(0).Name(), true
}

// loops are the branches back to an earlier label. Without it, the body is executed once.
func loops(c *Candidate) []edit {
	var out []edit
	for _, f := range c.functions() {
		seen := map[string]bool{}
		for s := range statements(f.Body) {
			switch s.Kind() {
			case ptx.StmtLabel:
				seen[s.Label()] = true
			case ptx.StmtInst:
				if to, ok := target(s.Inst()); ok && seen[to] {
					out = append(out, edit{changes: []change{c.cut(s.Span())}})
				}
			}
		}
	}
	return out
}

// instructions are all instructions.
func instructions(c *Candidate) []edit {
	var out []edit
	for _, f := range c.functions() {
		for _, in := range c.instructions(f) {
			out = append(out, edit{changes: []change{c.cut(in.Span())}})
		}
	}
	return out
}

// scopes are the nested blocks: their contents remain, and their braces go.
func scopes(c *Candidate) []edit {
	var out []edit
	for _, f := range c.functions() {
		for s := range statements(f.Body) {
			if s.Kind() != ptx.StmtNode {
				continue
			}
			if b, ok := s.Node().(*ptx.Block); ok {
				start, end := c.at(b.Span())
				out = append(out, edit{changes: []change{{start: start, end: start + 1},
					{start: end - 1, end: end}}})
			}
		}
	}
	return out
}

// guards are the guards of instructions: without it, all threads execute the instruction.
func guards(c *Candidate) []edit {
	var out []edit
	for _, f := range c.functions() {
		for _, in := range c.instructions(f) {
			if g, ok := in.Guard(); ok {
				span := source.Span{Start: g.Span.Start, End: in.OpSpan().Start}
				out = append(out, edit{changes: []change{c.replace(span, "")}})
			}
		}
	}
	return out
}

// labels are those that no statement names.
func labels(c *Candidate) []edit {
	var out []edit
	for _, f := range c.functions() {
		used := uses(f)
		for s := range statements(f.Body) {
			if s.Kind() == ptx.StmtLabel && !used[s.Label()] {
				out = append(out, edit{changes: []change{c.cut(s.Span())}})
			}
		}
	}
	return out
}

// uses are the names in the operands of instructions and in the directives of a function.
func uses(f *ptx.Func) map[string]bool {
	used := map[string]bool{}
	add := func(o ptx.Operand) {
		if o.Kind() == ptx.Name || o.Kind() == ptx.Range {
			used[o.Name()] = true
		}
	}
	for s := range statements(f.Body) {
		switch s.Kind() {
		case ptx.StmtInst:
			if g, ok := s.Inst().Guard(); ok {
				used[g.Name] = true
			}
			for _, o := range s.Inst().Operands().All() {
				each(o, add)
			}
		case ptx.StmtNode:
			if d, ok := s.Node().(*ptx.Directive); ok {
				for _, o := range d.Args.All() {
					each(o, add)
				}
			}
		}
	}
	return used
}

// each calls f for an operand and its parts.
func each(o ptx.Operand, f func(ptx.Operand)) {
	f(o)
	for _, p := range o.Parts().All() {
		each(p, f)
	}
}

// mentions reports whether an operand or a part of it is the name.
func mentions(l ptx.Operands, name string) bool {
	found := false
	for _, o := range l.All() {
		each(o, func(o ptx.Operand) { found = found || o.Kind() == ptx.Name && o.Name() == name })
	}
	return found
}

// spells reports whether an opcode has one of some modifiers.
func spells(in ptx.Inst, mods ...string) bool {
	for _, m := range mods {
		if strings.Contains(in.Text()+".", "."+m+".") {
			return true
		}
	}
	return false
}
