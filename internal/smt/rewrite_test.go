package smt

import (
	"context"
	"fmt"
	"math/bits"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// expr is an expression as written with an evaluator of its own: the oracle for the simplifying
// constructors. Width 0 is Boolean.
type expr struct {
	op   string
	w    int
	k    uint64 // constant, low bit of an extract
	name string
	args []*expr
}

// genVar is a variable of a random expression, with its range.
type genVar struct {
	name   string
	w      int
	lo, hi uint64
	ranged bool
}

func ones(w int) uint64 { return ^uint64(0) >> (64 - w) }

func toSigned(v uint64, w int) int64 { return int64(v<<(64-w)) >> (64 - w) }

func b2i(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// eval evaluates by SMT-LIB's theory of fixed-size bit-vectors, independently of Evaluator.
func (e *expr) eval(m map[string]uint64) uint64 {
	a := make([]uint64, len(e.args))
	for i, x := range e.args {
		a[i] = x.eval(m)
	}
	w := e.w
	if len(e.args) > 0 && e.args[0].w > 0 && w == 0 {
		w = e.args[0].w
	}
	if r, ok := e.truth(a, w); ok {
		return r
	}
	var r uint64
	switch e.op {
	case "const":
		r = e.k
	case "var":
		r = m[e.name]
	case "ite":
		r = a[2]
		if a[0] == 1 {
			r = a[1]
		}
	case "extract":
		r = a[0] >> e.k
	case "zext":
		r = a[0]
	case "sext":
		r = uint64(toSigned(a[0], e.args[0].w))
	case "concat":
		r = a[0]<<e.args[1].w | a[1]
	case "udiv", "urem", "sdiv", "srem":
		r = quotient(e.op, a[0], a[1], w)
	default:
		r = e.arithmetic(a, w)
	}
	if e.w > 0 {
		r &= ones(e.w)
	}
	return r
}

// truth evaluates Boolean operators and comparisons of operands of width w; ok is false for others.
func (e *expr) truth(a []uint64, w int) (r uint64, ok bool) {
	switch e.op {
	case "not":
		return 1 - a[0], true
	case "and":
		return a[0] & a[1], true
	case "or":
		return a[0] | a[1], true
	case "implies":
		return (1 - a[0]) | a[1], true
	case "eq":
		return b2i(a[0] == a[1]), true
	case "ult":
		return b2i(a[0] < a[1]), true
	case "ule":
		return b2i(a[0] <= a[1]), true
	case "slt":
		return b2i(toSigned(a[0], w) < toSigned(a[1], w)), true
	case "sle":
		return b2i(toSigned(a[0], w) <= toSigned(a[1], w)), true
	}
	return 0, false
}

// arithmetic evaluates sums, products, bitwise operators and shifts, without the final mask.
func (e *expr) arithmetic(a []uint64, w int) (r uint64) {
	switch e.op {
	case "add":
		r = a[0] + a[1]
	case "sub":
		r = a[0] - a[1]
	case "neg":
		r = -a[0]
	case "mul":
		r = a[0] * a[1]
	case "bvnot":
		r = ^a[0]
	case "popc":
		r = uint64(bits.OnesCount64(a[0]))
	case "bvand":
		r = a[0] & a[1]
	case "bvor":
		r = a[0] | a[1]
	case "bvxor":
		r = a[0] ^ a[1]
	case "shl":
		if a[1] < uint64(w) {
			r = a[0] << a[1]
		}
	case "lshr":
		if a[1] < uint64(w) {
			r = a[0] >> a[1]
		}
	case "ashr":
		r = uint64(toSigned(a[0], w) >> min(a[1], 63))
	default:
		panic(e.op)
	}
	return r
}

// quotient evaluates divisions and remainders, without the final mask.
func quotient(op string, a, b uint64, w int) uint64 {
	x, y := toSigned(a, w), toSigned(b, w)
	switch {
	case op == "udiv" && b == 0:
		return ones(w)
	case op == "udiv":
		return a / b
	case b == 0 && op != "sdiv": // both remainders
		return a
	case op == "urem":
		return a % b
	case op == "sdiv" && y == 0 && x < 0:
		return 1
	case op == "sdiv" && y == 0:
		return ones(w)
	case op == "sdiv" && y == -1: // x / -1 can overflow in Go's int64
		return uint64(-x)
	case op == "sdiv":
		return uint64(x / y)
	case y == -1:
		return 0
	}
	return uint64(x % y)
}

func (e *expr) build(c *Context, vars map[string]genVar) Term {
	a := make([]Term, len(e.args))
	for i, x := range e.args {
		a[i] = x.build(c, vars)
	}
	two := map[string]func(a, b Term) Term{
		"eq": c.Eq, "ult": c.Ult, "ule": c.Ule, "slt": c.Slt, "sle": c.Sle, "add": c.Add, "sub": c.Sub,
		"mul":  c.Mul,
		"udiv": c.UDiv, "urem": c.URem, "sdiv": c.SDiv, "srem": c.SRem, "bvand": c.BvAnd, "bvor": c.BvOr,
		"bvxor": c.BvXor,
		"shl":   c.Shl, "lshr": c.LShr, "ashr": c.AShr, "implies": c.Implies, "concat": c.Concat,
	}
	if f, ok := two[e.op]; ok {
		return f(a[0], a[1])
	}
	switch e.op {
	case "const":
		if e.w == 0 {
			return Bool(e.k == 1)
		}
		return c.Const(e.k, e.w)
	case "var":
		v := vars[e.name]
		switch {
		case v.w == 0:
			return c.BoolVar(v.name)
		case v.ranged:
			return c.VarIn(v.name, v.w, v.lo, v.hi)
		}
		return c.Var(v.name, v.w)
	case "not":
		return c.Not(a[0])
	case "and":
		return c.And(a...)
	case "or":
		return c.Or(a...)
	case "ite":
		return c.Ite(a[0], a[1], a[2])
	case "neg":
		return c.Neg(a[0])
	case "bvnot":
		return c.BvNot(a[0])
	case "popc":
		return c.Popc(a[0])
	case "extract":
		return c.Extract(a[0], int(e.k), e.w)
	case "zext":
		return c.ZExt(a[0], e.w)
	case "sext":
		return c.SExt(a[0], e.w)
	}
	panic(e.op)
}

func (e *expr) String() string {
	s := []string{e.op}
	switch e.op {
	case "const":
		return fmt.Sprintf("%d:%d", e.k, e.w)
	case "var":
		return e.name
	case "extract", "zext", "sext":
		s[0] += fmt.Sprintf("[%d:%d]", e.k, e.w)
	}
	for _, a := range e.args {
		s = append(s, a.String())
	}
	return "(" + strings.Join(s, " ") + ")"
}

// generator generates random expressions and declares their variables.
type generator struct {
	t    *rapid.T
	vars map[string]genVar
}

var widths = []int{1, 2, 3, 8, 16, 32, 33, 63, 64}

func (g *generator) pick(label string, n int) int { return rapid.IntRange(0, n-1).Draw(g.t, label) }

func (g *generator) corner(w int) uint64 {
	m := ones(w)
	c := []uint64{0, 1, 2, 3, 4, 8, 16, 31, 32, 63, 64, 255, m, m - 1, m >> 1, m>>1 + 1,
		1 << (w - 1) >> 1}
	if g.pick("corner", 4) == 0 {
		return rapid.Uint64().Draw(g.t, "any") & m
	}
	return c[g.pick("which", len(c))] & m
}

func (g *generator) leaf(w int) *expr {
	if g.pick("leaf", 3) == 0 {
		if w == 0 {
			return &expr{op: "const", k: uint64(g.pick("bool", 2))}
		}
		return &expr{op: "const", w: w, k: g.corner(w)}
	}
	name := fmt.Sprintf("v%d_%d", w, g.pick("var", 3))
	if _, ok := g.vars[name]; !ok {
		v := genVar{name: name, w: w}
		if w > 0 {
			v.hi = ones(w)
			if g.pick("ranged", 3) > 0 {
				v.ranged = true
				v.lo, v.hi = g.corner(w), g.corner(w)
				if v.lo > v.hi {
					v.lo, v.hi = v.hi, v.lo
				}
			}
		}
		g.vars[name] = v
	}
	return &expr{op: "var", w: w, name: name}
}

func (g *generator) expr(w, depth int) *expr {
	if depth == 0 || g.pick("stop", 6) == 0 {
		return g.leaf(w)
	}
	sub := func(w int) *expr { return g.expr(w, depth-1) }
	if w == 0 {
		ops := []string{"not", "and", "or", "ite", "implies", "eq", "ult", "ule", "slt", "sle", "eq",
			"ult"}
		op := ops[g.pick("op", len(ops))]
		switch op {
		case "not":
			return &expr{op: op, args: []*expr{sub(0)}}
		case "and", "or", "implies":
			return &expr{op: op, args: []*expr{sub(0), sub(0)}}
		case "ite":
			return &expr{op: op, args: []*expr{sub(0), sub(0), sub(0)}}
		}
		v := widths[g.pick("w", len(widths))]
		if op == "eq" && g.pick("beq", 6) == 0 {
			v = 0
		}
		return &expr{op: op, args: []*expr{sub(v), sub(v)}}
	}
	ops := []string{"add", "sub", "neg", "mul", "add", "mul", "udiv", "urem", "sdiv", "srem", "bvnot",
		"popc", "bvand", "bvor", "bvxor",
		"shl", "lshr", "ashr", "extract", "zext", "sext", "ite", "ite", "concat", "add", "sub"}
	switch op := ops[g.pick("op", len(ops))]; op {
	case "neg", "bvnot", "popc":
		return &expr{op: op, w: w, args: []*expr{sub(w)}}
	case "ite":
		return &expr{op: op, w: w, args: []*expr{sub(0), sub(w), sub(w)}}
	case "extract":
		for _, v := range widths {
			if v > w && g.pick("wider", 3) == 0 {
				return &expr{op: op, w: w, k: uint64(g.pick("lo", v-w+1)), args: []*expr{sub(v)}}
			}
		}
		return g.leaf(w)
	case "zext", "sext":
		for i := len(widths) - 1; i >= 0; i-- {
			if v := widths[i]; v < w && g.pick("narrower", 2) == 0 {
				return &expr{op: op, w: w, args: []*expr{sub(v)}}
			}
		}
		return g.leaf(w)
	case "concat":
		if w < 2 {
			return g.leaf(w)
		}
		hi := 1 + g.pick("hi", w-1)
		return &expr{op: op, w: w, args: []*expr{sub(hi), sub(w - hi)}}
	default:
		return &expr{op: op, w: w, args: []*expr{sub(w), sub(w)}}
	}
}

// model generates values within the ranges of the variables.
func (g *generator) model() map[string]uint64 {
	m := map[string]uint64{}
	for _, v := range g.sortedVars() {
		switch {
		case v.w == 0:
			m[v.name] = uint64(g.pick("b", 2))
		default:
			x := g.corner(v.w)
			if x < v.lo || x > v.hi {
				x = v.lo
				if span := v.hi - v.lo; span > 0 {
					x += rapid.Uint64Range(0, span).Draw(g.t, "in")
				}
			}
			m[v.name] = x
		}
	}
	return m
}

func (g *generator) sortedVars() []genVar {
	var out []genVar
	for _, w := range append([]int{0}, seq(64)...) {
		for i := range 3 {
			if v, ok := g.vars[fmt.Sprintf("v%d_%d", w, i)]; ok {
				out = append(out, v)
			}
		}
	}
	return out
}

func seq(n int) []int {
	s := make([]int, n)
	for i := range s {
		s[i] = i + 1
	}
	return s
}

// TestRewrites checks that built terms have the value of the expression as written, and that the
// facts of every term hold.
func TestRewrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{t: t, vars: map[string]genVar{}}
		w := 0
		if g.pick("sort", 3) > 0 {
			w = widths[g.pick("width", len(widths))]
		}
		e := g.expr(w, 1+g.pick("depth", 4))
		c := New()
		term := e.build(c, g.vars)
		if c.Width(term) != w {
			t.Fatalf("%v has width %d, not %d", e, c.Width(term), w)
		}
		for range 8 {
			m := g.model()
			ev := c.Evaluate(&Model{Vars: m})
			if got, want := ev.Value(term), e.eval(m); got != want {
				t.Fatalf("%v is %d under %v, but %s is %d", e, want, m, c.String(term), got)
			}
			c.Visit([]Term{term}, func(x Term) { checkFacts(t, c, x, ev.Value(x)) })
		}
	})
}

func checkFacts(t *rapid.T, c *Context, x Term, v uint64) {
	w := c.Width(x)
	if w == 0 {
		return
	}
	lo, hi := c.Unsigned(x)
	slo, shi := c.Signed(x)
	z, o := c.KnownBits(x)
	if s := toSigned(v, w); v < lo || v > hi || s < slo || s > shi || v&z != 0 || ^v&o != 0 {
		t.Fatalf("%s = %d is outside its facts: [%d,%d] [%d,%d] zeros %#x ones %#x", c.String(x), v, lo,
			hi, slo, shi, z, o)
	}
}

// TestReduceKeepsModels checks that a model of the query satisfies the reduced query, that Reduce
// never answers Unsat for a query with a model, and that the model of a Sat satisfies the query.
func TestReduceKeepsModels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := &generator{t: t, vars: map[string]genVar{}}
		var list []*expr
		for range 1 + g.pick("n", 4) {
			list = append(list, g.expr(0, 1+g.pick("depth", 3)))
		}
		m := g.model()
		c := New()
		var asserts []Term
		for _, e := range list {
			x := e.build(c, g.vars)
			if e.eval(m) == 0 {
				x = c.Not(x)
			}
			asserts = append(asserts, x)
		}
		a := c.Decide(context.Background(), asserts)
		switch a.Status {
		case Unsat:
			t.Fatalf("unsat, but %v satisfies %s", m, c.String(c.And(asserts...)))
		case Sat:
			if !c.Satisfies(a.Model, asserts) {
				t.Fatalf("the model %v does not satisfy %s", a.Model.Vars, c.String(c.And(asserts...)))
			}
		}
		r := c.Reduce(asserts)
		if r.Status == Unknown {
			// Variables that were solved keep their values in m, so m must satisfy the rest.
			if !c.Satisfies(&Model{Vars: m}, r.Asserts) {
				t.Fatalf("%v satisfies %s but not %s", m, c.String(c.And(asserts...)),
					c.String(c.And(r.Asserts...)))
			}
		}
	})
}

func TestInverse(t *testing.T) {
	for _, k := range []uint64{1, 3, 5, 7, 255, 1<<63 + 1, ^uint64(0)} {
		if k*inverse(k) != 1 {
			t.Errorf("inverse(%d) = %d", k, inverse(k))
		}
	}
}

// TestExtractShares: a chain of sums in which each term occurs twice has exponentially many paths.
// Its low bits, and the time to find them, grow with the number of terms only.
func TestExtractShares(t *testing.T) {
	c := New()
	a, b := c.Var("a", 64), c.Var("b", 64)
	for range 200 {
		low := c.ZExt(c.Extract(a, 0, 32), 64)
		a, b = c.Add(c.BvOr(c.Shl(a, c.Const(5, 64)), c.LShr(low, c.Const(27, 64))), b), a
	}
	if c.Extract(a, 0, 32); c.Len() > 100_000 {
		t.Errorf("%d terms", c.Len())
	}
}
