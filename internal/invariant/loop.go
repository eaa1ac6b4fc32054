package invariant

import (
	"fmt"
	"strings"

	"heddle/internal/lockstep/thread"
	"heddle/internal/smt"
)

// holder begins the names of placeholders.
const holder = "@"

// value is something that a loop changes. Rules see it as a placeholder.
type value struct {
	*thread.Slot
	v     smt.Term // what stands for it in candidates
	now   smt.Term // At over placeholders; v, if it has no closed form
	then  smt.Term // Next over placeholders
	width int
}

// loop is a loop, and what is proposed for it.
type loop struct {
	*thread.Loop
	c          *smt.Context
	axioms     *thread.Axioms
	index      int
	k          smt.Term // placeholder of the iteration
	values     []*value
	holders    *smt.Substitution // symbols by placeholders
	candidates []*Candidate
	seen       map[smt.Term]bool
	rule       *Rule
}

// maxCandidates bounds what is proposed for a loop.
const maxCandidates = 160

// propose makes the placeholders of a loop and applies all rules to it. Values with a closed form
// need no placeholder: candidates state them by their forms.
func propose(th *thread.Thread, index int) *loop {
	l := &loop{Loop: &th.Loops[index], c: th.Context, axioms: th.Axioms, index: index,
		seen: map[smt.Term]bool{}}
	l.k = l.c.Var(fmt.Sprintf("%s%d.k", holder, index), 32)
	l.holders = l.c.Substitute()
	l.holders.Replace(l.Counter, l.k)
	for i := range l.Slots {
		s := &l.Slots[i]
		x := &value{Slot: s, width: l.c.Width(s.At)}
		if !s.Closed {
			name := fmt.Sprintf("%s%d.%s", holder, index, s.Name)
			if x.width == 0 {
				x.v = l.c.BoolVar(name)
			} else {
				x.v = l.c.Var(name, x.width)
			}
			l.holders.Replace(s.Symbol, x.v)
		}
		l.values = append(l.values, x)
	}
	for _, x := range l.values {
		x.now, x.then = l.holders.Apply(x.At), l.holders.Apply(x.Next)
	}
	for i := range Rules {
		l.rule = &Rules[i]
		l.rule.propose(l)
	}
	return l
}

// add proposes a formula over placeholders.
func (l *loop) add(f smt.Term) {
	if f == smt.True || f == smt.False || l.seen[f] || len(l.candidates) == maxCandidates ||
		l.late(f) {
		return
	}
	l.seen[f] = true
	l.candidates = append(l.candidates, &Candidate{Rule: l.rule, Loop: l.index, formula: f,
		at: l.at().Apply(f)})
}

// late reports whether a formula mentions results of inner loops in the iteration that is about to
// begin. These are later than the visit of the header, so induction over time cannot use them.
func (l *loop) late(f smt.Term) bool {
	found := false
	l.c.Visit([]smt.Term{f}, func(t smt.Term) {
		if !found && l.axioms.About(t) && !l.axioms.AtHeader(t, l.Loop) {
			l.c.Visit(l.c.Args(t), func(u smt.Term) { found = found || u == l.k })
		}
	})
	return found
}

// at puts the values of iteration Counter into a candidate.
func (l *loop) at() *smt.Substitution {
	return l.put(l.Counter, func(x *value) smt.Term { return x.Symbol })
}

// first puts in the values at the entry.
func (l *loop) first() *smt.Substitution {
	return l.put(l.c.Const(0, 32), func(x *value) smt.Term { return x.Init })
}

// next puts in the values after iteration Counter.
func (l *loop) next() *smt.Substitution {
	return l.put(l.c.AddConst(l.Counter, 1), func(x *value) smt.Term { return x.Next })
}

// put replaces the placeholders of the iteration and of the values without a closed form.
func (l *loop) put(k smt.Term, of func(*value) smt.Term) *smt.Substitution {
	s := l.c.Substitute()
	s.Replace(l.k, k)
	for _, x := range l.values {
		if !x.Closed {
			s.Replace(x.v, of(x))
		}
	}
	return s
}

// open returns the registers of w bits without a closed form; if w is 0, those of any width except
// predicates.
func (l *loop) open(w int) []*value {
	var out []*value
	for _, x := range l.values {
		if !x.Closed && !x.Tag && x.width >= 8 && (w == 0 || x.width == w) {
			out = append(out, x)
		}
	}
	return out
}

// comparisons returns the comparisons that decide whether the loop continues, and what an iteration
// does to its registers, over placeholders: pairs of terms of which at least one changes with the
// iteration, and neither is loaded.
func (l *loop) comparisons() (out []comparison) {
	roots := append([]smt.Term{l.Back}, l.Exits...)
	for _, x := range l.values {
		if !x.Closed {
			roots = append(roots, x.Next)
		}
	}
	l.c.Visit(roots, func(t smt.Term) {
		op := l.c.Op(t)
		if op != smt.OpUlt && op != smt.OpSlt && op != smt.OpEq {
			return
		}
		a, b := l.holders.Apply(l.c.Args(t)[0]), l.holders.Apply(l.c.Args(t)[1])
		if l.c.Width(a) != 0 && (l.moves(a) || l.moves(b)) && !l.loads(a, b) {
			out = append(out, comparison{op, a, b})
		}
	})
	return out
}

// loads reports whether the terms depend on loads of the iteration, or on other unknown values.
func (l *loop) loads(ts ...smt.Term) bool {
	found := false
	l.c.Visit(ts, func(t smt.Term) { found = found || l.c.Op(t) == smt.OpApp && l.moves(t) })
	return found
}

type comparison struct {
	op   smt.Op
	a, b smt.Term
}

// moves reports whether a term over placeholders may differ between iterations.
func (l *loop) moves(t smt.Term) bool {
	found := false
	l.c.Visit([]smt.Term{t}, func(u smt.Term) {
		found = found || l.c.Op(u) == smt.OpVar && strings.HasPrefix(l.c.Name(u), holder)
	})
	return found
}

// mentions reports whether t contains v.
func (l *loop) mentions(t, v smt.Term) bool {
	found := false
	l.c.Visit([]smt.Term{t}, func(u smt.Term) { found = found || u == v })
	return found
}

// Text formats a candidate, with the names of registers.
func (s *Set) Text(c *Candidate) string {
	text := s.th.Context.String(c.formula)
	text = strings.ReplaceAll(text, fmt.Sprintf("%s%d.", holder, c.Loop), "")
	return strings.ReplaceAll(text, "|", "")
}
