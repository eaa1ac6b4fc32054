package thread

import (
	"slices"
	"strconv"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lockstep/symbol"
	"heddle/internal/smt"
)

// Free returns the sources of imprecision in terms: the instructions whose results may be anything,
// in the order of the kernel, and whether a loop's register without a closed form occurs. A model
// of other terms is one that a run has.
func (t *Thread) Free(terms []smt.Term) (anything []*ir.Instr, loops bool) {
	c := t.Context
	byIndex := map[int]*ir.Instr{}
	for _, b := range t.Func.Blocks {
		for _, in := range b.Instrs {
			byIndex[in.Index] = in
		}
	}
	seen := map[*ir.Instr]bool{}
	c.Visit(terms, func(x smt.Term) {
		if c.Op(x) != smt.OpApp {
			return
		}
		name := c.Name(x)
		rest, isPrivate := strings.CutPrefix(name, symbol.Private)
		if !isPrivate {
			rest = strings.TrimPrefix(name, symbol.Block)
		}
		kind := strings.TrimRight(rest[:digitsAt(rest)], ".")
		switch kind {
		case "h", "v":
			loops = true
		case "u", "l", "i", "s", "operand":
			number := rest[len(kind):]
			n, err := strconv.Atoi(number[:max(strings.IndexByte(number, '.'), 0)])
			if in := byIndex[n]; err == nil && in != nil && !seen[in] {
				seen[in] = true
				anything = append(anything, in)
			}
		}
	})
	slices.SortFunc(anything, func(a, b *ir.Instr) int { return a.Index - b.Index })
	return anything, loops
}

// digitsAt returns the index of the first digit, or the length.
func digitsAt(s string) int {
	if i := strings.IndexAny(s, "0123456789"); i >= 0 {
		return i
	}
	return len(s)
}

// Contents returns the bytes that a model gives to global arrays at the start of the kernel, up to
// most bytes of each: the inputs that a run needs to follow the model. Bytes that no load of the
// model reads are 0.
func (t *Thread) Contents(m *smt.Model, most int) map[*Object][]byte {
	out := map[*Object][]byte{}
	for name, table := range m.Funcs {
		index, width, instances, ok := symbol.ParseMemory(name)
		if !ok {
			continue
		}
		o := t.objectOf(index)
		if o == nil || o.Space != event.Global {
			continue
		}
		for key, v := range table {
			args := arguments(key)
			if instances && (len(args) < 2 || slices.ContainsFunc(args[1:],
				func(a uint64) bool { return a != 0 })) {
				continue // contents behind a barrier
			}
			if args[0] >= uint64(most) || args[0]+uint64(width/8) > uint64(most) {
				continue
			}
			end := int(args[0]) + width/8
			for len(out[o]) < end {
				out[o] = append(out[o], 0)
			}
			for i := range width / 8 {
				out[o][int(args[0])+i] = byte(v >> (8 * i))
			}
		}
	}
	return out
}

// objectOf returns the object of an index; nil if there is none.
func (t *Thread) objectOf(index int) *Object {
	for _, o := range t.Objects {
		if o.Index == index {
			return o
		}
	}
	return nil
}

// arguments reads a smt.Key.
func arguments(key string) []uint64 {
	var out []uint64
	for i := 0; i+8 <= len(key); i += 8 {
		var a uint64
		for j := range 8 {
			a |= uint64(key[i+j]) << (8 * j)
		}
		out = append(out, a)
	}
	return out
}
