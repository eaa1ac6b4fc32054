package isa

import (
	"fmt"
	"slices"
	"strings"
)

// MMAForm is what mma or mma.sp computes: D = A*B + C, where A has M rows and K columns, and B has K
// rows and N columns (PTX ISA 9.7.14.5.14, 9.7.14.6.3).
type MMAForm struct {
	M, N, K    int
	D, A, B, C string // types of elements, without dots
	// Columns says of A and B that fragments are by columns of A, or by rows of B: only of .m8n8k4.
	AColumns, BRows bool
	Kind            string // "f8f6f4" and so on; "" if none is written
	// Sparse says that half of A is zero and not stored, Ordered that its metadata is sorted.
	Sparse, Ordered bool
	Scale           string // type of the scale factors of rows and columns; "" without .block_scale
	ScaleVec        int    // scale factors of one row of A, and of one column of B
	Satfinite       bool
	Round           Rounding
	BitOp           Fn // FnAnd or FnXor of the single-bit forms
}

// Contained reports whether each element of A and B is in a container of 8 bits, also one of 4 or 6
// bits.
func (f *MMAForm) Contained() bool { return f.Kind == "f8f6f4" || f.Kind == "mxf8f6f4" }

// Granularity is how many columns of a sparse A are described by four bits of metadata. Half of
// their elements are stored (PTX ISA 9.7.14.6.1).
func (f *MMAForm) Granularity() int {
	switch f.A {
	case "tf32":
		return 2
	case "s4", "u4":
		return 8
	case "e2m1":
		if !f.Contained() {
			return 8
		}
	}
	return 4
}

// mmaLine is a line of the syntax of mma, for multiplicands of some types.
type mmaLine struct {
	kind          string
	types         []string            // of A and of B, if mixed of any two of them
	mixed         bool                // A and B may have different types
	dense, sparse []string            // shapes, without the dot
	sums          []string            // types of C and D
	scales        map[string][]string // types of scale factors: the sizes of their vectors
}

// The types that an operand of a kind may have.
var (
	bytesFP   = []string{"e4m3", "e5m2"}
	narrowFP  = []string{"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"}
	halfSums  = []string{"f16", "f32"}
	floatSums = []string{"f32"}
	wordSums  = []string{"s32"}
)

// mmaLines are the lines of 9.7.14.5.14 and 9.7.14.6.3.
var mmaLines = []mmaLine{
	{types: []string{"f16"}, dense: []string{"m8n8k4", "m16n8k8", "m16n8k16"},
		sparse: []string{"m16n8k16", "m16n8k32"}, sums: halfSums},
	{types: []string{"bf16"}, dense: []string{"m16n8k8", "m16n8k16"},
		sparse: []string{"m16n8k16", "m16n8k32"}, sums: floatSums},
	{types: []string{"tf32"}, dense: []string{"m16n8k4", "m16n8k8"},
		sparse: []string{"m16n8k8", "m16n8k16"}, sums: floatSums},
	{types: bytesFP, mixed: true, dense: []string{"m16n8k16", "m16n8k32"},
		sparse: []string{"m16n8k64"}, sums: halfSums},
	{types: []string{"f64"}, dense: []string{"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"},
		sums: []string{"f64"}},
	{types: []string{"u8", "s8"}, mixed: true, dense: []string{"m8n8k16", "m16n8k16", "m16n8k32"},
		sparse: []string{"m16n8k32", "m16n8k64"}, sums: wordSums},
	{types: []string{"u4", "s4"}, mixed: true, dense: []string{"m8n8k32", "m16n8k32", "m16n8k64"},
		sparse: []string{"m16n8k64", "m16n8k128"}, sums: wordSums},
	{types: []string{"b1"}, dense: []string{"m8n8k128", "m16n8k128", "m16n8k256"}, sums: wordSums},

	{kind: "f8f6f4", types: narrowFP, mixed: true, dense: []string{"m16n8k32"},
		sparse: []string{"m16n8k64"}, sums: halfSums},
	{kind: "mxf8f6f4", types: narrowFP, mixed: true, dense: []string{"m16n8k32"},
		sparse: []string{"m16n8k64"}, sums: floatSums, scales: map[string][]string{"ue8m0": {"1X"}}},
	{kind: "mxf4", types: []string{"e2m1"}, dense: []string{"m16n8k64"},
		sparse: []string{"m16n8k128"}, sums: floatSums, scales: map[string][]string{"ue8m0": {"2X"}}},
	{kind: "mxf4nvf4", types: []string{"e2m1"}, dense: []string{"m16n8k64"},
		sparse: []string{"m16n8k128"}, sums: floatSums,
		scales: map[string][]string{"ue8m0": {"2X", "4X"}, "ue4m3": {"4X"}}},
}

// MMA decodes mma and mma.sp. It fails if the ISA has no such form, and says what it has.
func (d *Desc) MMA() (MMAForm, error) {
	m := d.Matrix()
	p := &mmaParser{desc: d, form: MMAForm{M: m.M, N: m.N, K: m.K, Satfinite: m.Satfinite,
		Round: m.Round, BitOp: m.BitOp}}
	if !d.aligned() {
		return p.form, p.errorf(".sync and .aligned are missing")
	}
	for _, word := range m.Other {
		if err := p.word(word); err != nil {
			return p.form, err
		}
	}
	for _, check := range []func(*MatrixForm) error{
		p.typed, p.shaped, p.accumulated, p.modified, p.scaled, p.laidOut,
	} {
		if err := check(&m); err != nil {
			return p.form, err
		}
	}
	return p.form, nil
}

// mmaParser decodes one instruction.
type mmaParser struct {
	desc       *Desc
	form       MMAForm
	line       *mmaLine
	blockScale bool
	vector     string // of .scale_vec, such as 2X
}

// errorf is an error about the form.
func (p *mmaParser) errorf(format string, args ...any) error {
	return fmt.Errorf("%s (PTX ISA %s)", fmt.Sprintf(format, args...), p.desc.Section)
}

// word takes a modifier that is neither a shape nor a type.
func (p *mmaParser) word(m string) error {
	switch m {
	case "sp":
		p.form.Sparse = true
	case "sp::ordered_metadata":
		p.form.Sparse, p.form.Ordered = true, true
	case "block_scale":
		p.blockScale = true
	default:
		if kind, ok := strings.CutPrefix(m, "kind::"); ok {
			p.form.Kind = kind
			return nil
		}
		size, ok := strings.CutPrefix(m, "scale_vec::")
		if !ok {
			return p.errorf("modifier .%s is not one of mma", m)
		}
		p.vector = size
	}
	return nil
}

// dotted lists words as modifiers.
func dotted(words []string) string { return "." + strings.Join(words, ", .") }

// typed finds the line of the types of A and B.
func (p *mmaParser) typed(m *MatrixForm) error {
	f := &p.form
	if len(m.Types) < 4 || len(m.Types) > 5 {
		return p.errorf("expected the types of D, A, B and C, and with .block_scale that of scale " +
			"factors")
	}
	f.D, f.A, f.B, f.C = m.Types[0], m.Types[1], m.Types[2], m.Types[3]
	if len(m.Types) == 5 {
		f.Scale = m.Types[4]
	}
	var kinds, others []string
	for i := range mmaLines {
		l := &mmaLines[i]
		switch {
		case l.kind == f.Kind && slices.Contains(l.types, f.A):
			p.line = l
		case l.kind == f.Kind:
			kinds = append(kinds, l.types...)
		case slices.Contains(l.types, f.A):
			others = append(others, "kind::"+l.kind)
		}
	}
	switch {
	case p.line == nil && f.Kind != "" && kinds == nil:
		return p.errorf("there is no .kind::%s", f.Kind)
	case p.line == nil && f.Kind == "" && others != nil:
		return p.errorf("elements of .%s need one of %s", f.A, dotted(others))
	case p.line == nil:
		return p.errorf("elements of A are of %s, not .%s", dotted(kinds), f.A)
	case !slices.Contains(p.line.types, f.B) || !p.line.mixed && f.A != f.B:
		return p.errorf("elements of .%s and .%s cannot be multiplied", f.A, f.B)
	}
	return nil
}

// shaped checks the shape, and which sparse forms there are.
func (p *mmaParser) shaped(*MatrixForm) error {
	f := &p.form
	shapes := p.line.dense
	if f.Sparse {
		shapes = p.line.sparse
	}
	shape := fmt.Sprintf("m%dn%dk%d", f.M, f.N, f.K)
	switch {
	case len(shapes) == 0:
		return p.errorf("there is no sparse form for elements of .%s", f.A)
	case !slices.Contains(shapes, shape):
		return p.errorf("the shape for elements of .%s is %s", f.A, dotted(shapes))
	case f.Sparse && f.Kind != "" && !f.Ordered:
		return p.errorf(".kind::%s needs .sp::ordered_metadata", f.Kind)
	}
	return nil
}

// accumulated checks the types of C and D.
func (p *mmaParser) accumulated(*MatrixForm) error {
	f, sums := &p.form, p.line.sums
	if f.Sparse && f.Kind == "" && slices.Contains(bytesFP, f.A) {
		sums = floatSums // the text has no other
	}
	switch {
	case !slices.Contains(sums, f.C) || !slices.Contains(sums, f.D):
		return p.errorf("C and D are of %s for elements of .%s", dotted(sums), f.A)
	case f.M == 8 && f.A == "f16" && f.C == "f32" && f.D != "f32":
		return p.errorf("D is of .f32 if C is")
	case (f.M != 8 || f.A != "f16") && f.C != f.D:
		return p.errorf("C and D have the same type in this shape")
	}
	return nil
}

// modified checks modifiers of some types only.
func (p *mmaParser) modified(*MatrixForm) error {
	f := &p.form
	switch {
	case f.Satfinite && (f.C != "s32" || f.A == "b1"):
		return p.errorf(".satfinite is for integers")
	case f.Round != NoRounding && f.A != "f64":
		return p.errorf("a rounding is for .f64")
	case f.A == "b1" && f.BitOp == NoFn:
		return p.errorf("elements of .b1 need .and.popc or .xor.popc")
	case f.A != "b1" && f.BitOp != NoFn:
		return p.errorf(".%s is for elements of .b1", f.BitOp)
	}
	return nil
}

// scaled checks what belongs to .block_scale.
func (p *mmaParser) scaled(*MatrixForm) error {
	f := &p.form
	switch {
	case p.line.scales == nil && (p.blockScale || p.vector != "" || f.Scale != ""):
		return p.errorf(".block_scale and what belongs to it need .kind::mxf8f6f4, .kind::mxf4 or " +
			".kind::mxf4nvf4")
	case p.line.scales == nil:
		return nil
	case !p.blockScale:
		return p.errorf(".kind::%s needs .block_scale", f.Kind)
	case f.Scale == "":
		return p.errorf("the type of scale factors is missing")
	}
	sizes := p.line.scales[f.Scale]
	switch {
	case sizes == nil:
		return p.errorf("scale factors of .kind::%s are not of .%s", f.Kind, f.Scale)
	case p.vector == "" && f.Kind == "mxf4nvf4":
		return p.errorf(".kind::mxf4nvf4 needs a size of .scale_vec")
	case p.vector == "":
		p.vector = sizes[0]
	case !slices.Contains(sizes, p.vector):
		return p.errorf("with .kind::%s and .%s there is .scale_vec::%s", f.Kind, f.Scale,
			strings.Join(sizes, " or ::"))
	}
	f.ScaleVec = int(p.vector[0] - '0')
	return nil
}

// laidOut checks the layouts, which only .m8n8k4 with .f16 chooses.
func (p *mmaParser) laidOut(m *MatrixForm) error {
	f := &p.form
	if len(m.Layouts) != 2 {
		return p.errorf("expected two layouts, of A and B")
	}
	f.AColumns, f.BRows = m.Layouts[0] == "col", m.Layouts[1] == "row"
	if (f.AColumns || f.BRows) && (f.M != 8 || f.A != "f16") {
		return p.errorf("the layouts of this shape are .row.col")
	}
	return nil
}
