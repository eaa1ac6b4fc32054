package ptx

import "heddle/internal/source"

// Node is any node of the tree.
type Node interface{ Span() source.Span }

// Walk calls fn for every node of f in the order of the text, a node before its parts. Where fn returns
// false the parts are left out.
func Walk(f *File, fn func(Node) bool) {
	w := walker(fn)
	for _, d := range f.Decls {
		w.node(d)
	}
}

type walker func(Node) bool

func (w walker) node(n Node) {
	if !w(n) {
		return
	}
	switch n := n.(type) {
	case *Func:
		w.vars(n.Results)
		w.vars(n.Params)
		w.directives(n.Dirs)
		if n.Body != nil {
			w.node(n.Body)
		}
	case *Prototype:
		w.vars(n.Results)
		w.vars(n.Params)
		w.directives(n.Dirs)
	case *Block:
		for _, s := range n.Stmts {
			w.node(s)
		}
	case *Inst:
		w.operands(n.Operands)
	case *Directive:
		w.operands(n.Args)
	case *Section:
		for i := range n.Data {
			w.operands(n.Data[i].Args)
		}
	case *Var:
		for i := range n.Names {
			w.init(n.Names[i].Init)
		}
	case Operand:
		w.operand(n)
	}
}

// operand visits the parts of n.
func (w walker) operand(n Operand) {
	switch n := n.(type) {
	case *Vector:
		w.operands(n.Elems)
	case *Paren:
		w.operands(n.Elems)
	case *Mem:
		w.operands(n.Elems)
	case *Unary:
		w.node(n.X)
	case *Binary:
		w.node(n.X)
		w.node(n.Y)
		if n.Z != nil {
			w.node(n.Z)
		}
	case *Pair:
		w.node(n.X)
		w.node(n.Y)
	case *Index:
		w.node(n.X)
		w.node(n.I)
	}
}

func (w walker) operands(list []Operand) {
	for _, x := range list {
		w.node(x)
	}
}

func (w walker) vars(list []*Var) {
	for _, v := range list {
		w.node(v)
	}
}

func (w walker) directives(list []*Directive) {
	for _, d := range list {
		w.node(d)
	}
}

func (w walker) init(in *Init) {
	if in == nil {
		return
	}
	if in.Value != nil {
		w.node(in.Value)
	}
	for _, x := range in.List {
		w.init(x)
	}
}
