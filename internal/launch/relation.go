package launch

import "heddle/internal/ir"

// A Relation ties the parameters of a kernel to the shape of its launch: the expressions of host
// code for both, over the same unknowns. A proof may assume that some values of the unknowns give
// all of them. With a grid of (w + 15) / 16 and the arguments w and pitch, for example, a launch
// has 16 * gridDim.x >= w whatever w is.
type Relation struct {
	// Grid and Block are blocks and threads in each dimension; nil where not known.
	Grid, Block [3]*Expr
	// Params are the integer parameters, by index; nil for other parameters and where not known.
	Params []*Expr
	// Unknowns are the names of what is open, in order of appearance. A value may be any integer of 64
	// bits for which all expressions have a value that fits the type of what it is for.
	Unknowns []string
}

// Relation returns what the host code says about the launch that c follows: a relation without
// expressions if it follows none. Facts that a flag, a comment or a configuration overrides, and
// facts of the PTX, are not in it.
func (f *SourceFacts) Relation(k *ir.Func, c *Config) *Relation {
	out := &Relation{Params: make([]*Expr, len(k.Params))}
	if f == nil || c.Host < 1 || c.Host > len(f.Launches) {
		return out
	}
	l := f.Launches[c.Host-1].narrowed(gather(k))
	follows := func(key string) bool {
		o := c.Origins[key]
		return o == FromHost || o == FromRelation
	}
	if follows("grid") {
		out.Grid = l.Grid
	}
	if follows("block") {
		out.Block = l.Block
	}
	if len(l.Args) == len(k.Params) {
		for i, v := range k.Params {
			if !isPointer(v) && !isStruct(v) && !v.Type.IsFloat() && follows("arg "+paramName(v)) {
				out.Params[i] = l.Args[i].Value
			}
		}
	}
	seen := make(map[string]bool)
	for _, es := range [][]*Expr{out.Grid[:], out.Block[:], out.Params} {
		for _, e := range es {
			e.walk(func(x *Expr) {
				if x.Op == OpUnknown && !seen[x.Name] {
					seen[x.Name] = true
					out.Unknowns = append(out.Unknowns, x.Name)
				}
			})
		}
	}
	return out
}
