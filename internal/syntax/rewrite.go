package syntax

import (
	"bytes"
	"fmt"
	"strings"

	"heddle/internal/edit"
	"heddle/internal/source"
)

// Rewrite is a change to one function that may need a different control flow: where not all threads
// of a block reach a barrier, the statements around it are divided so that all of them do.
//
// The statements around such a barrier change as follows. Package repair makes the same changes to
// a control-flow graph without statements.
//
//	if (c) { A; barrier; B }        if (c) { A } barrier; if (c) { B }
//	for (init; c; step) { ... }     bool p = true;
//	                                for (init; __syncthreads_or(p = p && c); step) { if (p) ... }
//	if (c) return; A; barrier; B    if (!c) { A } barrier; if (!c) { B }
//
// A condition that may change, or that is long, is evaluated once: const bool active = c. A loop of
// which all threads execute equally many iterations keeps its head.
//
// A declaration of a variable that is used after the barrier moves before the condition, and its
// initializer becomes an assignment. All other text is kept, comments included.
//
// A rewrite works on text, guided by clang's tree. It refuses, with a RewriteError, whatever it
// cannot express: code from macros, switch and goto around a barrier, and variables without a
// default value.
type Rewrite struct {
	Inserts []Insert // in the order of the text at each statement
	// Drop holds an offset in each barrier that is removed.
	Drop []int
	// Split holds assignments that need a barrier or a fence between their reads and their write.
	Split []Insert
	// Replace holds new texts of statements, by an offset in each statement.
	Replace map[int]string
	// Uniform reports whether all threads of a block are known to execute the code in [from, to)
	// equally often. nil means that nothing is known.
	Uniform func(from, to int) bool
}

// Insert is a statement that is inserted before or after an existing one.
type Insert struct {
	At    int    // a byte offset in the existing statement; the innermost one of a list counts
	After bool   // insert after it instead of before it
	Text  string // the statement, with its semicolon
	Block bool   // a block barrier: all threads must reach it
}

// A RewriteError says why a change cannot be made in the source.
type RewriteError struct {
	Span source.Span // of the obstacle; invalid if the function has no text
	What string      // the reason, a clause without a period
}

// Error returns the reason without its place.
func (e *RewriteError) Error() string { return e.What }

// Rewrite returns the edits that apply a change to f. The error is a *RewriteError.
func (u *Unit) Rewrite(f *Func, rw *Rewrite) (edits []edit.Edit, err error) {
	if f.body == nil {
		return nil, &RewriteError{What: "only CUDA C++ and OpenCL C functions can be rewritten"}
	}
	b := newBuilder(f.File, f.path, u.OpenCL)
	w := &rewriter{b: b, f: f, rw: rw, marks: map[*node]*marks{}, names: words(b.text, f),
		converted: map[*node]bool{}, declared: map[string]int{}}
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
	marks     map[*node]*marks // by statement
	hot       []hot
	names     map[string]bool // identifiers in use
	declared  map[string]int  // number of declarations of a name in the function
	converted map[*node]bool  // jumps that become assignments
	active    string          // the variable that is false once a thread has returned; empty: none
	again     bool            // the conditions of returns are written again instead of a variable
	locals    map[string]*node
	unit      string // indentation of one level
}

// marks holds the changes at one statement.
type marks struct {
	before, after []Insert
	drop          bool
	split         *Insert
	replace       string
	barrier       bool // the statement is a barrier and is kept
}

// hot is a place that all threads must reach.
type hot struct {
	node    *node // the statement
	at      int
	uniform bool // all threads reach it without a change
}

// fail ends a Rewrite with a RewriteError, which Rewrite recovers.
func (w *rewriter) fail(at int, format string, args ...any) {
	pos := w.f.File.PosAt(at)
	panic(&RewriteError{Span: source.Span{Start: pos, End: pos}, What: fmt.Sprintf(format, args...)})
}

// run rewrites the body and checks that no comment was lost.
func (w *rewriter) run() ([]edit.Edit, error) {
	body := w.f.body
	w.style()
	w.count(body)
	w.collect(body)
	w.jumps(body, nil, nil)
	w.again = w.returnsRepeat(body)
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
func (w *rewriter) uniform(from, to int) bool {
	return w.rw.Uniform != nil && w.rw.Uniform(from, to)
}

// style detects the indentation of the function.
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
}

// count counts the declarations of each name.
func (w *rewriter) count(n *node) {
	if n.kind == "VarDecl" {
		w.declared[n.name]++
	}
	for _, kid := range n.kids {
		w.count(kid)
	}
}

// words returns the identifiers of a function, its parameters and the preprocessor directives of
// the file: names that fresh must avoid.
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

// fresh returns an unused name that starts with base.
func (w *rewriter) fresh(base string) string {
	name := base
	for i := 2; w.names[name]; i++ {
		name = fmt.Sprint(base, i)
	}
	w.names[name] = true
	return name
}

// collect finds the statements that the rewrite changes, and the places that all threads must
// reach.
func (w *rewriter) collect(body *node) {
	rw := w.rw
	at := func(off int) *node {
		n := w.itemAt(body, off)
		if n == nil {
			w.fail(off, "the statement is not plain text of the function (a macro or an #include produces "+
				"it)")
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

// standing finds the existing barriers that are kept.
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

// span returns the byte range of a statement.
func (w *rewriter) span(n *node) (from, to int) {
	e, ok := w.b.extent(n)
	if !ok {
		w.fail(max(0, n.begin.offset),
			"the position of a statement in clang's tree does not match the text")
	}
	return e.from, e.to
}

// holds reports whether a statement contains an offset.
func (w *rewriter) holds(n *node, off int) bool {
	e, ok := w.b.extent(n)
	return ok && e.from <= off && off < e.to
}

// isHot reports whether a statement contains a place that all threads must reach.
func (w *rewriter) isHot(n *node) bool {
	for _, h := range w.hot {
		if h.node != n && w.contains(n, h.node) {
			return true
		}
	}
	return false
}

// contains reports whether k is n or below it.
func (w *rewriter) contains(n, k *node) bool {
	return w.any(n, func(x *node) bool { return x == k })
}

// any reports whether n or a node below it has a property.
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

// bodies returns the statement lists directly in a statement: the branches of an if, the body of a
// loop.
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

// listOf returns the statements of a body. A block whose braces a macro writes is one merged item:
// none of its statements has a place. Each other item is below n, unless n is no block.
func (w *rewriter) listOf(n *node) []item {
	kids := []*node{n}
	if w.b.braces(n) {
		kids = n.kids
	}
	items := w.b.items(kids)
	for i := range items {
		// #pragma unroll precedes the statement
		if it := &items[i]; it.kind == "AttributedStmt" && !it.merged {
			if e, ok := w.b.extent(lastKid(it.node)); ok {
				it.node, it.extent = lastKid(it.node), e
			}
		}
		items[i].merged = items[i].merged || items[i].kind == "CompoundStmt" && !w.b.braces(items[i].node)
	}
	return items
}

// itemAt returns the innermost statement of a list that contains an offset, or nil if a macro
// produces part of it. A macro that produces all of a statement leaves room before and after it.
// The head of an if or a loop belongs to that statement.
func (w *rewriter) itemAt(body *node, off int) *node {
	for _, it := range w.listOf(body) {
		if off < it.from || off >= it.to {
			continue
		}
		if it.merged || !it.ends {
			return nil
		}
		if w.b.single(it.node) && !w.b.text.inDirective(it.from) {
			return it.node
		}
		if !it.begins {
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

// inItem reports whether a statement of a body contains an offset.
func (w *rewriter) inItem(body *node, off int) bool {
	for _, it := range w.listOf(body) {
		if it.from <= off && off < it.to {
			return true
		}
	}
	return false
}

// comments returns the comments of a text with the number of occurrences of each.
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

// own reports whether opening braces near an offset have their own lines.
func (w *rewriter) own(at int) bool {
	body := w.f.body
	return w.b.text.ownBraces(body, at, w.b.text.first(body.begin.offset))
}
