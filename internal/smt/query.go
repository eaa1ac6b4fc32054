package smt

import (
	"crypto/sha256"
	"encoding/binary"
	"math/bits"
	"slices"
	"strconv"
)

// Query is a conjunction in a Context of its own, so it can be solved while terms are built in the
// original Context. Variables and functions have canonical names, in the order of their occurrence,
// so that queries which differ only in names are equal.
type Query struct {
	Context *Context // owns the terms of the query only
	Asserts []Term   // the conjuncts
	Digest  Digest   // of the content, without names
	vars    []string // original names of variables, by canonical number
	funcs   []string // original names of functions, by canonical number
}

// Digest identifies the content of a query: queries with equal digests differ at most in names
// (unless SHA-256 collides). Queries that differ in the order of commutative arguments usually, but
// not always, have equal digests.
type Digest [sha256.Size]byte

// keyVersion must change when the encoding or the meaning of keys changes, since stores keep
// digests.
const keyVersion = "heddle-query-1\n"

// Query copies a conjunction into a new Context.
func (c *Context) Query(asserts []Term) *Query {
	e := exporter{
		from: c, q: &Query{Context: New()}, shape: map[Term]uint64{},
		term: map[Term]Term{False: False, True: True},
		vars: map[string]uint32{}, funcs: map[uint32]uint32{},
	}
	e.key = append(e.key, keyVersion...)
	asserts = slices.Clone(asserts)
	e.sort(asserts, nil)
	for _, a := range asserts {
		e.copy(a)
		e.q.Asserts = append(e.q.Asserts, e.term[a])
		e.key = binary.AppendUvarint(e.key, uint64(e.term[a]))
	}
	e.q.Digest = sha256.Sum256(e.key)
	return e.q
}

// exporter copies a conjunction and builds its key, the input of the digest.
type exporter struct {
	from  *Context
	q     *Query
	shape map[Term]uint64 // hashes of terms, independent of names
	term  map[Term]Term
	vars  map[string]uint32 // canonical number by name
	funcs map[uint32]uint32
	key   []byte
}

// shapeOf hashes a term independently of names and of the order of commutative arguments.
func (e *exporter) shapeOf(t Term) uint64 {
	if h, done := e.shape[t]; done {
		return h
	}
	n := &e.from.nodes[t]
	h := mix(uint64(n.op)<<8|uint64(n.width), n.val)
	switch n.op {
	case OpVar:
		f := e.from.facts[t]
		h = mix(mix(mix(h, f.zeros), f.ones), mix(f.ulo, f.uhi))
	case OpExtract:
		h = mix(h, uint64(n.aux))
	}
	var sum uint64
	for i, a := range n.args {
		x := e.shapeOf(a)
		if n.coef != nil {
			x = mix(x, n.coef[i])
		}
		if commutes(n.op) {
			sum += mix(x, x)
		} else {
			sum = mix(sum, x)
		}
	}
	h = mix(h, sum)
	e.shape[t] = h
	return h
}

// mix combines two hashes; the order matters.
func mix(a, b uint64) uint64 {
	h := (a ^ bits.RotateLeft64(b, 32)) * 0x9e3779b97f4a7c15
	return (h ^ h>>29) * 0xbf58476d1ce4e5b9
}

// commutes reports whether the order of the arguments does not matter, so that the hash of a shape
// must not depend on it.
func commutes(op Op) bool {
	switch op {
	case OpAnd, OpOr, OpEq, OpSum, OpMul, OpBvAnd, OpBvOr, OpBvXor:
		return true
	}
	return false
}

// sort orders arguments by their shape, so that the order in which terms were built does not
// matter. It permutes coef alike. Terms with equal shapes keep their order.
func (e *exporter) sort(args []Term, coef []uint64) {
	for i := range args { // insertion sort: the lists are short and nearly sorted
		for j := i; j > 0 && e.shapeOf(args[j]) < e.shapeOf(args[j-1]); j-- {
			args[j], args[j-1] = args[j-1], args[j]
			if coef != nil {
				coef[j], coef[j-1] = coef[j-1], coef[j]
			}
		}
	}
}

// copy adds a term without simplifying it again.
func (e *exporter) copy(t Term) {
	if _, done := e.term[t]; done {
		return
	}
	to := e.q.Context
	n := e.from.nodes[t]
	n.args = to.keepArgs(n.args)
	n.coef = to.keepCoef(n.coef)
	if commutes(n.op) {
		e.sort(n.args, n.coef)
	}
	for i, a := range n.args {
		e.copy(a)
		n.args[i] = e.term[a]
	}
	// The node is entered as it is: simplifying it again could yield another term, since the
	// simplifier does not reach a fixpoint, and would make the digest depend on the history.
	f := e.from.facts[t]
	switch n.op {
	case OpVar:
		e.term[t] = e.variable(n, f)
		return
	case OpApp:
		n.aux = e.function(n.aux)
	}
	e.node(&n)
	id := Term(len(to.nodes))
	to.nodes, to.facts = append(to.nodes, n), append(to.facts, f)
	if to.used++; 2*to.used > len(to.table) {
		to.grow()
	} else {
		to.enter(id)
	}
	e.term[t] = id
}

// node appends the content of a term to the key.
func (e *exporter) node(n *node) {
	// Counts precede lists, so that different terms cannot have the same encoding.
	e.key = append(e.key, byte(n.op), n.width)
	e.key = binary.AppendUvarint(e.key, uint64(n.aux))
	e.key = binary.AppendUvarint(e.key, n.val)
	e.key = binary.AppendUvarint(e.key, uint64(len(n.args)))
	for _, a := range n.args {
		e.key = binary.AppendUvarint(e.key, uint64(a))
	}
	for _, k := range n.coef {
		e.key = binary.AppendUvarint(e.key, k)
	}
}

// variable copies a variable with its assumed range.
func (e *exporter) variable(n node, f facts) Term {
	name := e.from.vars[n.aux].name
	number, known := e.vars[name]
	if !known {
		number = uint32(len(e.q.vars))
		e.vars[name] = number
		e.q.vars = append(e.q.vars, name)
	}
	n.aux = number
	e.node(&n)
	// The range is an assumption of the query, so it is part of the content.
	for _, v := range []uint64{f.zeros, f.ones, f.ulo, f.uhi, uint64(f.slo), uint64(f.shi)} {
		e.key = binary.AppendUvarint(e.key, v)
	}
	return e.q.Context.refined("x"+strconv.Itoa(int(number)), n.width, f)
}

// function returns the number of the canonical copy of a function.
func (e *exporter) function(f uint32) uint32 {
	number, known := e.funcs[f]
	if !known {
		number = uint32(len(e.q.funcs))
		e.funcs[f] = number
		fn := e.from.funcs[f]
		e.q.funcs = append(e.q.funcs, fn.Name)
		fn.Name = "f" + strconv.Itoa(int(number))
		e.q.Context.funcs = append(e.q.Context.funcs, fn)
		e.q.Context.fnName[fn.Name] = number
	}
	return number
}

// Original translates a model of the query to the original names, so that it can be evaluated on
// the terms that the caller knows. It returns nil for nil.
func (q *Query) Original(m *Model) *Model {
	if m == nil {
		return nil
	}
	r := &Model{Vars: make(map[string]uint64, len(m.Vars)),
		Funcs: make(map[string]map[string]uint64, len(m.Funcs))}
	for i, name := range q.vars {
		if v, ok := m.Vars["x"+strconv.Itoa(i)]; ok {
			r.Vars[name] = v
		}
	}
	for i, name := range q.funcs {
		if t, ok := m.Funcs["f"+strconv.Itoa(i)]; ok {
			r.Funcs[name] = t
		}
	}
	return r
}

// Canonical translates a model with original names to the names of the query: the inverse of
// Original.
func (q *Query) Canonical(m *Model) *Model {
	r := &Model{Vars: make(map[string]uint64, len(m.Vars)),
		Funcs: make(map[string]map[string]uint64, len(m.Funcs))}
	for i, name := range q.vars {
		if v, ok := m.Vars[name]; ok {
			r.Vars["x"+strconv.Itoa(i)] = v
		}
	}
	for i, name := range q.funcs {
		if t, ok := m.Funcs[name]; ok {
			r.Funcs["f"+strconv.Itoa(i)] = t
		}
	}
	return r
}

// Var returns the canonical name of an original variable, and whether the query contains it.
func (q *Query) Var(name string) (string, bool) {
	i := slices.Index(q.vars, name)
	return "x" + strconv.Itoa(i), i >= 0
}
