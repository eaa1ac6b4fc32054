package smt

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// The tests below compare terms over few variables with small ranges on every assignment. Sums of
// the same variables, next to the ends of ranges and of widths, are what the random expressions of
// TestRewrites rarely are, and what indices of arrays mostly are.

// small generates expressions over three variables.
type small struct {
	t    *rapid.T
	w    int
	vars []genVar
}

func newSmall(t *rapid.T) *small {
	s := &small{t: t, w: rapid.SampledFrom([]int{4, 8, 32, 64}).Draw(t, "width")}
	for i := range 3 {
		m := ones(s.w)
		lo := rapid.SampledFrom([]uint64{0, 0, 0, 1, 3, m>>1 - 1, m >> 1, m>>1 + 1, m - 3,
			m}).Draw(t, "lo")
		hi := lo + min(m-lo, uint64(rapid.IntRange(0, 3).Draw(t, "span")))
		s.vars = append(s.vars, genVar{name: fmt.Sprintf("v%d", i), w: s.w, lo: lo, hi: hi, ranged: true})
	}
	return s
}

func (s *small) pick(n int) int { return rapid.IntRange(0, n-1).Draw(s.t, "pick") }

func (s *small) constant(v int64) *expr {
	return &expr{op: "const", w: s.w, k: uint64(v) & ones(s.w)}
}

func (s *small) two(op string, w int, a, b *expr) *expr {
	return &expr{op: op, w: w, args: []*expr{a, b}}
}

// A sum is a sum of the variables with coefficients.
type sum struct {
	c int64
	k []int64
}

func (s *small) sum() sum {
	x := sum{c: int64(s.pick(17) - 8)}
	for range s.vars {
		x.k = append(x.k, int64(s.pick(13)-6))
	}
	return x
}

// near returns a sum that differs from x by a constant and in one coefficient, by little.
func (s *small) near(x sum) sum {
	x.k = slices.Clone(x.k)
	x.k[s.pick(len(x.k))] += int64(s.pick(5) - 2)
	x.c += int64(s.pick(9) - 4)
	return x
}

// write returns the expression of a sum.
func (s *small) write(x sum) *expr {
	e := s.constant(x.c)
	for i, v := range s.vars {
		if x.k[i] != 0 {
			y := &expr{op: "var", w: s.w, name: v.name}
			e = s.two("add", s.w, e, s.two("mul", s.w, s.constant(x.k[i]), y))
		}
	}
	return e
}

// bounds returns the least and the largest value of a sum over the integers, whose variables are
// read as signed numbers.
func (s *small) bounds(x sum) (lo, hi int64) {
	lo, hi = x.c, x.c
	for i, v := range s.vars {
		a, b := x.k[i]*toSigned(v.lo, s.w), x.k[i]*toSigned(v.hi, s.w)
		lo, hi = lo+min(a, b), hi+max(a, b)
	}
	return lo, hi
}

// linear is a sum with small coefficients.
func (s *small) linear() *expr { return s.write(s.sum()) }

// number is a sum, or an operation on sums.
func (s *small) number() *expr {
	switch a := s.linear(); s.pick(9) {
	case 0:
		return s.two([]string{"shl", "lshr", "ashr"}[s.pick(3)], s.w, a, s.constant(int64(s.pick(4))))
	case 1:
		return s.two([]string{"udiv", "urem", "sdiv", "srem"}[s.pick(4)], s.w, a,
			s.constant(int64(s.pick(9)-2)))
	case 2:
		return &expr{op: "ite", w: s.w, args: []*expr{s.comparison(), a, s.linear()}}
	case 3:
		return s.two([]string{"bvand", "bvor", "bvxor", "mul", "udiv", "srem"}[s.pick(6)], s.w, a,
			s.linear())
	case 4:
		low := &expr{op: "extract", w: s.w / 2, args: []*expr{a}}
		return &expr{op: []string{"zext", "sext"}[s.pick(2)], w: s.w, args: []*expr{low}}
	default:
		return a
	}
}

var comparisons = []string{"eq", "ult", "ule", "slt", "sle"}

// comparison compares two sums.
func (s *small) comparison() *expr {
	a := s.sum()
	b := s.near(a)
	if s.pick(2) == 0 {
		b = s.sum()
	}
	return s.two(comparisons[s.pick(len(comparisons))], 0, s.write(a), s.write(b))
}

// formula compares two numbers, or combines comparisons.
func (s *small) formula() *expr {
	e := s.two(comparisons[s.pick(len(comparisons))], 0, s.number(), s.number())
	switch s.pick(6) {
	case 0:
		return &expr{op: "not", args: []*expr{e}}
	case 1:
		return s.two("and", 0, e, s.comparison())
	case 2:
		return s.two("or", 0, e, s.comparison())
	}
	return e
}

// declared maps the variables by name.
func (s *small) declared() map[string]genVar {
	m := map[string]genVar{}
	for _, v := range s.vars {
		m[v.name] = v
	}
	return m
}

// each calls do with every assignment.
func (s *small) each(do func(map[string]uint64)) {
	m := map[string]uint64{}
	var next func(int)
	next = func(i int) {
		if i == len(s.vars) {
			do(m)
			return
		}
		for k := range s.vars[i].hi - s.vars[i].lo + 1 {
			m[s.vars[i].name] = s.vars[i].lo + k
			next(i + 1)
		}
	}
	next(0)
}

// TestSmallRanges: a term has the value of its expression on every assignment, and its facts hold.
func TestSmallRanges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSmall(t)
		e := s.formula()
		if s.pick(3) == 0 {
			e = s.number()
		}
		c := New()
		term := e.build(c, s.declared())
		s.each(func(m map[string]uint64) {
			ev := c.Evaluate(&Model{Vars: m})
			if got, want := ev.Value(term), e.eval(m); got != want {
				t.Fatalf("%v is %d under %v, but %s is %d", e, want, m, c.String(term), got)
			}
			c.Visit([]Term{term}, func(x Term) { checkFacts(t, c, x, ev.Value(x)) })
		})
	})
}

// TestSmallOrder: a comparison of two sums that do not wrap is decided without a solver if it has
// one value on all assignments. Most queries about indices end there.
func TestSmallOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := newSmall(t)
		if s.w == 4 {
			return // constants of sums wrap
		}
		for i := range s.vars { // small, and with several values: a constant sum must not wrap either
			s.vars[i].lo, s.vars[i].hi = uint64(s.pick(3)), uint64(3+s.pick(2))
		}
		a := s.sum()
		b := s.near(a)
		op := []string{"ult", "slt"}[s.pick(2)]
		least, most := int64(0), int64(ones(s.w-1)) // a signed number that is not negative
		if op == "slt" {
			least = -most - 1
		}
		crosses := false // two sums that are both negative are compared as large numbers
		for _, x := range []sum{a, b} {
			lo, hi := s.bounds(x)
			if lo < least || hi > most {
				return
			}
			crosses = crosses || hi >= 0
		}
		if !crosses {
			return
		}
		e := s.two(op, 0, s.write(a), s.write(b))
		c := New()
		term := e.build(c, s.declared())
		seen := [2]bool{}
		s.each(func(m map[string]uint64) { seen[e.eval(m)] = true })
		if seen[0] != seen[1] && term != Bool(seen[1]) {
			t.Fatalf("%v of %+v is always %v, and left as %s", e, s.vars, seen[1], c.String(term))
		}
	})
}

// TestSmallDivision: a multiple of a power of two and a rest, shifted and divided by the power. The
// rest may be as large as the power, and negative.
func TestSmallDivision(t *testing.T) {
	for n := range 3 {
		g := int64(1) << n
		for c0 := -g - 1; c0 <= g+1; c0++ {
			for most := range uint64(2*g + 2) {
				s := &small{w: 16, vars: []genVar{{name: "a", w: 16, hi: 3, ranged: true},
					{name: "b", w: 16, hi: most, ranged: true}}}
				x := s.write(sum{c: c0, k: []int64{g, 1}})
				for op, by := range map[string]int64{"ashr": int64(n), "lshr": int64(n), "udiv": g,
					"urem": g, "sdiv": g, "srem": g} {
					e := s.two(op, 16, x, s.constant(by))
					c := New()
					term := e.build(c, s.declared())
					s.each(func(m map[string]uint64) {
						if got, want := c.Evaluate(&Model{Vars: m}).Value(term), e.eval(m); got != want {
							t.Fatalf("%v is %d under %v, but %s is %d", e, want, m, c.String(term), got)
						}
					})
				}
			}
		}
	}
}

// TestReduceSmall: what Reduce leaves has a model if and only if the query has one, and a model of
// it becomes one of the query.
func TestReduceSmall(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &small{t: t, w: 3}
		for i := range 2 {
			v := genVar{name: fmt.Sprintf("v%d", i), w: 3, hi: 7}
			if s.pick(3) == 0 {
				v.ranged, v.lo = true, uint64(s.pick(8))
				v.hi = v.lo + uint64(s.pick(int(8-v.lo)))
			}
			s.vars = append(s.vars, v)
		}
		c := New()
		var asserts []Term
		for range 1 + s.pick(4) {
			e := s.comparison()
			v := func() *expr { return &expr{op: "var", w: 3, name: s.vars[s.pick(2)].name} }
			switch s.pick(6) {
			case 0:
				e = &expr{op: "not", args: []*expr{e}}
			case 1:
				e = s.two("or", 0, e, s.comparison())
			case 2: // a bound of one variable
				e = s.two(comparisons[s.pick(len(comparisons))], 0, v(), s.constant(int64(s.pick(8))))
			case 3:
				e = s.two(comparisons[s.pick(len(comparisons))], 0, s.constant(int64(s.pick(8))), v())
			case 4: // an equation that is solved for a variable
				e = s.two("eq", 0, v(), s.two("add", 3, v(), s.constant(int64(s.pick(8)))))
			}
			asserts = append(asserts, e.build(c, s.declared()))
		}
		if wrong := s.reduced(c, asserts); wrong != "" {
			t.Fatal(wrong)
		}
	})
}

// reduced compares what Reduce leaves of a query with the query, on all assignments, and says what
// is wrong.
func (s *small) reduced(c *Context, asserts []Term) (wrong string) {
	r := c.Reduce(asserts)
	text := c.String(c.And(asserts...))
	models, left := 0, 0
	s.each(func(m map[string]uint64) {
		if c.Satisfies(&Model{Vars: m}, asserts) {
			models++
		}
		if r.Status != Unknown {
			return
		}
		done := &Model{Vars: map[string]uint64{}} // of what a solver is asked for
		c.Visit(r.Asserts, func(x Term) {
			if c.Op(x) == OpVar {
				done.Vars[c.Name(x)] = m[c.Name(x)]
			}
		})
		if c.Satisfies(done, append(c.Ranges(r.Asserts), r.Asserts...)) {
			left++
			if r.Complete(done); !c.Satisfies(done, asserts) {
				wrong = fmt.Sprintf("%v, completed to %v, is no model of %s", m, done.Vars, text)
			}
		}
	})
	switch {
	case wrong != "":
	case r.Status == Unsat && models > 0:
		return fmt.Sprintf("unsat, but %s has %d models", text, models)
	case r.Status == Sat && !c.Satisfies(r.Model, asserts):
		return fmt.Sprintf("%v is no model of %s", r.Model.Vars, text)
	case r.Status == Unknown && (models > 0) != (left > 0):
		return fmt.Sprintf("%s has %d models, and %s has %d", text, models,
			c.String(c.And(r.Asserts...)), left)
	}
	return wrong
}

// TestReduceBounds: a variable that an equation replaces keeps its bounds, signed or not.
func TestReduceBounds(t *testing.T) {
	s := &small{w: 3, vars: []genVar{{name: "v0", w: 3, hi: 7}, {name: "v1", w: 3, hi: 7}}}
	for lo := range uint64(8) {
		for hi := range uint64(8) {
			for k := range uint64(4) {
				for _, signed := range []bool{false, true} {
					c := New()
					x, y := c.Var("v0", 3), c.Var("v1", 3)
					le := c.Ule
					if signed {
						le = c.Sle
					}
					wrong := s.reduced(c, []Term{le(c.Const(lo, 3), x), le(x, c.Const(hi, 3)),
						c.Eq(x, c.AddConst(c.Mul(y, y), k))})
					if wrong != "" {
						t.Errorf("signed %v, from %d to %d: %s", signed, lo, hi, wrong)
					}
				}
			}
		}
	}
}

// TestReduceEquations: equations that are solved for a variable are decided without a solver,
// unless the value of the variable leaves its range.
func TestReduceEquations(t *testing.T) {
	for _, x := range []struct {
		lo, hi uint64
		want   Status
	}{{0, 255, Sat}, {1, 1, Sat}, {5, 9, Unknown}} {
		c := New()
		v, w := c.VarIn("x", 8, x.lo, x.hi), c.Var("y", 8)
		r := c.Reduce([]Term{c.Eq(v, c.AddConst(w, 1))})
		if r.Status != x.want {
			t.Errorf("x from %d to %d: %v, want %v", x.lo, x.hi, r.Status, x.want)
		}
	}
}

// TestSameTerm: expressions that mean the same are one term, so that nothing remains to be proved.
func TestSameTerm(t *testing.T) {
	c := New()
	p, q := c.BoolVar("p"), c.BoolVar("q")
	x, y, z := c.Var("x", 32), c.Var("y", 32), c.Var("z", 32)
	small := c.VarIn("small", 32, 0, 1000)
	two := c.Const(2, 32)
	four := c.MulConst(small, 4)
	for what, pair := range map[string][2]Term{
		"a condition in the first branch":  {c.Ite(p, c.Ite(p, x, y), z), c.Ite(p, x, z)},
		"a condition in the second branch": {c.Ite(p, x, c.Ite(p, y, z)), c.Ite(p, x, z)},
		"one value in two branches":        {c.Ite(p, c.Ite(q, x, y), y), c.Ite(c.And(p, q), x, y)},
		"one value in two branches, else":  {c.Ite(p, x, c.Ite(q, x, y)), c.Ite(c.Or(p, q), x, y)},
		"a negated condition":              {c.Ite(c.Not(p), x, y), c.Ite(p, y, x)},
		"sums in another order":            {c.Add(c.Add(x, y), z), c.Add(z, c.Add(y, x))},
		"a mask of one operand, twice": {c.BvAnd(c.BvAnd(x, c.Const(255, 32)), c.Const(15, 32)),
			c.BvAnd(x, c.Const(15, 32))},
		"low bits by a mask": {c.BvAnd(x, c.Const(255, 32)), c.ZExt(c.Extract(x, 0, 8), 32)},
		"a branch that no comparison reaches": {c.Ult(c.Ite(p, small, c.Const(5000, 32)),
			c.Const(2000, 32)), p},
		"a branch on the right that no comparison reaches": {c.Ult(c.Const(2000, 32),
			c.Ite(p, small, c.Const(5000, 32))), c.Not(p)},
		"a branch that is never equal": {c.Eq(c.Ite(p, small, x), c.Const(5000, 32)),
			c.And(c.Not(p), c.Eq(x, c.Const(5000, 32)))},
		"the other branch is never equal": {c.Eq(c.Ite(p, x, small), c.Const(5000, 32)),
			c.And(p, c.Eq(x, c.Const(5000, 32)))},
		"an equation that no multiple of 2 solves": {c.Eq(c.Add(c.MulConst(small, 2),
			c.MulConst(c.VarIn("s2", 32, 0, 9), 4)), c.Const(3, 32)), False},
		"digits of the largest radix": {c.Eq(c.Add(c.MulConst(c.VarIn("bit", 8, 0, 1), 64),
			c.VarIn("rest", 8, 0, 63)), c.Const(69, 8)), c.And(c.Eq(c.VarIn("bit", 8, 0, 1),
			c.Const(1, 8)), c.Eq(c.VarIn("rest", 8, 0, 63), c.Const(5, 8)))},
		"sums of sums": {c.Add(c.Add(x, y), c.Add(z, small)), c.Add(c.Add(c.Add(x, y), z), small)},
		"a branch that a comparison decides": {c.Ult(c.Ite(p, small, x), c.Const(2000, 32)),
			c.Or(p, c.Ult(x, c.Const(2000, 32)))},
		"the other branch, decided": {c.Ult(c.Ite(p, x, small), c.Const(2000, 32)),
			c.Or(c.Not(p), c.Ult(x, c.Const(2000, 32)))},
		"the upper bits of a variable that is extended": {c.Extract(c.ZExt(c.Var("h", 16), 32), 4, 12),
			c.Extract(c.Var("h", 16), 4, 12)},
		"an equation of multiples": {c.Eq(c.Add(c.MulConst(small, 2), c.MulConst(c.VarIn("s2", 32, 0, 9),
			4)), c.Const(6, 32)), c.Eq(c.Add(small, c.MulConst(c.VarIn("s2", 32, 0, 9), 2)),
			c.Const(3, 32))},
		"the upper bits of a variable that is extended by its sign": {
			c.Extract(c.SExt(c.Var("h", 16), 32), 4, 12), c.Extract(c.Var("h", 16), 4, 12)},
		"the upper bits of an extension": {c.Extract(c.ZExt(c.Extract(x, 0, 16), 32), 4, 12),
			c.Extract(x, 4, 12)},
		"what cancels": {c.Sub(c.Add(x, y), x), y},
		"a negative multiple shifted right": {c.AShr(c.Neg(four), two),
			c.Neg(small)},
		"a multiple and a rest shifted right": {c.AShr(c.AddConst(c.Neg(c.MulConst(small, 8)), 3),
			c.Const(3, 32)), c.Neg(small)},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %s, want %s", what, c.String(pair[0]), c.String(pair[1]))
		}
	}
}

// TestLimit: a context is over its limit when a term is made that it has no room for.
func TestLimit(t *testing.T) {
	c := New()
	n := c.Len()
	c.Limit(n + 2)
	c.Var("x", 32)
	if c.Var("y", 32); c.Exceeded() {
		t.Error("two terms exceed a limit of two")
	}
	if c.Var("z", 32); !c.Exceeded() {
		t.Error("three terms do not exceed a limit of two")
	}
}

// TestLongSums: two long sums are added as terms, so that the work stays linear, and a long and a
// short one by their summands, so that what cancels does.
func TestLongSums(t *testing.T) {
	c := New()
	var long, other, x Term
	for i := range maxMonomials {
		x = c.Var(fmt.Sprintf("a%d", i), 32)
		y := c.Var(fmt.Sprintf("b%d", i), 32)
		if i == 0 {
			long, other = x, y
			continue
		}
		long, other = c.Add(long, x), c.Add(other, y)
	}
	without := c.Sub(long, x)
	if n := len(c.Args(without)); n != maxMonomials-1 {
		t.Errorf("a long sum less one of its summands has %d, want %d", n, maxMonomials-1)
	}
	if c.Add(without, x) != long || c.Add(x, without) != long {
		t.Error("a summand that was taken from a long sum does not return to it")
	}
	if n := len(c.Args(c.Add(long, other))); n != 2 {
		t.Errorf("the sum of two long sums has %d summands, want 2", n)
	}
	if c.Sub(long, long) != c.Const(0, 32) {
		t.Error("a long sum less itself is not 0")
	}
}

// TestScript: a script declares each variable and function once, and defines each term that is used
// several times before its uses, so that its length is linear in the number of terms.
func TestScript(t *testing.T) {
	c := New()
	x, y := c.Var("x", 32), c.Var("y", 32)
	f := c.Declare("f", 32, 32)
	for range 60 {
		x = c.UDiv(x, c.BvXor(c.Apply(f, x), y))
	}
	text := string(c.Script([]Term{c.Ult(x, y), c.Eq(x, c.Apply(f, y))}))
	for _, name := range []string{"x", "y", "f"} {
		if n := strings.Count(text, "(declare-fun |"+name+"| "); n != 1 {
			t.Errorf("%d declarations of %s", n, name)
		}
	}
	if len(text) > 60*200 {
		t.Errorf("%d bytes for 180 terms", len(text))
	}
	defined := map[string]bool{}
	for line := range strings.Lines(text) {
		body := strings.NewReplacer("(", " ", ")", " ").Replace(line)
		words := strings.Fields(body)
		from := 1
		if words[0] == "define-fun" {
			from = 2
		}
		for _, w := range words[from:] {
			if strings.HasPrefix(w, "t") && w != "true" && !defined[w] {
				t.Fatalf("%s is used before its definition in %s", w, line)
			}
		}
		if words[0] == "define-fun" {
			defined[words[1]] = true
		}
	}
	if n := strings.Count(text, "(|f| "); n < 60 || strings.Contains(text, "(|y| ") {
		t.Errorf("%d applications of f, want 60 at least, and none of y", n)
	}
	if n := strings.Count(text, "(bvudiv "); n != 60 {
		t.Errorf("%d divisions, want 60", n)
	}
	if len(defined) < 60 {
		t.Errorf("%d definitions, want one for each step", len(defined))
	}
}
