package isa

import (
	"slices"
	"strconv"
	"strings"
)

// MatrixForm is what the modifiers of a matrix instruction of a warp say (PTX ISA 9.7.14). They are
// not checked against the forms of the ISA text: which combinations exist is for the engine to say.
type MatrixForm struct {
	Operand   string // "a", "b", "c" or "d" of wmma.load and wmma.store
	M, N, K   int    // K is 0 where the shape has two numbers, as .m8n8
	Layouts   []string
	Types     []string // in the order of the text, without dots
	Count     int      // .x1, .x2, .x4; 0 if not written
	Trans     bool
	Satfinite bool
	Round     Rounding
	BitOp     Fn // FnAnd or FnXor of the single-bit forms
	// Other holds modifiers with a meaning beyond these, such as .kind::f8f6f4 and .block_scale.
	Other []string
}

// Matrix decodes the modifiers of d, an instruction of category Matrix.
func (d *Desc) Matrix() MatrixForm {
	f := MatrixForm{}
	mods := d.Mods
	if n := strings.Count(d.Row.Opcode, "."); d.Row.If == nil && n <= len(mods) {
		mods = mods[n:]
	}
	for _, m := range mods {
		switch m {
		case "sync", "aligned", "popc", "shared", "shared::cta", "global":
		case "row", "col":
			f.Layouts = append(f.Layouts, m)
		case "a", "b", "c", "d":
			f.Operand = m
		case "x1", "x2", "x4":
			f.Count = int(m[1] - '0')
		case "trans":
			f.Trans = true
		case "satfinite":
			f.Satfinite = true
		case "and":
			f.BitOp = FnAnd
		case "xor":
			f.BitOp = FnXor
		default:
			f.other(m)
		}
	}
	return f
}

// other takes a modifier that is a rounding, a shape or a type.
func (f *MatrixForm) other(m string) {
	for r := RN; r <= RP; r++ {
		if m == r.String() {
			f.Round = r
			return
		}
	}
	if dims, ok := shape(m); ok && f.M == 0 {
		f.M, f.N, f.K = dims[0], dims[1], dims[2]
		return
	}
	if _, ok := TypeOf(m); ok || slices.Contains(narrowTypes[:], m) {
		f.Types = append(f.Types, m)
		return
	}
	f.Other = append(f.Other, m)
}

// shape reads m16n8k16 and m8n8.
func shape(m string) (dims [3]int, ok bool) {
	for i, letter := range []string{"m", "n", "k"} {
		rest, found := strings.CutPrefix(m, letter)
		if !found {
			return dims, i == 2 && m == ""
		}
		end := 0
		for end < len(rest) && rest[end] >= '0' && rest[end] <= '9' {
			end++
		}
		n, err := strconv.Atoi(rest[:end])
		if err != nil || n <= 0 || n > 1<<16 {
			return dims, false
		}
		dims[i], m = n, rest[end:]
	}
	return dims, m == ""
}
