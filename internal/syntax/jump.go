package syntax

// jumps is a set of ways in which control can leave a statement other than to the next one.
type jumps uint8

const (
	leaves    jumps = 1 << iota // return, goto
	breaks                      // break of an enclosing loop or switch
	continues                   // continue of an enclosing loop
)

// jumps returns how control can leave a statement. The result is kept for each node, since every
// enclosing statement asks again. A loop or a switch absorbs the jumps that it ends; goto counts as
// leaving, wherever it leads, because its target is not looked up. The body of a lambda expression
// is a function of its own.
func (b *builder) jumps(n *node) jumps {
	if j, ok := b.jump[n]; ok {
		return j
	}
	var j jumps
	switch n.kind {
	case "ReturnStmt", "GotoStmt", "IndirectGotoStmt":
		j = leaves
	case "BreakStmt":
		j = breaks
	case "ContinueStmt":
		j = continues
	}
	if n.kind != "LambdaExpr" { // a separate function
		for _, kid := range n.kids {
			j |= b.jumps(kid)
		}
	}
	switch n.kind {
	case "ForStmt", "WhileStmt", "DoStmt", "CXXForRangeStmt":
		j &^= breaks | continues
	case "SwitchStmt":
		j &^= breaks
	}
	b.jump[n] = j
	return j
}
