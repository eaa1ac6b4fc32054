package syntax

import (
	"bytes"
	"fmt"
	"strings"

	"heddle/internal/edit"
	"heddle/internal/source"
)

// Rewrite is a change of one function that may need another control flow: a barrier that stands where not all threads of
// a block come is brought to all of them.
//
// What happens to the statements around such a barrier (compare the levels of package repair, which does the same to
// control flow without statements):
//
//	if (c) { A; barrier; B }        bool p = c; if (p) { A } barrier; if (p) { B }
//	for (init; c; step) { ... }     bool p = true; for (init; __syncthreads_or(p = p && c); step) { ... if (p) ... }
//	if (c) return; A; barrier; B    bool p = !(c); if (p) { A } barrier; if (p) { B }
//
// A declaration whose variable is used behind a barrier stands before the condition then, and its initializer becomes an
// assignment. Everything else keeps its text, comments included.
type Rewrite struct {
	Inserts []Insert
	// Drop are offsets in barriers that go away.
	Drop []int
	// Split are assignments between whose reads and whose write a barrier or a fence is to stand.
	Split []Insert
	// Replace are texts for statements, by an offset in each.
	Replace map[int]string
	// Uniform reports whether all threads of a block are known to run what begins in [from, to) equally often. Without
	// it no statement is.
	Uniform func(from, to int) bool
}

// Insert is a statement that comes before or behind another.
type Insert struct {
	At    int // an offset in the other: the innermost statement of a list that holds it
	After bool
	Text  string
	Block bool // a barrier of the block: all threads must come there
}

// A RewriteError says why a change cannot be said in the source.
type RewriteError struct {
	Span source.Span
	What string
}

func (e *RewriteError) Error() string { return e.What }

// Rewrite returns the edits that carry out a change of f.
func (u *Unit) Rewrite(f *Func, rw *Rewrite) (edits []edit.Edit, err error) {
	if f.body == nil {
		return nil, &RewriteError{What: "only functions of CUDA C++ and OpenCL C have statements"}
	}
	b := newBuilder(f.File, f.path, u.OpenCL)
	w := &rewriter{b: b, f: f, rw: rw, marks: map[*node]*marks{}, names: words(b.text, f), converted: map[*node]bool{}, declared: map[string]int{}}
	for _, p := range f.params {
		w.declared[p]++
	}
	defer func() {
		switch e := recover().(type) {
		case nil:
		case *RewriteError:
			edits, err = nil, e
		default:
			panic(e)
		}
	}()
	return w.run()
}

// rewriter is the state of one Rewrite.
type rewriter struct {
	b         *builder
	f         *Func
	rw        *Rewrite
	marks     map[*node]*marks // of items of lists
	hot       []hot
	names     map[string]bool // words of the file
	declared  map[string]int  // how often the function declares a name
	converted map[*node]bool  // jumps that become assignments
	active    string          // the variable that tells whether a thread has not returned
	unit      string          // of indentation
	own       bool            // opening braces stand in lines of their own
}

// marks is what a rewrite does at an item of a list.
type marks struct {
	before, after []Insert
	drop          bool
	split         *Insert
	replace       string
	barrier       bool // it is one, and stays
}

// hot is a place that all threads must come to.
type hot struct {
	node    *node // the item of a list
	at      int
	uniform bool // they do as it is
}

// fail ends a Rewrite.
func (w *rewriter) fail(at int, format string, args ...any) {
	pos := w.f.File.PosAt(at)
	panic(&RewriteError{Span: source.Span{Start: pos, End: pos}, What: fmt.Sprintf(format, args...)})
}

func (w *rewriter) run() ([]edit.Edit, error) {
	body := w.f.body
	w.style()
	w.count(body)
	w.collect(body)
	w.jumps(body, nil, nil)
	open, close := body.begin.offset+1, body.end.offset
	var out strings.Builder
	l := w.newList(body, &scope{kind: function}, &out)
	l.render()
	left := comments(text(out.String()))
	for note, n := range comments(w.b.text[open:close]) {
		if left[note] < n {
			w.fail(open, "the comment %q would be lost", note)
		}
	}
	return edit.Between(w.f.File, open, close, out.String()), nil
}

// uniform is Rewrite.Uniform.
func (w *rewriter) uniform(from, to int) bool { return w.rw.Uniform != nil && w.rw.Uniform(from, to) }

// style finds how the function is indented and where its braces are.
func (w *rewriter) style() {
	t := w.b.text
	w.unit = "    "
	items := w.b.items(w.f.body.kids)
	for _, it := range items {
		if t.first(it.from) {
			outer, inner := t.indent(w.f.body.begin.offset), t.indent(it.from)
			if unit, ok := strings.CutPrefix(inner, outer); ok && unit != "" {
				w.unit = unit
			}
			break
		}
	}
	found := false
	var walk func(n *node)
	walk = func(n *node) {
		for _, kid := range n.kids {
			if !found && kid.kind == "CompoundStmt" && n.kind != "CompoundStmt" && w.b.braces(kid) {
				w.own, found = t.first(kid.begin.offset), true
			}
			walk(kid)
		}
	}
	walk(w.f.body)
	if !found {
		w.own = t.first(w.f.body.begin.offset)
	}
}

// count finds how often the function declares each name.
func (w *rewriter) count(n *node) {
	if n.kind == "VarDecl" {
		w.declared[n.name]++
	}
	for _, kid := range n.kids {
		w.count(kid)
	}
}

// words are those of a function, its parameters and the file's preprocessor directives.
func words(t text, f *Func) map[string]bool {
	out := map[string]bool{}
	add := func(t []byte) {
		for i := 0; i < len(t); {
			j := i
			for j < len(t) && isWord(t[j]) {
				j++
			}
			if j > i {
				out[string(t[i:j])] = true
			}
			i = j + 1
		}
	}
	add(t[f.body.begin.offset:f.body.end.offset])
	for line := range bytes.Lines(t) {
		if bytes.HasPrefix(bytes.TrimLeft(line, " \t"), []byte("#")) {
			add(line)
		}
	}
	for _, p := range f.params {
		out[p] = true
	}
	return out
}

// fresh returns a name that the file does not have.
func (w *rewriter) fresh(base string) string {
	name := base
	for i := 2; w.names[name]; i++ {
		name = fmt.Sprint(base, i)
	}
	w.names[name] = true
	return name
}

// collect finds the items of lists that the rewrite is about.
func (w *rewriter) collect(body *node) {
	rw := w.rw
	at := func(off int) *node {
		n := w.itemAt(body, off)
		if n == nil {
			w.fail(off, "the statement is not plain text of the function")
		}
		return n
	}
	mark := func(n *node) *marks {
		if w.marks[n] == nil {
			w.marks[n] = &marks{}
		}
		return w.marks[n]
	}
	for _, in := range rw.Inserts {
		n := at(in.At)
		m := mark(n)
		from, to := w.span(n)
		even := w.uniform(from, to)
		place := from
		if in.After {
			m.after = append(m.after, in)
			place, even = to, even && w.b.jumps(n) == 0
		} else {
			m.before = append(m.before, in)
		}
		if in.Block {
			w.hot = append(w.hot, hot{n, place, even})
		}
	}
	for i := range rw.Split {
		s := &rw.Split[i]
		n := at(s.At)
		from, to := w.span(n)
		mark(n).split = s
		if s.Block {
			w.hot = append(w.hot, hot{n, from, w.uniform(from, to)})
		}
	}
	for _, off := range rw.Drop {
		mark(at(off)).drop = true
	}
	for off, text := range rw.Replace {
		mark(at(off)).replace = text
	}
	w.standing(body)
}

// standing finds the barriers that stay.
func (w *rewriter) standing(n *node) {
	if n.kind == "LambdaExpr" {
		return
	}
	if w.b.barrier(n) {
		m := w.marks[n]
		if m == nil {
			m = &marks{}
			w.marks[n] = m
		}
		if !m.drop {
			m.barrier = true
			from, to := w.span(n)
			w.hot = append(w.hot, hot{n, from, w.uniform(from, to)})
		}
	}
	for _, kid := range n.kids {
		w.standing(kid)
	}
}

// span is where a statement is in the text.
func (w *rewriter) span(n *node) (from, to int) {
	e, ok := w.b.extent(n)
	if !ok {
		w.fail(max(0, n.begin.offset), "a statement is not where clang says that it is")
	}
	return e.from, e.to
}

// holds reports whether an offset is in a statement.
func (w *rewriter) holds(n *node, off int) bool {
	e, ok := w.b.extent(n)
	return ok && e.from <= off && off < e.to
}

// isHot reports whether a place that all threads must come to is within a statement.
func (w *rewriter) isHot(n *node) bool {
	for _, h := range w.hot {
		if h.node != n && w.contains(n, h.node) {
			return true
		}
	}
	return false
}

// contains reports whether k is n or below it.
func (w *rewriter) contains(n, k *node) bool { return w.any(n, func(x *node) bool { return x == k }) }

// any reports whether a node of the tree below n, or n, has a property.
func (w *rewriter) any(n *node, has func(*node) bool) bool {
	if has(n) {
		return true
	}
	for _, kid := range n.kids {
		if w.any(kid, has) {
			return true
		}
	}
	return false
}

// bodies are the statement lists right in a statement: the branches of an if, the body of a loop.
func bodies(n *node) []*node {
	switch n.kind {
	case "CompoundStmt":
		return []*node{n}
	case "IfStmt":
		if n.hasElse && len(n.kids) > 1 {
			return n.kids[len(n.kids)-2:]
		}
		return n.kids[len(n.kids)-1:]
	case "DoStmt":
		return n.kids[:1]
	case "ForStmt", "WhileStmt", "CXXForRangeStmt":
		return []*node{lastKid(n)}
	}
	return nil
}

// listOf are the statements of a body.
func (w *rewriter) listOf(n *node) []item {
	kids := []*node{n}
	if w.b.braces(n) {
		kids = n.kids
	}
	items := w.b.items(kids)
	for i := range items {
		if it := &items[i]; it.kind == "AttributedStmt" && !it.merged { // #pragma unroll stands before the statement
			if e, ok := w.b.extent(lastKid(it.node)); ok {
				it.node, it.extent = lastKid(it.node), e
			}
		}
	}
	return items
}

// itemAt returns the innermost statement of a list that holds an offset. The head of an if or a loop is part of it.
func (w *rewriter) itemAt(body *node, off int) *node {
	for _, it := range w.listOf(body) {
		if off < it.from || off >= it.to {
			continue
		}
		if it.merged || !it.begins || !it.ends {
			return nil
		}
		for _, sub := range bodies(it.node) {
			if sub.kind != "" && w.holds(sub, off) && w.inItem(sub, off) {
				return w.itemAt(sub, off)
			}
		}
		return it.node
	}
	return nil
}

// inItem reports whether an offset is in a statement of a body.
func (w *rewriter) inItem(body *node, off int) bool {
	for _, it := range w.listOf(body) {
		if it.from <= off && off < it.to {
			return true
		}
	}
	return false
}

// comments are those of a text, and how often each is there.
func comments(t text) map[string]int {
	out := map[string]int{}
	for i := 0; i < len(t); {
		if i+1 < len(t) && t[i] == '/' && (t[i+1] == '/' || t[i+1] == '*') {
			end := t.skipComment(i)
			out[strings.Join(strings.Fields(string(t[i:end])), " ")]++
			i = end
			continue
		}
		i = t.skipToken(i)
	}
	return out
}
