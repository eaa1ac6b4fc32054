package syntax

// Spot returns the byte offset where an Insert puts its statement, and the number of enclosing
// loops of f, a measure of how often the statement is executed. ok is false if no statement of f
// contains in.At as plain text.
func (u *Unit) Spot(f *Func, in Insert) (offset, loops int, ok bool) {
	if f.body == nil {
		return 0, 0, false
	}
	w := &rewriter{b: newBuilder(f.File, f.path, u.OpenCL), f: f, rw: &Rewrite{}}
	n := w.itemAt(f.body, in.At)
	if n == nil {
		return 0, 0, false
	}
	e, ok := w.b.extent(n)
	if !ok {
		return 0, 0, false
	}
	var count func(at *node)
	count = func(at *node) {
		if at != n && w.isLoop(at) && w.contains(at, n) {
			loops++
		}
		for _, kid := range at.kids {
			count(kid)
		}
	}
	count(f.body)
	if in.After {
		return e.to, loops, true
	}
	return e.from, loops, true
}
