package irgen

import (
	"strconv"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
	"heddle/internal/source"
)

// scope is a name space: the module, a function with its parameters, a body, or a nested { }. Names
// of an inner scope hide those of the outer ones (PTX ISA 5.4, 4.3.1). All name spaces of PTX are
// one: a label and a register cannot share a name in one scope.
type scope struct {
	parent *scope
	syms   map[string]*symbol
	ranges []regRange
}

// symKind says which fields of a symbol count.
type symKind uint8

const (
	symReg     symKind = iota // regs: one, or the components of a vector register
	symVar                    // v
	symFunc                   // fn
	symLabel                  // label
	symTargets                // branches or funcs: a .branchtargets or .calltargets list
	symProto                  // proto
)

// symbol is what a name denotes. kind says which of the other fields are set; span is the place of
// the declaration, for messages.
type symbol struct {
	kind   symKind
	span   source.Span
	regs   []ir.RegID
	vector bool
	v      *ir.Var
	fn     *ir.Func
	label  *label
	list   *ptx.Directive
	proto  *ptx.Prototype
}

// label is a place in a body. Branches refer to it before its block is known; finish and resolve
// follow the pointer when the body has been walked.
type label struct {
	name  string
	block ir.BlockID
}

// regRange is .reg .b32 %r<100>: registers that come into being when they are first named, so that
// a declaration of a billion costs nothing.
type regRange struct {
	prefix string
	n      int64
	typ    isa.Type
	vec    int
	span   source.Span
}

// lookup finds a name in s and the scopes around it; nil if there is none. A register of a range
// (%r<100>) is created in f the first time it is named. f is nil at module level, where there are
// no registers.
func (s *scope) lookup(f *fgen, name string) *symbol {
	for ; s != nil; s = s.parent {
		if sym := s.syms[name]; sym != nil {
			return sym
		}
		if len(s.ranges) > 0 && f != nil {
			if sym := s.fromRange(f, name); sym != nil {
				return sym
			}
		}
	}
	return nil
}

// fromRange creates the register that name denotes if a range of s covers it. The number may be
// split from the prefix at several places: %r1<10> declares %r10 to %r19. Leading zeros are not
// part of any range.
func (s *scope) fromRange(f *fgen, name string) *symbol {
	for i := range s.ranges {
		r := &s.ranges[i]
		digits, ok := strings.CutPrefix(name, r.prefix)
		if !ok || digits == "" || len(digits) > 1 && digits[0] == '0' {
			continue
		}
		n, err := strconv.ParseUint(digits, 10, 63)
		if err != nil || int64(n) >= r.n {
			continue
		}
		sym := f.newReg(name, r.typ, r.vec, r.span)
		s.put(name, sym)
		return sym
	}
	return nil
}

// put enters a symbol; most scopes stay empty and never allocate their map.
func (s *scope) put(name string, sym *symbol) {
	if s.syms == nil {
		s.syms = make(map[string]*symbol)
	}
	s.syms[name] = sym
}

// define adds a name to a scope. A second definition in the same scope is an error, which names the
// first; an inner scope may hide a name.
func (g *gen) define(s *scope, name string, sym *symbol) {
	if old := s.syms[name]; old != nil {
		g.errorf(sym.span, "%s is declared twice in one scope; the first declaration is at %s", name,
			g.set.Format(old.span.Start))
		return
	}
	s.put(name, sym)
}

// what names the kind of a symbol in messages, with its article.
func (s *symbol) what() string {
	switch s.kind {
	case symReg:
		if s.vector {
			return "a vector register"
		}
		return "a register"
	case symVar:
		if s.v.Space.String() != "" {
			return "a ." + s.v.Space.String() + " variable"
		}
		return "a variable"
	case symFunc:
		return "a function"
	case symLabel:
		return "a label"
	case symTargets:
		return "a " + s.list.Name + " list"
	}
	return "a .callprototype"
}
