package fix

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/lazyregexp"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// Waits, arrivals and announcements in the source. In the PTX they name registers. In the source an
// object is named by what a call or an asm statement is given that is about it: &full of
// wait(&full, i & 1). What is added is a copy of a statement of the function that does the same with
// another object or number, a call of a function that does it, or an asm statement.
//
// Which argument is the object follows from the asm statement in the function that is called, or, of
// functions of libraries, from their names.

// spoken is a call or an asm statement about an mbarrier.
type spoken struct {
	use    *syntax.Use
	object *syntax.Given
	member bool // object is that of a member call
	value  *syntax.Given
	size   *syntax.Given // of a bulk copy
}

// roles are the numbers of the operands of an asm statement that are an mbarrier, a parity, bytes or
// a count, and the size of a copy; -1 without.
type roles struct{ object, value, size int }

// What asm statements say, as the instruction in them: of an operation on an mbarrier, the address
// and the number behind it, of a commit, the address, and of a bulk copy, the size and the address
// that comes last.
var (
	objectOperand = lazyregexp.New(
		`mbarrier\.[\w.:]+\s+(?:[\w%|]+\s*,\s*)?\[%(\d+)\](?:\s*,\s*%(\d+))?`)
	commitOperand = lazyregexp.New(`tcgen05\.commit\.[\w.:]+\s+\[%(\d+)\]`)
	copyOperands  = lazyregexp.New(
		`cp\.(?:reduce\.)?async\.bulk[\w.:]*mbarrier::[\w.:]+\s+\[%\d+\]\s*,\s*\[[^\]]*\](?:\s*,\s*%(\d+))?\s*,\s*\[%(\d+)\]`)
)

// rolesOf reads an asm statement.
func rolesOf(text string) (roles, bool) {
	number := func(text string) int {
		n := -1
		fmt.Sscan(text, &n)
		return n
	}
	if m := copyOperands.FindStringSubmatch(text); m != nil {
		return roles{object: number(m[2]), value: -1, size: number(m[1])}, true
	}
	if m := commitOperand.FindStringSubmatch(text); m != nil {
		return roles{object: number(m[1]), value: -1, size: -1}, true
	}
	if m := objectOperand.FindStringSubmatch(text); m != nil {
		return roles{object: number(m[1]), value: number(m[2]), size: -1}, true
	}
	return roles{}, false
}

// library has the functions of libraries, by the last part of their names: those of CuTe, whose
// first argument is the object, and the members of its classes and of cuda::barrier. A function of
// cuda::ptx has the object as its first argument that is a pointer, the value behind it; a copy has
// it as the last one, the size before it.
var library = map[string]struct{ pointer, member, copies bool }{
	"cp_async_bulk":            {copies: true},
	"mbarrier_try_wait_parity": {pointer: true}, "mbarrier_test_wait_parity": {pointer: true},
	"mbarrier_arrive": {pointer: true}, "mbarrier_arrive_expect_tx": {pointer: true},
	"mbarrier_expect_tx": {pointer: true}, "mbarrier_init": {pointer: true},
	"wait_barrier": {}, "arrive_barrier": {}, "set_barrier_transaction_bytes": {}, "initialize_barrier": {},
	"wait": {member: true}, "arrive": {member: true}, "arrive_and_expect_tx": {member: true},
	"expect_transaction": {member: true}, "init": {member: true}, "wait_parity": {member: true},
}

// spoken returns what an instruction comes from in a function of the unit; nil if that says nothing
// about an mbarrier.
func (s *sourceFixer) spoken(in *ir.Instr, fn *syntax.Func) *spoken {
	if in == nil {
		return nil
	}
	var inner *source.Frame
	fr := in.Loc
	for ; fr != nil && s.unit.FuncOf(fr.Pos) != fn; fr = fr.Parent {
		inner = fr
	}
	if fr == nil {
		return nil
	}
	off, ok := fn.File.Offset(fr.Pos)
	if !ok {
		return nil
	}
	use := s.unit.UseAt(fn, off)
	switch {
	case use == nil:
		return nil
	case use.Asm:
		r, ok := rolesOf(fn.Text(use.Range))
		if !ok {
			return nil
		}
		at := func(n int) *syntax.Given { return given(use, n) }
		return known(&spoken{use: use, object: at(r.object), value: at(r.value), size: at(r.size)})
	case inner != nil && s.unit.FuncOf(inner.Pos) != nil:
		if sp := s.ofFunction(use, s.unit.FuncOf(inner.Pos)); sp != nil {
			return sp
		}
	}
	return ofLibrary(use)
}

func known(sp *spoken) *spoken {
	if sp.object == nil {
		return nil
	}
	return sp
}

func given(use *syntax.Use, n int) *syntax.Given {
	if n < 0 || n >= len(use.Given) {
		return nil
	}
	return &use.Given[n]
}

// ofFunction reads a call of a function with one asm statement: its arguments are what the
// parameters are for which the asm statement is given.
func (s *sourceFixer) ofFunction(use *syntax.Use, callee *syntax.Func) *spoken {
	asm := s.unit.AsmOf(callee)
	if asm == nil {
		return nil
	}
	r, ok := rolesOf(callee.Text(asm.Range))
	if !ok {
		return nil
	}
	sp := &spoken{use: use}
	argument := func(n int) *syntax.Given {
		if g := given(asm, n); g != nil {
			return given(use, parameterIn(callee, g.Text))
		}
		return nil
	}
	sp.object, sp.value, sp.size = argument(r.object), argument(r.value), argument(r.size)
	if sp.object == nil && use.Object != nil { // a member of the object
		sp.object, sp.member = use.Object, true
	}
	return known(sp)
}

var word = lazyregexp.New(`[A-Za-z_]\w*`)

// parameterIn returns the number of the parameter that an expression is about; -1 if there is none.
func parameterIn(fn *syntax.Func, text string) int {
	params, _ := fn.Params()
	for _, w := range word.FindAllString(text, -1) {
		if i := slices.IndexFunc(params, func(p syntax.Param) bool { return p.Name == w }); i >= 0 {
			return i
		}
	}
	return -1
}

// ofLibrary reads a call of a function of a library.
func ofLibrary(use *syntax.Use) *spoken {
	names := word.FindAllString(strings.SplitN(use.Callee, "<", 2)[0], -1)
	if len(names) == 0 {
		return nil
	}
	f, ok := library[names[len(names)-1]]
	sp := &spoken{use: use}
	switch {
	case !ok || f.member && use.Object == nil:
		return nil
	case f.copies:
		for i := range use.Given {
			if use.Given[i].Pointer {
				sp.object, sp.size = &use.Given[i], given(use, i-1)
			}
		}
	case f.member:
		sp.object, sp.member, sp.value = use.Object, true, given(use, 0)
	default:
		i := 0
		if f.pointer {
			i = slices.IndexFunc(use.Given, func(g syntax.Given) bool { return g.Pointer })
		}
		sp.object, sp.value = given(use, i), given(use, i+1)
	}
	return known(sp)
}
