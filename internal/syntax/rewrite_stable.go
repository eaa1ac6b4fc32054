package syntax

import (
	"slices"
	"strings"
)

// A condition that has the same value wherever it is evaluated can be written again, in place of a
// variable that holds it. A loop whose head has the same values for all threads needs no vote on
// how often it is executed. Both are decided from the text: what may change a variable in a way
// that the tree does not show, such as a reference to it, counts as a change.

// repeats reports whether a condition has the same value for a thread at every place in the
// regions: it reads parameters, local variables and indices of threads that the regions do not
// change.
func (w *rewriter) repeats(cond *node, regions ...*node) bool {
	return w.pure(cond, func(v *node) bool {
		return w.private(v) && w.declared[v.name] <= 1 && !slices.ContainsFunc(regions,
			func(r *node) bool { return w.changes(r, v.id) })
	}, indices)
}

// indices are the variables and functions of CUDA and OpenCL that never change for a thread, and
// even those of them that are equal for all threads of a block.
var (
	indices = append([]string{"threadIdx", "get_local_id", "get_global_id"}, even...)
	even    = []string{"blockIdx", "blockDim", "gridDim", "warpSize", "get_group_id",
		"get_local_size", "get_global_size", "get_num_groups"}
)

// pure reports whether an expression has no effect and reads nothing but constants, local variables
// that holds accepts, and the given indices.
func (w *rewriter) pure(n *node, holds func(v *node) bool, known []string) bool {
	all := func(kids []*node) bool {
		return !slices.ContainsFunc(kids, func(k *node) bool { return !w.pure(k, holds, known) })
	}
	switch n.kind {
	case "IntegerLiteral", "FloatingLiteral", "CharacterLiteral", "CXXBoolLiteralExpr":
		return true
	case "ParenExpr", "CStyleCastExpr", "CXXStaticCastExpr", "CXXFunctionalCastExpr",
		"ConditionalOperator", "ConstantExpr", "SubstNonTypeTemplateParmExpr":
		return all(n.kids)
	case "BinaryOperator":
		return n.op != "=" && n.op != "," && all(n.kids)
	case "UnaryOperator":
		return strings.Contains("!~-+", n.op) && all(n.kids)
	case "PseudoObjectExpr": // threadIdx.x
		return w.any(n, func(k *node) bool {
			return k.kind == "DeclRefExpr" && slices.Contains(known, k.refers)
		})
	case "CallExpr":
		return w.b.openCL && len(n.kids) == 2 && w.any(n.kids[0], func(k *node) bool {
			return k.kind == "DeclRefExpr" && slices.Contains(known, k.refers)
		}) && all(n.kids[1:])
	case "DeclRefExpr": // a parameter of a template, or a constant of an enumeration
		return w.variable(n.target) == nil
	case "ImplicitCastExpr":
		if n.cast == "LValueToRValue" && len(n.kids) == 1 {
			return w.reads(n.kids[0], holds, known)
		}
		return all(n.kids)
	}
	return false
}

// reads is pure for a variable, or a member of one, of which the value is read.
func (w *rewriter) reads(n *node, holds func(v *node) bool, known []string) bool {
	for n.kind == "ParenExpr" || n.kind == "MemberExpr" {
		if len(n.kids) != 1 {
			return false
		}
		n = n.kids[0]
	}
	if n.kind != "DeclRefExpr" {
		return false
	}
	if v := w.variable(n.target); v != nil {
		return holds(v)
	}
	constant := strings.HasPrefix(n.typ, "const ") && !strings.ContainsAny(n.typ, "*&[")
	return constant && !strings.Contains(n.typ, "volatile") || slices.Contains(known, n.refers)
}

// variable returns the declaration of a variable or a parameter of the function, or nil.
func (w *rewriter) variable(id string) *node {
	if w.locals == nil {
		w.locals = map[string]*node{}
		for _, v := range w.f.decls {
			w.locals[v.id] = v
		}
		w.any(w.f.body, func(n *node) bool {
			if n.kind == "VarDecl" {
				w.locals[n.id] = n
			}
			return false
		})
	}
	return w.locals[id]
}

// private reports whether a variable is that of one thread: it is neither shared nor static, and no
// other name for something else.
func (w *rewriter) private(v *node) bool {
	if strings.ContainsAny(v.typ, "&[") || strings.Contains(v.typ, "volatile") ||
		strings.Contains(v.typ, "__local") || strings.Contains(v.typ, "__global") {
		return false
	}
	if v.kind == "ParmVarDecl" {
		return true
	}
	if !w.b.plain(v.begin) || slices.ContainsFunc(v.kids, func(k *node) bool {
		return isAttr(k.kind)
	}) {
		return false
	}
	first := string(w.b.text[v.begin.offset:w.b.text.skipToken(v.begin.offset)])
	return first != "static" && first != "extern"
}

// changes reports whether code may change a variable: whether it does anything else than read it.
func (w *rewriter) changes(n *node, id string) bool {
	if n.kind == "ImplicitCastExpr" && n.cast == "LValueToRValue" && len(n.kids) == 1 {
		at := n.kids[0]
		for (at.kind == "ParenExpr" || at.kind == "MemberExpr") && len(at.kids) == 1 {
			at = at.kids[0]
		}
		if at.kind == "DeclRefExpr" && at.target == id {
			return false
		}
	}
	return n.target == id || slices.ContainsFunc(n.kids, func(k *node) bool {
		return w.changes(k, id)
	})
}

// evenLoop reports whether all threads that begin a loop execute it equally often, and whether its
// head may be executed by the others: its variables begin and change alike in all threads, and no
// jump leaves it.
func (w *rewriter) evenLoop(n *node) bool {
	if n.kind != "ForStmt" || len(n.kids) != 5 || n.kids[1].kind != "" || n.begin.macro ||
		n.kids[0].kind != "DeclStmt" {
		return false
	}
	init, cond, step, body := n.kids[0], n.kids[2], n.kids[3], n.kids[4]
	own := map[string]bool{}
	for _, v := range init.kids {
		if v.kind != "VarDecl" || len(v.kids) != 1 || !w.private(v) || w.changes(body, v.id) ||
			w.changes(cond, v.id) || !w.same(v.kids[0], own) {
			return false
		}
		own[v.id] = true
	}
	jumps := func(k *node) bool {
		switch k.kind {
		case "BreakStmt", "ContinueStmt", "ReturnStmt", "GotoStmt", "IndirectGotoStmt", "LabelStmt",
			"LambdaExpr":
			return true
		}
		return false
	}
	return cond.kind != "" && w.same(cond, own) && w.steps(step, own) && !w.any(body, jumps)
}

// steps reports whether the step of a loop changes only its own variables, alike in all threads.
func (w *rewriter) steps(n *node, own map[string]bool) bool {
	if n.kind == "BinaryOperator" && n.op == "," {
		return w.steps(n.kids[0], own) && w.steps(n.kids[1], own)
	}
	assigns := n.kind == "CompoundAssignOperator" || n.kind == "BinaryOperator" && n.op == "=" ||
		n.kind == "UnaryOperator" && (n.op == "++" || n.op == "--")
	if !assigns || n.kids[0].kind != "DeclRefExpr" || !own[n.kids[0].target] {
		return false
	}
	return len(n.kids) == 1 || w.same(n.kids[1], own)
}

// same reports whether all threads of a block compute the same value from an expression. own are
// variables of which that is known.
func (w *rewriter) same(n *node, own map[string]bool) bool {
	return w.pure(n, func(v *node) bool {
		switch {
		case own[v.id]:
			return true
		case w.f.body == nil || !w.private(v) || w.changes(w.f.body, v.id):
			return false
		case v.kind == "ParmVarDecl":
			return w.f.Kernel
		}
		return len(v.kids) == 1 && w.same(v.kids[0], nil)
	}, even)
}
