package syntax

import (
	"strings"

	"heddle/internal/source"
)

// Host is a function of host code. Its launches and buffers are what a repair that changes the
// arguments or the number of launches has to know.
type Host struct {
	Name string
	File *source.File
	Body Range // braces included
	body *node
	b    *builder
}

// Range is a range of bytes in a file.
type Range struct{ From, To int }

// HostStmt is a statement of host code.
type HostStmt struct {
	Range
	// Bare says that it is the body of an if or a loop without braces.
	Bare bool
	// Block is the innermost block in braces around it.
	Block Range
}

// HostLaunch is a launch kernel<<<grid, block>>>(args) in host code.
type HostLaunch struct {
	Host   *Host
	Kernel string // as declared
	Name   Range  // with its template arguments
	Whole  Range
	Stmt   HostStmt // with its semicolon; empty if the launch is only a part of a statement
	Config []Range  // grid, block, shared memory, stream, as far as given
	// Number says of grid and block that they are numbers, not a dim3.
	Number [2]bool
	Args   []HostArg
}

// HostArg is an argument of a launch.
type HostArg struct {
	Range
	Var  string // the name of the variable that it is; empty if it is another expression
	Type string // of Var
	id   string // of its declaration
}

// host adds a function of host code.
func (r *reader) host(n, body *node) {
	file := r.file(body.begin.file)
	if file == nil {
		return
	}
	b := newBuilder(file, body.begin.file, false)
	if b.braces(body) {
		r.unit.Hosts = append(r.unit.Hosts, &Host{Name: n.name, File: file, body: body, b: b,
			Body: Range{body.begin.offset, body.end.offset + 1}})
	}
}

// Launches returns the launches of a kernel, by its name as declared, and the places where the
// user's files name it otherwise, other than in its definition.
func (u *Unit) Launches(kernel *Func) (launches []HostLaunch, other []source.Pos) {
	known := map[source.Pos]bool{}
	for _, h := range u.Hosts {
		for _, n := range h.find("CUDAKernelCallExpr") {
			if l, ok := h.launch(n); ok && l.Kernel == kernel.Name {
				launches = append(launches, l)
				known[h.File.PosAt(l.Name.From)] = true
			}
		}
	}
	for _, f := range u.userFiles(kernel) {
		t := text(f.Content)
		for _, at := range t.words(kernel.Name) {
			pos := f.PosAt(at)
			own := f == kernel.File && kernel.declaredAt() == at
			if !known[pos] && !own {
				other = append(other, pos)
			}
		}
	}
	return launches, other
}

// userFiles are the files with functions of the kernel's unit.
func (u *Unit) userFiles(kernel *Func) []*source.File {
	files := []*source.File{kernel.File}
	seen := map[*source.File]bool{kernel.File: true}
	for _, h := range u.Hosts {
		if !seen[h.File] {
			seen[h.File], files = true, append(files, h.File)
		}
	}
	return files
}

// declaredAt returns the offset of the name in the definition of a function: it is the last one
// before its body.
func (f *Func) declaredAt() int {
	at := -1
	for _, w := range text(f.File.Content).words(f.Name) {
		if w < f.body.begin.offset {
			at = w
		}
	}
	return at
}

// words returns the offsets of an identifier outside comments, literals and directives.
func (t text) words(name string) []int {
	var out []int
	for i := t.skipBlank(0); i < len(t); {
		end := t.skipToken(i)
		if t.inDirective(i) {
			end = t.behindDirective(i)
		} else if string(t[i:end]) == name {
			out = append(out, i)
		}
		i = t.skipBlank(end)
	}
	return out
}

// find returns the nodes of a kind in a host function.
func (h *Host) find(kind string) []*node {
	var out []*node
	var walk func(n *node)
	walk = func(n *node) {
		if n.kind == kind {
			out = append(out, n)
		}
		for _, kid := range n.kids {
			walk(kid)
		}
	}
	walk(h.body)
	return out
}

// launch reads a launch from its text. One from a macro has none.
func (h *Host) launch(n *node) (HostLaunch, bool) {
	b, t := h.b, h.b.text
	if !b.plain(n.begin) || !b.plain(n.end) {
		return HostLaunch{}, false
	}
	l := HostLaunch{Host: h, Whole: Range{n.begin.offset, n.end.offset + n.end.size}}
	whole := string(t[l.Whole.From:l.Whole.To])
	open, shut := strings.Index(whole, "<<<"), strings.Index(whole, ">>>")
	if open < 0 || shut < open {
		return HostLaunch{}, false
	}
	if len(n.kids) < 2 {
		return HostLaunch{}, false
	}
	name := strings.TrimSpace(whole[:open])
	l.Name = Range{l.Whole.From, l.Whole.From + len(name)}
	l.Kernel, _, _ = strings.Cut(name, "<")
	l.Kernel = strings.TrimSpace(l.Kernel[strings.LastIndexByte(l.Kernel, ':')+1:])
	l.Config = t.list(l.Whole.From+open+3, l.Whole.From+shut)
	for i := range min(2, len(n.kids[1].kids)-1) {
		l.Number[i] = n.kids[1].kids[i+1].cast == "ConstructorConversion"
	}
	paren := t.skipBlank(l.Whole.From + shut + 3)
	args := t.list(paren+1, l.Whole.To-1)
	for i, r := range args {
		a := HostArg{Range: r}
		if i+2 < len(n.kids) {
			a.Var, a.Type, a.id = variable(n.kids[i+2])
		}
		l.Args = append(l.Args, a)
	}
	if s, ok := h.StmtAt(l.Whole.From); ok && s.From == l.Whole.From &&
		t.skipBlank(l.Whole.To) == s.To-1 {
		l.Stmt = s
	}
	return l, true
}

// variable returns the variable that an argument is, without a conversion that changes its value.
func variable(n *node) (name, typ, id string) {
	for n.kind != "DeclRefExpr" {
		same := n.kind == "ImplicitCastExpr" && (n.cast == "LValueToRValue" || n.cast == "NoOp") ||
			n.kind == "CXXConstructExpr"
		if !same || len(n.kids) != 1 {
			return "", "", ""
		}
		n = n.kids[0]
	}
	return n.refers, n.typ, n.target
}

// list splits a range of text at its commas. Ranges exclude white space at their ends.
func (t text) list(from, to int) []Range {
	var out []Range
	depth, start, end := 0, -1, from
	for i := t.skipBlank(from); i < to; i = t.skipBlank(end) {
		end = t.skipToken(i)
		switch c := t[i]; {
		case c == ',' && depth == 0:
			out = append(out, Range{start, t.lastToken(start, i)})
			start = -1
			continue
		case strings.IndexByte("([{", c) >= 0:
			depth++
		case strings.IndexByte(")]}", c) >= 0:
			depth--
		}
		if start < 0 {
			start = i
		}
	}
	if start >= 0 {
		out = append(out, Range{start, t.lastToken(start, to)})
	}
	return out
}

// StmtAt returns the innermost statement of a list that contains an offset.
func (h *Host) StmtAt(off int) (HostStmt, bool) { return h.b.stmtAt(h.body, off, h.Body, false) }

func (b *builder) stmtAt(body *node, off int, block Range, bare bool) (HostStmt, bool) {
	kids := []*node{body}
	if b.braces(body) {
		kids, bare = body.kids, false
		block = Range{body.begin.offset, body.end.offset + 1}
	}
	for _, it := range b.items(kids) {
		if off < it.from || off >= it.to {
			continue
		}
		for _, sub := range bodies(it.node) {
			if sub.kind == "" || it.merged || it.node.begin.macro || sub == it.node && !b.braces(sub) {
				continue
			}
			if e, ok := b.extent(sub); ok && e.from <= off && off < e.to {
				if s, ok := b.stmtAt(sub, off, block, true); ok {
					return s, true
				}
			}
		}
		return HostStmt{Range{it.from, it.to}, bare, block}, it.ends
	}
	return HostStmt{}, false
}
