package between

import (
	"slices"
	"strings"

	"heddle/internal/syntax"
)

// values decides for each part which statements before it are executed again, and which variables
// are saved. A statement is executed again only if it computes values and nothing else, from values
// that are computed again themselves; what else a part needs is saved.
func (s *splitter) values() error {
	for i, part := range s.parts {
		v := &needs{s: s, part: part, saved: map[string]bool{}}
		if err := v.find(); err != nil {
			return err
		}
		part.keep = v.keep
		for _, id := range v.order {
			sv, err := s.savedVar(id, part)
			if err != nil {
				return err
			}
			part.load = append(part.load, sv)
			for _, before := range s.parts[:i] {
				if before.defines(id) && !slices.Contains(before.store, sv) {
					before.store = append(before.store, sv)
				}
			}
		}
	}
	return nil
}

// defines reports whether a part declares or sets a variable.
func (p *part) defines(id string) bool {
	return slices.ContainsFunc(p.steps, func(st syntax.Step) bool { return defines(&st, id) })
}

func defines(st *syntax.Step, id string) bool {
	return slices.Contains(st.Sets, id) ||
		slices.ContainsFunc(st.Declares, func(v syntax.Local) bool { return v.ID == id })
}

// savedVar returns the buffer of a variable, or why it has none.
func (s *splitter) savedVar(id string, part *part) (*savedVar, error) {
	if sv := s.saved[id]; sv != nil {
		return sv, nil
	}
	v, local := s.vars[id]
	at := part.steps[0].From
	if !local {
		for _, p := range s.params {
			if p.ID() == id {
				v = syntax.Local{ID: id, Name: p.Name, Type: p.Type}
			}
		}
	}
	switch {
	case s.loop != nil && !part.inLoop && s.setInLoop(id):
		return nil, s.refuse(at, "%s is computed in the loop and used behind it", v.Name)
	case v.Shared:
		return nil, s.refuse(at, "the contents of %s in shared memory are used on both sides", v.Name)
	case strings.Contains(v.Type, "["):
		return nil, s.refuse(at, "the array %s of each thread is used on both sides", v.Name)
	case strings.ContainsAny(v.Type, "*&(") || v.Type == "" || v.Type == "auto":
		return nil, s.refuse(at, "%s is used on both sides, and its type cannot be saved", v.Name)
	}
	v.Type = strings.TrimPrefix(v.Type, "const ")
	sv := &savedVar{Local: v, param: !local, name: s.p.Fresh(v.Name + "_saved")}
	s.saved[id], s.order = sv, append(s.order, sv)
	return sv, nil
}

// setInLoop reports whether the loop of the host defines a variable.
func (s *splitter) setInLoop(id string) bool {
	return slices.ContainsFunc(s.loop.Body, func(st syntax.Step) bool { return defines(&st, id) })
}

// needs is what one part needs of what was executed before it.
type needs struct {
	s     *splitter
	part  *part
	keep  []syntax.Step
	saved map[string]bool
	order []string
}

// find repeats with more saved variables until every statement that is kept needs none of them.
func (n *needs) find() error {
	for {
		again, err := n.attempt()
		if err != nil || !again {
			return err
		}
	}
}

// attempt follows what the part needs back through the statements before it. It reports whether a
// variable has to be saved that was not known to be.
func (n *needs) attempt() (again bool, err error) {
	need := map[string]bool{}
	for i := range n.part.steps {
		n.used(&n.part.steps[i], need)
	}
	own := map[string]bool{}
	for _, st := range n.part.steps {
		for _, v := range st.Declares {
			own[v.ID] = true
		}
	}
	if l := n.s.loop; l != nil {
		own[l.Loop.Var.ID] = true
	}
	n.keep = nil
	for _, st := range slices.Backward(n.part.before) {
		needed := st.Returns
		for id := range need {
			needed = needed || !own[id] && !n.saved[id] && defines(&st, id)
		}
		if !needed {
			continue
		}
		if err := n.contents(&st, need, own); err != nil {
			return false, err
		}
		if st.Returns && (st.Effect != "" || st.Loop != nil) {
			return false, n.s.refuse(st.From,
				"a thread may return in a statement that cannot be executed again: %s", st.Effect)
		}
		if st.Effect != "" || n.uses(&st, n.saved) {
			if st.Returns {
				return false, n.s.refuse(st.From, "whether a thread returns depends on a value that "+
					"cannot be computed again")
			}
			return n.save(&st, need, own), nil
		}
		n.used(&st, need)
		n.keep = append(n.keep, st)
	}
	slices.Reverse(n.keep)
	return false, nil
}

// contents refuses a variable whose value is more than what its statements assign: an array or
// shared memory that was used, or one that something else may change.
func (n *needs) contents(st *syntax.Step, need, own map[string]bool) error {
	for _, v := range st.Declares {
		if !need[v.ID] || own[v.ID] {
			continue
		}
		array := v.Shared || strings.Contains(v.Type, "[") && !strings.HasPrefix(v.Type, "const ")
		for _, b := range n.part.before {
			switch {
			case slices.Contains(b.Escapes, v.ID):
				return n.s.refuse(b.From, "a pointer or a reference to %s may exist behind this", v.Name)
			case array && b.From != st.From && slices.Contains(b.Uses, v.ID):
				what := "the array of each thread"
				if v.Shared {
					what = "the contents in shared memory"
				}
				return n.s.refuse(b.From, "%s is used on both sides: %s would be lost", v.Name, what)
			}
		}
	}
	return nil
}

// used adds the variables that a statement uses or sets.
func (n *needs) used(st *syntax.Step, need map[string]bool) {
	for _, id := range append(slices.Clone(st.Uses), st.Sets...) {
		need[id] = true
	}
	for i := range st.Body {
		n.used(&st.Body[i], need)
	}
}

func (n *needs) uses(st *syntax.Step, vars map[string]bool) bool {
	return slices.ContainsFunc(append(slices.Clone(st.Uses), st.Sets...),
		func(id string) bool { return vars[id] })
}

// save marks the needed variables that a statement defines as saved.
func (n *needs) save(st *syntax.Step, need, own map[string]bool) bool {
	for id := range need {
		if !own[id] && !n.saved[id] && defines(st, id) {
			n.saved[id] = true
			n.order = append(n.order, id)
		}
	}
	slices.Sort(n.order) // the order of a map is none; ids of clang ascend with the text
	return true
}
