package syntax

import (
	"slices"
	"strings"
)

// Step is a statement of a kernel as a division of the kernel sees it: what it computes, and
// whether executing it again would do more than that.
type Step struct {
	Range
	Declares []Local
	// Uses and Sets are variables by id, parameters included; Declares are not in Sets.
	Uses, Sets []string
	// Escapes are those that something else may change from here on: their address is taken, or a
	// reference refers to them.
	Escapes []string
	// Effect is what the statement does besides computing values of variables: "it writes memory";
	// empty if nothing.
	Effect  string
	Returns bool // a thread may return in it
	Grid    bool // it is a barrier of the grid
	// Loop is the head of a for loop, and Body the statements of its body in braces.
	Loop *Loop
	Body []Step
}

// Local is a variable that a statement declares.
type Local struct {
	ID, Name, Type string
	Shared         bool // __shared__
}

// Loop is the head of for (T v = init; cond; step).
type Loop struct {
	Var   Local
	Head  Range // between the parentheses
	Uses  []string
	Plain bool // a variable is declared, and the head has no effect but on it
	Jumps bool // break, continue or return in the body
}

// Steps returns the statements of the body of a kernel. constants are the parameters whose elements
// do not change while it runs, by name.
func (f *Func) Steps(constants map[string]bool) []Step {
	b := newBuilder(f.File, f.path, false)
	s := &stepper{b: b, constant: map[string]bool{}, own: map[string]bool{}}
	for _, d := range f.decls {
		s.constant[d.id], s.own[d.id] = constants[d.name], true
	}
	s.locals(f.body)
	return s.list(f.body.kids)
}

// Head returns the range of the definition of a kernel before its body, and the range of its name.
// The definition begins behind the declaration or the directive before it.
func (f *Func) Head() (head, name Range) {
	t := text(f.File.Content)
	name.From = f.declaredAt()
	name.To = name.From + len(f.Name)
	start := 0
	for i := t.skipBlank(0); i < name.From; {
		end := t.skipToken(i)
		if t.inDirective(i) {
			end = t.behindDirective(i)
			start = end
		} else if c := t[i]; c == ';' || c == '}' || c == '{' {
			start = end
		}
		i = t.skipBlank(end)
	}
	return Range{t.skipBlank(start), f.body.begin.offset}, name
}

// behindDirective returns the offset of the line after a directive, whose lines may be continued.
func (t text) behindDirective(i int) int {
	for {
		end := t.lineEnd(i)
		next := t.nextLine(i)
		if end == 0 || t[end-1] != '\\' || next == len(t) {
			return next
		}
		i = next
	}
}

// ID returns the id of a parameter, as in Step.
func (p Param) ID() string { return p.id }

type stepper struct {
	b        *builder
	constant map[string]bool // by id
	own      map[string]bool // variables of the function, by id
}

// locals collects the variables that are declared in a function.
func (s *stepper) locals(n *node) {
	if n.kind == "VarDecl" {
		s.own[n.id] = true
	}
	for _, kid := range n.kids {
		s.locals(kid)
	}
}

// list reads statements. Those that a macro produces together are one with an effect.
func (s *stepper) list(kids []*node) []Step {
	var out []Step
	for _, it := range s.b.items(kids) {
		st := Step{Range: Range{it.from, it.to}}
		if it.merged || !it.begins || !it.ends {
			st.Effect = "it is not plain text"
		}
		s.read(it.node, it.node, &st)
		st.Grid = s.isGrid(it.node)
		if it.kind == "ForStmt" && !it.merged {
			s.loop(it.node, &st)
		}
		out = append(out, st)
	}
	return out
}

// isGrid reports whether a statement is this_grid().sync().
func (s *stepper) isGrid(n *node) bool {
	if n.kind != "CXXMemberCallExpr" && n.kind != "ExprWithCleanups" {
		return false
	}
	e, ok := s.b.extent(n)
	return ok && strings.Contains(string(s.b.text[e.from:e.to]), "this_grid().sync()")
}

// loop reads the head and the body of a for loop.
func (s *stepper) loop(n *node, st *Step) {
	body := lastKid(n)
	if len(n.kids) < 5 || body == nil || !s.b.braces(body) {
		return
	}
	t := s.b.text
	open := t.skipBlank(n.begin.offset + len("for"))
	end := t.behindArguments(n.begin.offset + len("for"))
	l := &Loop{Head: Range{open + 1, end - 1}}
	st.Loop = l
	head := Step{}
	for _, kid := range n.kids[:len(n.kids)-1] {
		s.read(kid, n, &head)
	}
	l.Uses = head.Uses
	parts := strings.Split(string(t[l.Head.From:l.Head.To]), ";")
	if len(parts) == 3 && len(head.Declares) == 1 {
		l.Var = head.Declares[0]
		l.Plain = head.Effect == "" && !slices.ContainsFunc(head.Sets,
			func(id string) bool { return id != l.Var.ID })
	}
	l.Jumps = body.has("BreakStmt") || body.has("ContinueStmt") || body.has("ReturnStmt") ||
		body.has("GotoStmt")
	st.Body = s.list(body.kids)
}

// plainKinds are the kinds of nodes that do nothing themselves but compute a value or choose a statement.
var plainKinds = map[string]bool{"": true, "DeclStmt": true, "ImplicitCastExpr": true,
	"CStyleCastExpr": true, "CXXStaticCastExpr": true, "CXXFunctionalCastExpr": true,
	"ParenExpr": true, "ConditionalOperator": true, "IntegerLiteral": true, "FloatingLiteral": true,
	"CXXBoolLiteralExpr": true, "CharacterLiteral": true, "IfStmt": true, "ForStmt": true,
	"WhileStmt": true, "DoStmt": true, "CompoundStmt": true, "NullStmt": true, "InitListExpr": true,
	"UnaryExprOrTypeTraitExpr": true, "ConstantExpr": true, "AttributedStmt": true}

// read adds what a node does to a step.
func (s *stepper) read(n, parent *node, st *Step) {
	switch n.kind {
	case "VarDecl":
		st.Declares = append(st.Declares, s.local(n))
	case "DeclRefExpr":
		s.variable(n, parent, st)
	case "BinaryOperator", "CompoundAssignOperator", "UnaryOperator":
		s.operator(n, st)
	case "ArraySubscriptExpr":
		if !s.fixed(n) {
			st.does("it reads memory")
		}
	case "PseudoObjectExpr":
		if s.index(n) {
			return
		}
		st.does("it has a property")
	case "ReturnStmt":
		st.Returns = true
	case "CallExpr":
		if len(n.kids) == 0 || !pureCall(n) {
			st.does("it calls a function")
		}
	default:
		if !plainKinds[n.kind] && !isAttr(n.kind) {
			st.does("it has a " + n.kind)
		}
	}
	for _, kid := range n.kids {
		s.read(kid, n, st)
	}
}

// does records the first effect of a step.
func (st *Step) does(what string) {
	if st.Effect == "" {
		st.Effect = what
	}
}

// variable adds the use of a variable.
func (s *stepper) variable(n, parent *node, st *Step) {
	switch {
	case s.own[n.target]:
		st.Uses = appendID(st.Uses, n.target)
		if escapes(n, parent) {
			st.Escapes = appendID(st.Escapes, n.target)
		}
	case !strings.Contains(n.typ, "(") && !isConst(n.typ): // neither a function nor a constant
		st.does("it uses " + n.refers)
	}
}

// operator adds what an operator does besides computing a value.
func (s *stepper) operator(n *node, st *Step) {
	switch {
	case len(n.kids) == 0:
		st.does("it has an operator without operands")
	case n.kind == "CompoundAssignOperator", n.kind == "BinaryOperator" && n.op == "=",
		n.kind == "UnaryOperator" && (n.op == "++" || n.op == "--"):
		s.assigned(n.kids[0], st)
	case n.kind == "UnaryOperator" && n.op == "&":
		st.does("it takes an address")
	case n.kind == "UnaryOperator" && n.op == "*":
		st.does("it reads memory")
	}
}

func appendID(list []string, id string) []string {
	if slices.Contains(list, id) {
		return list
	}
	return append(list, id)
}

// escapes reports whether a use of a variable does more than read or assign it.
func escapes(n, parent *node) bool {
	switch parent.kind {
	case "ImplicitCastExpr":
		return parent.cast != "LValueToRValue" && parent.cast != "ArrayToPointerDecay"
	case "BinaryOperator":
		return parent.op != "=" || parent.kids[0] != n
	case "CompoundAssignOperator":
		return parent.kids[0] != n
	case "UnaryOperator":
		return parent.op != "++" && parent.op != "--"
	}
	return true
}

// assigned notes the target of an assignment.
func (s *stepper) assigned(n *node, st *Step) {
	for n.kind == "ParenExpr" && len(n.kids) == 1 {
		n = n.kids[0]
	}
	if n.kind != "DeclRefExpr" || !s.own[n.target] || strings.Contains(n.typ, "[") {
		st.does("it writes memory")
		return
	}
	st.Sets = appendID(st.Sets, n.target)
}

// local is a declared variable.
func (s *stepper) local(n *node) Local {
	l := Local{ID: n.id, Name: n.name, Type: n.typ}
	for _, kid := range n.kids {
		l.Shared = l.Shared || kid.kind == "CUDASharedAttr"
	}
	return l
}

// index reports whether an expression is threadIdx.x or the like.
func (s *stepper) index(n *node) bool {
	if n.begin.macro || n.begin.offset < 0 {
		return false
	}
	word := string(s.b.text[n.begin.offset:s.b.text.skipToken(n.begin.offset)])
	return slices.Contains([]string{"threadIdx", "blockIdx", "blockDim", "gridDim"}, word)
}

// fixed reports whether an element is one of a constant parameter.
func (s *stepper) fixed(n *node) bool {
	if len(n.kids) != 2 {
		return false
	}
	base := n.kids[0]
	for base.kind != "DeclRefExpr" && len(base.kids) == 1 {
		base = base.kids[0]
	}
	return s.constant[base.target]
}

// pureCall reports whether a call computes a value of its arguments and nothing else.
func pureCall(n *node) bool {
	return slices.Contains([]string{"min", "max", "fminf", "fmaxf", "fabsf", "fabs", "abs", "sqrtf",
		"sqrt", "expf", "exp", "logf", "log", "powf", "pow", "sinf", "sin", "cosf", "cos", "floorf",
		"ceilf", "rsqrtf"}, callee(n))
}
