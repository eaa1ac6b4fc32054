package lockstep

import (
	"slices"
	"strconv"
	"strings"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/smt"
)

// Free returns the instructions whose results are taken to be anything in the terms, in the order of the kernel, and
// whether the terms hold a loop's registers of which no closed form is known: where a model of them may be one that no run has.
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
		rest, isPrivate := strings.CutPrefix(name, private)
		if !isPrivate {
			rest = strings.TrimPrefix(name, inBlock)
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

// Contents returns the bytes that a model gives to arrays at the start of the kernel, as far as loads of it asked and up to
// most bytes of each: what a run has to find there to be the run of the model. Bytes that nothing asked for are 0.
func (t *Thread) Contents(m *smt.Model, most int) map[*Object][]byte {
	out := map[*Object][]byte{}
	for name, table := range m.Funcs {
		index, width, atEntry, ok := memoryName(name)
		if !ok {
			continue
		}
		o := t.objectOf(index)
		if o == nil || o.Space != event.Global {
			continue
		}
		for key, v := range table {
			args := arguments(key)
			if atEntry && (len(args) < 2 || slices.ContainsFunc(args[1:], func(a uint64) bool { return a != 0 })) {
				continue // what the array holds behind a barrier
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

func (t *Thread) objectOf(index int) *Object {
	for _, o := range t.Objects {
		if o.index == index {
			return o
		}
	}
	return nil
}

// memoryName reads the name of a function that stands for the contents of an array; atEntry, if its other arguments say
// behind which barrier.
func memoryName(name string) (index, width int, atEntry, ok bool) {
	rest, found := strings.CutPrefix(name, inGrid+"m:")
	if !found {
		if rest, atEntry = strings.CutPrefix(name, inBlock+"m:"); !atEntry {
			return 0, 0, false, false
		}
	}
	rest, _, _ = strings.Cut(rest, "$")
	a, b, _ := strings.Cut(rest, ":")
	index, err := strconv.Atoi(a)
	if err != nil {
		return 0, 0, false, false
	}
	if width, err = strconv.Atoi(b); err != nil {
		return 0, 0, false, false
	}
	return index, width, atEntry, true
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

// IsParam reports whether a symbol is a part of a parameter's value.
func IsParam(name string) bool { return strings.HasPrefix(name, inGrid+"param:") }

// IsIndex reports whether a symbol is a part of a thread's or block's index, or a loop counter.
func IsIndex(name string) bool {
	for _, p := range []string{inGrid + "ntid.", inGrid + "nctaid.", private + "tid.", private + "ctaid.", inBlock + "ctaid.", counterPrefix} {
		if strings.HasPrefix(name, p) {
			return true
		}
	}
	return false
}
