package irgen

import (
	"math"
	"strconv"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx"
)

// The pragmas that mark places for barriers, and barriers that can be removed; N is a number
// from 0.
const (
	pointPragma   = "heddle.point "
	barrierPragma = "heddle.barrier "
)

// point turns the pragma of a point into a pseudo instruction, which marks a place where a barrier
// may be put (repair and placement). Other pragmas are hints for other tools and are ignored (PTX
// ISA 11.4.7).
func (f *fgen) point(d *ptx.Directive, text string) {
	word, ok := strings.CutPrefix(text, pointPragma)
	standing := false
	if !ok {
		if word, standing = strings.CutPrefix(text, barrierPragma); !standing {
			return
		}
	}
	n, err := strconv.ParseUint(word, 10, 64)
	if err != nil || n > math.MaxInt32 {
		f.g.errorf(d.Span(), "%q is not the number of a point; expected 0 to %d", word, math.MaxInt32)
		return
	}
	in := f.newInstr()
	*in = ir.Instr{
		Desc: isa.PointDesc(int(n), standing), Guard: ir.NoReg, Span: d.Span(), Loc: f.frame,
		Src: []ir.Operand{{Kind: ir.Imm, Val: n, Span: d.Span()}},
	}
	f.emit(in, nil)
}
