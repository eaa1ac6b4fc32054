package syntax

// Near returns further places for a statement around the statement that contains an offset: the
// start of the body if the offset is in the head of an if or a loop; the start and the end of the
// body of each enclosing loop; and the places before and after each enclosing statement. They are
// candidates for a repair and not checked in any way: the order is from the inside to the outside,
// so that the smallest change comes first.
func (u *Unit) Near(f *Func, off int) []Insert {
	if f.body == nil {
		return nil
	}
	w := &rewriter{b: newBuilder(f.File, f.path, u.OpenCL), f: f, rw: &Rewrite{}}
	var out []Insert
	inner := func(body *node, end bool) {
		items := w.listOf(body)
		if len(items) == 0 {
			return
		}
		if end {
			last := items[len(items)-1]
			out = append(out, Insert{At: last.from, After: true})
			return
		}
		out = append(out, Insert{At: items[0].from})
	}
	var walk func(body *node)
	walk = func(body *node) {
		for _, it := range w.listOf(body) {
			if off < it.from || off >= it.to || it.merged || w.b.single(it.node) {
				continue
			}
			within := false
			for _, sub := range bodies(it.node) {
				if w.holds(sub, off) && w.inItem(sub, off) {
					walk(sub)
					within = true
				}
			}
			list := bodies(it.node)
			if len(list) > 0 && w.isLoop(it.node) {
				inner(lastBody(it.node), true)
				inner(lastBody(it.node), false)
			} else if len(list) > 0 && !within {
				inner(list[0], false)
			}
			if within {
				out = append(out, Insert{At: it.from}, Insert{At: it.from, After: true})
			}
		}
	}
	walk(f.body)
	return out
}
