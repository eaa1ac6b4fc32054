package lockstep

import (
	"fmt"
	"strings"

	"heddle/internal/smt"
)

// Names of symbols begin with who shares their value:
//
//	p!  private: each thread has its own
//	b!  one value for all threads of a block, at one iteration
//	g!  one value for the whole grid
//	&   the base address of an object
//
// Instance renames the private ones, so that one symbolic thread serves as two.
const (
	private = "p!"
	inBlock = "b!"
	inGrid  = "g!"
	base    = "&"
)

// Instance returns a renaming of the symbols of one thread to those of thread number i of a pair. Threads of
// different blocks share only what the grid shares.
func Instance(c *smt.Context, i int, otherBlock bool) *smt.Substitution {
	suffix := fmt.Sprintf("$%d", i)
	return c.Rename(func(name string) string {
		if strings.HasPrefix(name, private) || otherBlock && strings.HasPrefix(name, inBlock) {
			return name + suffix
		}
		return name
	})
}

// Companion is Instance(c, 2, false) for a second thread that is in the same iterations of all loops as the first.
func Companion(c *smt.Context) *smt.Substitution {
	return c.Rename(func(name string) string {
		switch {
		case strings.HasPrefix(name, counterPrefix):
			return name + "$1"
		case strings.HasPrefix(name, private):
			return name + "$2"
		}
		return name
	})
}

// uniform reports whether a term has the same value in all threads of a block that are at the same iteration
// of the loops around: it contains no private symbol but loop counters.
func (x *exec) uniform(ts ...smt.Term) bool {
	for _, t := range ts {
		if !x.isUniform(t) {
			return false
		}
	}
	return true
}

func (x *exec) isUniform(t smt.Term) bool {
	if u, ok := x.uniformMemo[t]; ok {
		return u
	}
	u := true
	if op := x.c.Op(t); op == smt.OpVar || op == smt.OpApp {
		name := x.c.Name(t)
		u = !strings.HasPrefix(name, private) || strings.HasPrefix(name, counterPrefix)
	}
	for _, a := range x.c.Args(t) {
		u = u && x.isUniform(a)
	}
	x.uniformMemo[t] = u
	return u
}

// mentions reports whether any of the terms contains the symbol.
func (x *exec) mentions(name string, ts ...smt.Term) bool {
	found := false
	x.c.Visit(ts, func(t smt.Term) {
		if op := x.c.Op(t); (op == smt.OpVar || op == smt.OpApp) && x.c.Name(t) == name {
			found = true
		}
	})
	return found
}
