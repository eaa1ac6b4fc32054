package exec

import (
	"bytes"
	"maps"
	"slices"

	"heddle/internal/host"
	"heddle/internal/ir"
)

// Separate compilation (nvcc -rdc=true): a module may use functions and variables that another one
// defines. They are joined by name when a kernel of the module is first needed, when all modules of
// the program have been loaded, or when the host asks for a variable, which may hold the address of
// a function.

// link gives what a module declares and does not define to the module, from the others that define
// it, and does the same for these, which it returns. What no module defines stays undefined: a
// launch that reaches a call of it is unsupported.
func (s *session) link(m *module) (others []*ir.Module) {
	group := []*module{m}
	for i := 0; i < len(group); i++ {
		for _, other := range s.needs(group[i]) {
			if !slices.Contains(group, other) {
				group = append(group, other)
				others = append(others, other.driver.IR)
			}
		}
	}
	for _, g := range group {
		for _, v := range g.driver.IR.Vars {
			if addr, other := s.defined(g, v); other != nil {
				m.linked[v] = addr
			}
		}
		maps.Copy(m.linked, g.vars)
	}
	return others
}

// needs joins the calls and addresses of functions of a module with the functions of others, and
// returns those others, and those that define its variables.
func (s *session) needs(m *module) []*module {
	var out []*module
	resolve := func(f **ir.Func) {
		if *f == nil || len((*f).Blocks) > 0 {
			return
		}
		if def, other := s.definition(m, *f); def != nil {
			*f = def
			out = append(out, other)
		}
	}
	for _, f := range m.driver.IR.Funcs {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				resolve(&in.Callee)
				for i := range in.Src {
					resolve(&in.Src[i].Func)
				}
			}
		}
	}
	for _, v := range m.driver.IR.Vars {
		s.readdress(m, v, func() {
			for i := range v.Relocs {
				resolve(&v.Relocs[i].Func)
			}
		})
		if _, other := s.defined(m, v); other != nil {
			out = append(out, other)
		}
	}
	// A call that was joined before names a function of another module.
	for _, f := range m.driver.IR.Funcs {
		for _, g := range ir.Callees(f) {
			if other := s.moduleOf(g.Module); other != nil && other != m {
				out = append(out, other)
			}
		}
	}
	return out
}

// readdress calls join, which changes what the functions are whose addresses a variable has at
// first. Where it still holds the address of a declaration, it gets that of the definition.
func (s *session) readdress(m *module, v *ir.Var, join func()) {
	addr, ok := m.vars[v]
	before, err := s.memory.InitVar(v, m.vars)
	join()
	after, failed := s.memory.InitVar(v, m.vars)
	if !ok || err != nil || failed != nil || bytes.Equal(before, after) {
		return
	}
	held := s.shared.Bytes[addr-host.ArenaBase:][:len(after)]
	for _, r := range v.Relocs {
		if from, to := r.Offset, r.Offset+r.Size; bytes.Equal(held[from:to], before[from:to]) {
			copy(held[from:to], after[from:to])
		}
	}
}

// definition returns the function of another module that f declares, with the same parameters.
func (s *session) definition(m *module, f *ir.Func) (*ir.Func, *module) {
	for _, id := range slices.Sorted(maps.Keys(s.modules)) {
		other := s.modules[id]
		if other == m || other.driver == nil {
			continue
		}
		for _, g := range other.driver.IR.Funcs {
			if g.Name == f.Name && len(g.Blocks) > 0 && len(g.Params) == len(f.Params) &&
				len(g.Results) == len(f.Results) {
				return g, other
			}
		}
	}
	return nil, nil
}

// moduleOf returns the module of the program with some IR; nil if there is none.
func (s *session) moduleOf(m *ir.Module) *module {
	for _, id := range slices.Sorted(maps.Keys(s.modules)) {
		if other := s.modules[id]; other.driver != nil && other.driver.IR == m {
			return other
		}
	}
	return nil
}

// defined returns the address of the variable of another module that v declares, and that module.
func (s *session) defined(m *module, v *ir.Var) (addr uint64, other *module) {
	if _, own := m.vars[v]; own || !v.Extern {
		return 0, nil
	}
	for _, id := range slices.Sorted(maps.Keys(s.modules)) {
		for o, at := range s.modules[id].vars {
			if o.Name == v.Name && !o.Extern {
				return at, s.modules[id]
			}
		}
	}
	return 0, nil
}
