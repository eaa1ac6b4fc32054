package syntax

import "heddle/internal/source"

// HostBuffer is how a host function allocates the device memory that a variable points to.
type HostBuffer struct {
	Alloc HostStmt   // the statement with its one cudaMalloc
	Size  Range      // the expression for its bytes
	Free  []HostStmt // those with a cudaFree
}

// A HostError says why host code cannot be changed.
type HostError struct {
	Pos  source.Pos
	What string // a clause without a period
}

// Error returns the reason without its place.
func (e *HostError) Error() string { return e.What }

// Buffer returns the allocation of the memory that an argument of a launch points to. It must be
// made in the function of the launch, by one cudaMalloc, and neither the pointer nor what its size
// is computed from may change in the function. The error is a *HostError.
func (l *HostLaunch) Buffer(a *HostArg) (*HostBuffer, error) {
	h := l.Host
	if a.Var == "" {
		return nil, h.errorf(a.From, "the argument %s is not a variable",
			string(h.b.text[a.From:a.To]))
	}
	var out *HostBuffer
	var alloc, size *node
	for _, n := range h.find("CallExpr") {
		if len(n.kids) < 2 || !h.mentions(n.kids[1], a.id) {
			continue
		}
		stmt, ok := h.StmtAt(h.at(n))
		switch callee(n) {
		case "cudaMalloc", "cudaMallocManaged":
			if !ok || out != nil && out.Alloc != stmt || len(n.kids) < 3 {
				return nil, h.errorf(h.at(n), "%s is allocated twice, or in part of a statement", a.Var)
			}
			alloc, size = n, n.kids[2]
			out = &HostBuffer{Alloc: stmt}
		case "cudaFree":
			if ok {
				defer func() { out.Free = append(out.Free, stmt) }()
			}
		}
	}
	if out == nil {
		return nil, h.errorf(l.Whole.From,
			"the size of the buffer %s is unknown: %s does not allocate it", a.Var, h.Name)
	}
	end := h.spelt(size.end) + size.end.size
	if size.end.macro {
		end = h.spelt(size.end) + size.end.length
	}
	if out.Size = (Range{h.spelt(size.begin), end}); out.Size.From >= end {
		return nil, h.errorf(h.at(alloc), "the size of the buffer %s is not plain text", a.Var)
	}
	if at, ok := h.constant(a.id, alloc); !ok {
		return nil, h.errorf(at, "%s may point to other memory here", a.Var)
	}
	if at, ok := h.Copied(a); ok {
		return nil, h.errorf(at, "another variable may point to the buffer %s", a.Var)
	}
	for _, ref := range references(size) {
		if at, ok := h.constant(ref.target, nil); !ok {
			return nil, h.errorf(at, "%s may change here, and the size of the buffer %s depends on it",
				ref.refers, a.Var)
		}
	}
	return out, nil
}

// Copied reports whether the function stores a pointer that it passes as an argument, other than by
// passing it to calls: another pointer may then lead to the same memory.
func (h *Host) Copied(a *HostArg) (at int, ok bool) {
	var walk func(n *node, call bool)
	walk = func(n *node, call bool) {
		if n.kind == "DeclRefExpr" && n.target == a.id && !call {
			at, ok = h.at(n), true
		}
		for _, kid := range n.kids {
			walk(kid, call || n.kind == "CallExpr" || n.kind == "CUDAKernelCallExpr" ||
				n.kind == "UnaryExprOrTypeTraitExpr")
		}
	}
	walk(h.body, false)
	return at, ok
}

func (h *Host) errorf(at int, format string, args ...any) error {
	return &HostError{h.File.PosAt(at), sprintf(format, args...)}
}

// callee returns the name of the function that an expression calls.
func callee(call *node) string {
	n := call.kids[0]
	for n.refers == "" && len(n.kids) == 1 {
		n = n.kids[0]
	}
	return n.refers
}

// at is the offset of a node, of one from a macro that of its use.
func (h *Host) at(n *node) int { return n.begin.offset }

// spelt is the offset where a token is written: an argument of a macro has its place in the use.
func (h *Host) spelt(l loc) int {
	if l.macro {
		return l.spelt
	}
	return l.offset
}

// references returns the names of variables in an expression.
func references(n *node) []*node {
	var out []*node
	if n.kind == "UnaryExprOrTypeTraitExpr" { // sizeof does not evaluate it
		return nil
	}
	if n.kind == "DeclRefExpr" && n.target != "" {
		out = append(out, n)
	}
	for _, kid := range n.kids {
		out = append(out, references(kid)...)
	}
	return out
}

// mentions reports whether an expression names a variable.
func (h *Host) mentions(n *node, id string) bool {
	for _, r := range references(n) {
		if r.target == id {
			return true
		}
	}
	return false
}

// constant reports whether a variable keeps its value in the function, apart from its
// initialization and what a call does to it: every other use reads it. If not, at is a use that may
// change it.
func (h *Host) constant(id string, except *node) (at int, ok bool) {
	ok = true
	var walk func(n, parent *node)
	walk = func(n, parent *node) {
		if n == except || n.kind == "UnaryExprOrTypeTraitExpr" {
			return
		}
		if n.kind == "DeclRefExpr" && n.target == id && !isConst(n.typ) &&
			(parent.kind != "ImplicitCastExpr" || parent.cast != "LValueToRValue") {
			at, ok = h.at(n), false
		}
		for _, kid := range n.kids {
			walk(kid, n)
		}
	}
	walk(h.body, h.body)
	return at, ok
}
