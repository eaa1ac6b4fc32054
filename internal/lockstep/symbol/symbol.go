// Package symbol names the symbols of a symbolic thread, and renames those of one thread to those
// of two.
//
// A name begins with who shares the value:
//
//	p!  private: each thread has its own
//	b!  one value for all threads of a block, at one iteration
//	g!  one value for the whole grid
//	&   the base address of an array
//
// The two-thread reduction rests on these prefixes alone (Collingbourne et al., ESOP 2013, section
// 4.1): Instance renames the private names, so that one symbolic thread serves as both. A value
// that is private and is named as shared would make two threads agree on it, and hide races. So
// every name is made here or begins with a constant of this package. Names are also keys: of
// models, of axioms and of kept answers.
package symbol

import (
	"fmt"
	"strconv"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/smt"
)

// Prefixes of names.
const (
	Private = "p!"
	Block   = "b!"
	Grid    = "g!"
	Base    = "&"
	// Counter begins the names of loop counters, which are private to a thread, and no other names.
	Counter = Private + "#"
	// Share begins the names of the shares that threads have of a copy which their group makes.
	Share = Private + "share"
	// Param begins the names of the values of parameters.
	Param = Grid + "param:"
	// Op begins the names of functions that depend on nothing but their arguments.
	Op = Grid + "op:"
	// SameBlock is the whole name of the symbol that is true if the two threads of a pair are in one
	// block.
	SameBlock = Private + "same"
)

// Instance returns a renaming of the symbols of one thread to those of thread number i of a pair.
// Threads of different blocks share only what the grid shares.
func Instance(c *smt.Context, i int, otherBlock bool) *smt.Substitution {
	suffix := fmt.Sprintf("$%d", i)
	return c.Rename(func(name string) string {
		if strings.HasPrefix(name, Private) || otherBlock && strings.HasPrefix(name, Block) {
			return name + suffix
		}
		return name
	})
}

// Leader returns a renaming of the symbols of one thread to those of a third thread, in the block of
// thread number i of a pair in two blocks.
func Leader(c *smt.Context, i int) *smt.Substitution {
	return suffixed(c, fmt.Sprintf("$%d", i+2), fmt.Sprintf("$%d", i))
}

// Further returns a renaming of the symbols of one thread to those of the n-th further thread in
// the block of thread number i of a pair.
func Further(c *smt.Context, i, n int, otherBlock bool) *smt.Substitution {
	block := ""
	if otherBlock {
		block = fmt.Sprintf("$%d", i)
	}
	return suffixed(c, fmt.Sprintf("$%d.%d", i, n), block)
}

// suffixed returns a renaming that appends to the names of symbols: own to those of a thread, block
// to those of its block.
func suffixed(c *smt.Context, own, block string) *smt.Substitution {
	return c.Rename(func(name string) string {
		switch {
		case strings.HasPrefix(name, Private):
			return name + own
		case strings.HasPrefix(name, Block):
			return name + block
		}
		return name
	})
}

// OfGrid reports whether all threads of the grid agree on the symbol of that name.
func OfGrid(name string) bool {
	return !strings.HasPrefix(name, Private) && !strings.HasPrefix(name, Block)
}

// Companion is Instance(c, 2, false) for a second thread that is in the same iterations of all
// loops as the first.
func Companion(c *smt.Context) *smt.Substitution {
	return c.Rename(func(name string) string {
		switch {
		case strings.HasPrefix(name, Counter):
			return name + "$1"
		case strings.HasPrefix(name, Private):
			return name + "$2"
		}
		return name
	})
}

// Iterations returns a renaming of the symbols of one thread to those of the same thread in other
// iterations of its loops.
func Iterations(c *smt.Context) *smt.Substitution {
	return c.Rename(func(name string) string {
		if strings.HasPrefix(name, Counter) {
			return name + "$other"
		}
		return name
	})
}

// Apply returns the function called name at the arguments, with a result of width bits (0: a
// formula).
func Apply(c *smt.Context, name string, width int, args ...smt.Term) smt.Term {
	widths := make([]int, len(args))
	for i, a := range args {
		widths[i] = c.Width(a)
	}
	return c.Apply(c.Declare(name, width, widths...), args...)
}

// Opaque is a value that depends on its operands alone, in a way that is not modelled.
func Opaque(c *smt.Context, name string, width int, args ...smt.Term) smt.Term {
	for _, a := range args {
		name += fmt.Sprintf(".%d", c.Width(a))
	}
	return Apply(c, fmt.Sprintf("%s%s:%d", Op, name, width), width, args...)
}

// Uninterpreted is a call of a function of its arguments that the source declares, such as one of
// DECLARE_UF_UNARY in heddle.h.
func Uninterpreted(c *smt.Context, function string, width int, args ...smt.Term) smt.Term {
	return Opaque(c, "uf_"+function, width, args...)
}

// ParamName is the name of the variable for the w bits at a byte offset of a parameter: a model
// gives them by it.
func ParamName(v *ir.Var, off, w int) string {
	return fmt.Sprintf("%s%s+%d:%d", Param, v.Name, off, w)
}

// IsParam reports whether a symbol is a part of a parameter's value.
func IsParam(name string) bool { return strings.HasPrefix(name, Param) }

// IsIndex reports whether a symbol is a part of a thread's or block's index, a size of the launch,
// or a loop counter.
func IsIndex(name string) bool {
	for _, p := range []string{
		Grid + "ntid.", Grid + "nctaid.", Private + "tid.", Private + "ctaid.", Block + "ctaid.", Counter,
	} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}

// MemoryName is the name of the function from offsets to the w-bit contents of array number index.
// Of an array that the kernel writes (scope Block), the other arguments are the barrier instance
// behind which these are the contents.
func MemoryName(scope string, index, w int) string {
	return fmt.Sprintf("%sm:%d:%d", scope, index, w)
}

// EverName is the name of the function from offsets to the w-bit contents of shared array number
// index, which the kernel never writes.
func EverName(index, w int) string { return fmt.Sprintf("%sever:%d:%d", Block, index, w) }

// ParseMemory reads a MemoryName, renamed or not. Instances reports that the function has a barrier
// instance among its arguments.
func ParseMemory(name string) (index, w int, instances, ok bool) {
	rest, found := strings.CutPrefix(name, Grid+"m:")
	if !found {
		if rest, instances = strings.CutPrefix(name, Block+"m:"); !instances {
			return 0, 0, false, false
		}
	}
	rest, _, _ = strings.Cut(rest, "$")
	a, b, _ := strings.Cut(rest, ":")
	index, err := strconv.Atoi(a)
	if err != nil {
		return 0, 0, false, false
	}
	if w, err = strconv.Atoi(b); err != nil {
		return 0, 0, false, false
	}
	return index, w, instances, true
}

// Is reports whether a term is a symbol: a variable, or a function that is not interpreted.
func Is(c *smt.Context, t smt.Term) bool { return c.Op(t) == smt.OpVar || c.Op(t) == smt.OpApp }

// Any reports whether a predicate holds for the name of a symbol in a term.
func Any(c *smt.Context, t smt.Term, is func(name string) bool) bool {
	found := false
	c.Visit([]smt.Term{t}, func(u smt.Term) { found = found || Is(c, u) && is(c.Name(u)) })
	return found
}

// Mentions reports whether a term contains the symbol of that name.
func Mentions(c *smt.Context, name string, t smt.Term) bool {
	return Any(c, t, func(n string) bool { return n == name })
}

// Uniformity answers whether terms have the same value in all threads of a block. It remembers its
// answers, which never change: a term is a value.
type Uniformity struct {
	c    *smt.Context
	memo map[smt.Term]bool
}

// NewUniformity returns one for the terms of c.
func NewUniformity(c *smt.Context) *Uniformity { return &Uniformity{c, map[smt.Term]bool{}} }

// Of reports whether the terms have the same values in all threads of a block that are in the same
// iteration of the loops around: they contain no private symbol except loop counters. It is
// syntactic, so false may be wrong.
func (u *Uniformity) Of(ts ...smt.Term) bool {
	for _, t := range ts {
		if !u.of(t) {
			return false
		}
	}
	return true
}

func (u *Uniformity) of(t smt.Term) bool {
	if is, ok := u.memo[t]; ok {
		return is
	}
	is := true
	if Is(u.c, t) {
		name := u.c.Name(t)
		is = !strings.HasPrefix(name, Private) || strings.HasPrefix(name, Counter)
	}
	for _, a := range u.c.Args(t) {
		is = is && u.of(a)
	}
	u.memo[t] = is
	return is
}

// Previous is a term one iteration earlier, by the counter of the loop.
func Previous(c *smt.Context, counter, t smt.Term) smt.Term {
	s := c.Substitute()
	s.Replace(counter, c.AddConst(counter, ^uint64(0)))
	return s.Apply(t)
}
