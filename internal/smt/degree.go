package smt

// Degree is the largest degree of the terms in a conjunction, as polynomials of its variables: 3
// for x*y*z, and for x/y*z, where x/y stands for a q of which q*y is next to x. Truth values and
// conditions have none. Solvers that work on bits hardly ever decide equations of a high degree.
func (c *Context) Degree(asserts []Term) int {
	degree, most := make(map[Term]int), 0
	c.Visit(asserts, func(t Term) {
		args, d := c.Args(t), 0
		switch c.Op(t) {
		case OpVar, OpApp:
			if c.Width(t) > 0 {
				d = 1
			}
		case OpMul, OpUDiv, OpURem, OpSDiv, OpSRem:
			for _, x := range args {
				d += degree[x]
			}
		case OpNot, OpAnd, OpOr, OpEq, OpUlt, OpSlt:
		case OpIte:
			d = max(degree[args[1]], degree[args[2]])
		default:
			for _, x := range args {
				d = max(d, degree[x])
			}
		}
		degree[t] = d
		most = max(most, d)
	})
	return most
}
