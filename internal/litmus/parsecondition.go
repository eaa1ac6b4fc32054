package litmus

import "strconv"

// condition reads what follows the program.
func (r *reader) condition() {
	if r.accept("locations") {
		r.observed()
	}
	c := &r.test.Condition
	switch pos := r.tok.pos; {
	case r.accept("forall"):
		c.Quantifier = Forall
	case r.accept("exists"):
		c.Quantifier = Exists
	case r.accept("~") || r.accept("not"):
		r.expect("exists")
		c.Quantifier = NotExists
	case r.tok.text == "filter" || r.tok.text == "final":
		r.unsupported(pos, "a condition with %q", r.tok.text)
	default:
		r.fail(pos, "expected exists, ~exists or forall, found %v", r.tok)
	}
	c.Expr = r.or(0)
	r.accept(";")
	if r.tok.kind != end {
		r.fail(r.tok.pos, "expected the end of the condition, found %v", r.tok)
	}
}

// observed reads what else belongs to a final state: locations [x; P0:r0;].
func (r *reader) observed() {
	r.expect("[")
	for !r.accept("]") {
		if r.accept(";") {
			continue
		}
		r.test.Observed = append(r.test.Observed, r.term())
	}
}

// maxDepth bounds the nesting of a condition.
const maxDepth = 200

// or reads a disjunction.
func (r *reader) or(depth int) Expr {
	return r.list(depth, `\/`, true, func() Expr {
		return r.list(depth, `/\`, false,
			func() Expr { return r.not(depth) })
	})
}

// list reads operands between operators.
func (r *reader) list(depth int, op string, or bool, operand func() Expr) Expr {
	if depth > maxDepth {
		r.fail(r.tok.pos, "the condition is nested more than %d levels deep", maxDepth)
	}
	l := &List{Or: or, Of: []Expr{operand()}}
	for r.accept(op) {
		l.Of = append(l.Of, operand())
	}
	if len(l.Of) == 1 {
		return l.Of[0]
	}
	return l
}

// not reads a negation, a parenthesis or a comparison.
func (r *reader) not(depth int) Expr {
	if depth > maxDepth {
		r.fail(r.tok.pos, "the condition is nested more than %d levels deep", maxDepth)
	}
	switch {
	case r.accept("~") || r.accept("not"):
		return &Not{r.not(depth + 1)}
	case r.accept("("):
		x := r.or(depth + 1)
		r.expect(")")
		return x
	}
	c := &Compare{A: r.side()}
	pos := r.tok.pos
	switch r.advance().text {
	case "=", "==":
		c.Relation = Eq
	case "!=":
		c.Relation = Ne
	case "<":
		c.Relation = Lt
	case "<=":
		c.Relation = Le
	case ">":
		c.Relation = Gt
	case ">=":
		c.Relation = Ge
	default:
		r.fail(pos, "expected a comparison, such as =")
	}
	c.B = r.side()
	return c
}

// side reads one side of a comparison.
func (r *reader) side() Side {
	if r.tok.text == "-" || r.tok.kind == number && !r.colonFollows() {
		return Side{Value: r.integer("a value")}
	}
	return Side{IsTerm: true, Term: r.term()}
}

// term reads a register of a thread, or a location.
func (r *reader) term() Term {
	if r.tok.kind == number || r.tok.kind == word && r.colonFollows() {
		th := r.thread()
		r.expect(":")
		t := r.name("a register")
		reg := r.register(th, t)
		return Term{Thread: th, Reg: reg, Name: threadName(r.ids[th]) + ":" + t.text}
	}
	bracket := r.accept("[")
	t := r.name("a register or a location")
	if isRegister(t.text) {
		r.fail(t.pos, "register %s needs a thread, such as P0:%s", t.text, t.text)
	}
	if _, known := r.locs[t.text]; !known && r.aliases[t.text] == "" {
		r.fail(t.pos, "there is no location %s", t.text)
	}
	loc := r.location(t)
	if bracket {
		r.expect("]")
	}
	return Term{Thread: -1, Loc: loc, Name: t.text}
}

// threadName returns the name of a thread in reports.
func threadName(id int) string { return "P" + strconv.Itoa(id) }
