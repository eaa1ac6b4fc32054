package isa

import "slices"

// Category says what an opcode is for; engines dispatch on it.
type Category uint8

// The categories, each with the opcodes that are in it.
const (
	// register to register, integer, float, logic, shift, compare, select, convert, mov
	Arith    Category = iota
	Memory            // ld st ldu atom red and other accesses
	Address           // cvta, isspacep, mapa, getctarank: addresses, no access
	Control           // bra brx call ret exit trap brkpt
	Barrier           // bar barrier, barrier.cluster, mbarrier
	FenceCat          // fence membar
	WarpOp            // shfl vote match redux activemask elect, bar.warp.sync
	Async             // cp.async and relatives
	Texture           // tex tld4 txq suld sust sured suq istypep
	Matrix            // wmma mma ldmatrix stmatrix wgmma tcgen05 movmatrix
	Video             // scalar and SIMD video
	Stack             // stacksave alloca ...
	// pmevent nanosleep setmaxnreg prefetch discard applypriority createpolicy griddepcontrol
	Misc
	Point // a place for a barrier: see point.go
)

// Role says what an operand of an opcode is, in the order of the PTX text.
type Role uint8

// The roles of operands.
const (
	Dst      Role = iota // register written
	DstPred              // optional second destination p|q or d|p
	Src                  // register or immediate read
	SrcOpt               // read if there
	PredSrc              // predicate read
	Addr                 // address operand in brackets
	SrcAddr              // read, or an address in brackets
	Label                // branch target
	Callee               // function
	Args                 // call arguments and results, in parentheses
	ListOpnd             // brace list that is not a data vector
)

// Effect is what an opcode does to memory that threads share.
type Effect uint8

// The effects on memory; Desc.Accesses has the details.
const (
	NoEffect    Effect = iota
	Reads              // ld, and everything that only loads
	Writes             // st, and everything that only stores
	ReadsWrites        // atom, red
	Copies             // cp.async and the like: reads one place, writes another
	Orders             // fence, barrier: no access of its own
)

// Row is one opcode of the ISA. Rows are shared and read-only.
type Row struct {
	// first word, or the words that make it an instruction of its own: "bar.warp.sync",
	// "cp.async.bulk"
	Opcode   string
	Category Category
	Action   Action // what it does; the zero value means that the table does not say
	// Operation is what an opcode of ActCompute computes.
	Operation Operation
	Roles     []Role // the longest form; SrcOpt and DstPred may be absent
	Effect    Effect
	// of the PTX ISA text, "9.7.1.1"; where an opcode has several, that of its first form
	Section string
	// Executable says that the emulator implements some form of the opcode, or may skip it because
	// nothing executable depends on it. A form that it does not implement still stops with
	// "unsupported".
	Executable bool

	// If is a modifier that chooses this row among those with the same first word, in any position:
	// "shared::cluster" for the row "ld.shared::cluster". Such rows keep apart what must not be
	// mistaken for the common meaning of the opcode.
	If []string

	Barrier     BarrierKind // of an opcode that uses a barrier in one way only
	Step        AsyncStep   // of an opcode that starts or awaits nothing but asynchronous operations
	Carry       bool        // adds the carry flag
	NonCoherent bool        // loads through the texture proxy whatever the modifiers are: ldu
	// wmma: matrices are in registers in an undocumented layout (PTX ISA 9.7.14.4.1)
	Fragment bool

	dst, src opTypes
	narrow   func(*Desc) []Role // the roles of one form; nil: Roles

	forms []form // the syntax lines of the ISA text; nil: modifiers are not checked
	vocab form   // the union of forms
}

// complete fills in what the category of a row says of those that state nothing themselves.
func (r *Row) complete() {
	if r.Action == ActUnknown && (r.Category == Arith || r.Category == Video) {
		r.Action = ActCompute
	}
	r.defaultTypes()
}

// Cluster reports whether the row is of an opcode as it applies to the shared memory of any block
// of the cluster: ld.shared::cluster. The block's own shared memory is part of it (PTX ISA 5.1.7).
func (r *Row) Cluster() bool { return len(r.If) > 0 && r.If[0] == inCluster[0] }

// Sections returns the sections of the ISA text that describe the opcode, each once, in the order
// of its forms.
func (r *Row) Sections() []string {
	out := []string{r.Section}
	for i := range r.forms {
		if s := r.forms[i].section; s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}
