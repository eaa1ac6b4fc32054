package syntax

import "strings"

// A jump that skips a barrier which all threads must reach becomes an assignment to guard
// variables: they are false once a thread no longer executes the following statements.

// scopeKind distinguishes what a jump can leave: break and continue end at a loop body, return at
// the function.
type scopeKind uint8

const (
	function scopeKind = iota
	branch
	loopBody
)

// scope is a list of statements that is executed under a guard variable.
type scope struct {
	kind   scopeKind
	vars   []string // of a loop: its own, and that of the iteration if a continue needs one
	parent *scope
}

// cleared returns the variables that a jump sets to false.
func (w *rewriter) cleared(s *scope, kind string) []string {
	var out []string
	for ; s != nil; s = s.parent {
		switch {
		case s.kind == loopBody && kind == "ContinueStmt":
			return append(out, s.vars[len(s.vars)-1])
		case s.kind == loopBody && kind == "BreakStmt":
			return append(out, s.vars...)
		case s.kind == function:
			return append(out, w.active)
		}
		out = append(out, s.vars...)
	}
	return out
}

// jumps finds the jumps that become assignments. loops holds the loops around n, innermost last,
// and after the text ranges of the statements that follow n in its blocks.
func (w *rewriter) jumps(n *node, loops []*node, after [][2]int) {
	switch n.kind {
	case "LambdaExpr":
		return
	case "GotoStmt", "IndirectGotoStmt", "LabelStmt":
		if w.overBarrier(n, loops) {
			w.fail(n.begin.offset, "a goto or its label prevents all threads from reaching a barrier")
		}
	case "ReturnStmt":
		if !w.overBarrier(n, loops) {
			return
		}
		// If all threads reach the following code, no thread returns before the others.
		for _, r := range after {
			if w.uniform(r[0], r[1]) {
				return
			}
		}
		if len(n.kids) > 0 {
			w.fail(n.begin.offset, "a return with a value precedes a barrier that all threads must reach")
		}
		w.converted[n] = true
	case "BreakStmt", "ContinueStmt":
		if len(loops) > 0 && loops[len(loops)-1] != nil && w.lockStep(loops[len(loops)-1]) {
			w.converted[n] = true
		}
	}
	switch n.kind {
	case "ForStmt", "WhileStmt", "DoStmt", "CXXForRangeStmt":
		loops = append(loops[:len(loops):len(loops)], n)
	case "SwitchStmt":
		loops = append(loops[:len(loops):len(loops)], nil)
	}
	if n.kind != "CompoundStmt" {
		for _, kid := range n.kids {
			w.jumps(kid, loops, after)
		}
		return
	}
	for _, kid := range n.kids {
		rest := after
		if e, ok := w.b.extent(kid); ok && n.end.offset > e.to {
			rest = append(after[:len(after):len(after)], [2]int{e.to, n.end.offset})
		}
		w.jumps(kid, loops, rest)
	}
}

// overBarrier reports whether a jump may skip a barrier that must be made reachable for all
// threads.
func (w *rewriter) overBarrier(n *node, loops []*node) bool {
	for _, h := range w.hot {
		if h.uniform {
			continue
		}
		// A place before the jump is skipped too if a loop around both leads back to it.
		if h.at > n.begin.offset {
			return true
		}
		for _, l := range loops {
			if l != nil && w.contains(l, h.node) {
				return true
			}
		}
	}
	return false
}

// lockStep reports whether a loop contains a barrier that not all threads reach in the original
// text. All threads then iterate together until none remains in the loop.
func (w *rewriter) lockStep(n *node) bool {
	if !w.isHot(n) {
		return false
	}
	from, to := w.span(lastBody(n))
	return (!w.uniform(from, to) || w.returns(n)) && !w.evenLoop(n)
}

// lastBody returns the last statement list of a statement.
func lastBody(n *node) *node {
	list := bodies(n)
	return list[len(list)-1]
}

// returns reports whether n contains a return that becomes an assignment.
func (w *rewriter) returns(n *node) bool {
	return w.any(n, func(k *node) bool { return k.kind == "ReturnStmt" && w.converted[k] })
}

// jumpsIn reports whether a jump in n becomes an assignment.
func (w *rewriter) jumpsIn(n *node) bool {
	return w.any(n, func(k *node) bool { return w.converted[k] })
}

// tail reports whether no statement of n follows a jump of n that becomes an assignment.
func (w *rewriter) tail(n *node) bool {
	switch {
	case w.converted[n] || !w.jumpsIn(n):
		return true
	case n.kind == "CompoundStmt":
		for _, kid := range n.kids[:len(n.kids)-1] {
			if w.jumpsIn(kid) {
				return false
			}
		}
		return w.tail(n.kids[len(n.kids)-1])
	case n.kind == "IfStmt":
		for _, sub := range bodies(n) {
			if !w.tail(sub) {
				return false
			}
		}
		return true
	}
	return false
}

// returnsRepeat reports whether the jumps that become assignments are all returns at the start of
// an if in the body of the function, with conditions that have the same value in all of it. Such a
// condition is written again where it is needed, and no variable is.
func (w *rewriter) returnsRepeat(body *node) bool {
	found, long := 0, 0
	for _, it := range w.listOf(body) {
		j := w.onlyJump(it.node)
		if j == nil {
			continue
		}
		if j.kind != "ReturnStmt" || len(it.kids) != 2 || it.merged || !w.repeats(it.kids[0], body) ||
			w.b.text.comment(it.from, it.to) || !w.b.text.last(it.to) ||
			strings.TrimSpace(string(w.b.text[it.to:w.b.text.lineEnd(it.to)])) != "" {
			return false
		}
		found++
		long += it.kids[0].end.offset - it.kids[0].begin.offset
	}
	return found > 0 && found == len(w.converted) && long <= longestGuard
}

// onlyJump returns the jump if n is an if without else whose body is a single jump, and nil
// otherwise.
func (w *rewriter) onlyJump(n *node) *node {
	if n.kind != "IfStmt" || n.hasElse {
		return nil
	}
	body := n.kids[len(n.kids)-1]
	for body.kind == "CompoundStmt" && len(body.kids) == 1 {
		body = body.kids[0]
	}
	if !w.converted[body] {
		return nil
	}
	return body
}
