package syntax

// jumps is where control may go from a statement other than to the next.
type jumps uint8

const (
	leaves    jumps = 1 << iota // return, goto
	breaks                      // break, of a loop or switch around
	continues                   // continue, of a loop around
)

// jumps finds how control may leave a statement.
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
	if n.kind != "LambdaExpr" { // a function of its own
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
