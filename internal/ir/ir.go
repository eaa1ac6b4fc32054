// Package ir is the intermediate representation that every engine works on: functions of typed
// instructions over dense register numbers, with a control-flow graph.
//
// It is not SSA: a register may be written at many places, as in PTX. Every instruction keeps its
// PTX span and its inline stack in the user's source.
package ir

import (
	"heddle/internal/event"
	"heddle/internal/isa"
	"heddle/internal/source"
)

// Module is one PTX module after name resolution.
type Module struct {
	Files       *source.Set
	File        source.FileID // the PTX text
	Version     string        // "8.3"
	Target      string        // "sm_70": the first of .target
	AddressSize int           // 32 or 64
	OpenCL      bool          // compiled from OpenCL C
	Libraries   []string      // directories of the libraries (CUB, Thrust) that it was compiled with
	Vars        []*Var        // module-level variables of every space
	Funcs       []*Func       // defined and declared, in the order of the text; kernels included
}

// Kernel returns the kernel of that (mangled) name, or nil.
func (m *Module) Kernel(name string) *Func {
	for _, f := range m.Funcs {
		if f.Kernel && f.Name == name {
			return f
		}
	}
	return nil
}

// RegID is a register of a function: an index into Func.Regs. NoReg is no register.
type RegID int32

// NoReg marks an absent register.
const NoReg RegID = -1

// Reg is a register's declaration. A vector register (.v2, .v4) is split into its components.
type Reg struct {
	Name string
	Type isa.Type
}

// BlockID is an index into Func.Blocks; the entry is block 0.
type BlockID int32

// NoBlock marks an absent block.
const NoBlock BlockID = -1

// Func is a kernel or a device function.
type Func struct {
	Module    *Module
	Index     int // in Module.Funcs
	Name      string
	Demangled string // as the user wrote it; equal to Name if it is not mangled
	Kernel    bool
	Span      source.Span   // of the name in the PTX text
	Src       *source.Frame // where the source defines it; nil if unknown

	Params  []*Var // of space Param, in order; offsets are relative to the function's parameter area
	Results []*Var
	Regs    []Reg
	// variables of every space declared in the body; .shared, .global and .const ones exist once
	Vars   []*Var
	Blocks []*Block // nil for a function that is only declared

	// ParamSize is the size in bytes of the function's parameter area, which holds Params, Results
	// and the call arguments declared in the body: each has its Offset in it.
	ParamSize int
	// LocalSize is the size in bytes of the function's own .local variables.
	LocalSize int
	// NumInstrs is the number of instructions; Instr.Index counts them from 0 in block order.
	NumInstrs int

	ReqNTID, MaxNTID event.Dim3 // zero if not given
	ReqCluster       event.Dim3
	MaxRegisters     uint32 // .maxnreg, of a thread; 0 if not given
	MinBlocks        uint32 // .minnctapersm, on one multiprocessor; 0 if not given
	NoReturn         bool
}

// Var is a variable in memory.
type Var struct {
	Name   string
	Space  event.Space
	Type   isa.Type
	Align  int
	Size   int // bytes; 0 for an extern array without bound
	Stride int // bytes from an element of the first dimension to the next
	// Shape is how the source declares an array, or what a pointer refers to.
	Shape   Shape
	Unsized bool // extern .shared array whose size is the launch's dynamic shared memory
	Extern  bool
	// Offset is the place in its area: a kernel's or function's parameters, its local frame. Shared
	// variables are laid out for a launch by Layout. Global and const variables become objects.
	Offset int
	Init   []byte // may be shorter than Size: the rest is zero
	Relocs []Reloc
	Span   source.Span
	// PtrSpace is the space of a .ptr parameter, or NoSpace.
	PtrSpace event.Space
	Pointer  bool   // a parameter that is (marked or inferred to be) a pointer
	Source   string // the name in the user's source, if known and another one
	// PtrFields are the offsets, ascending, of the 8-byte fields of a struct parameter that are used
	// as pointers. For a parameter that is itself a pointer it stays empty: Pointer says so.
	PtrFields []int
	// Guessed are the offsets of those of them (0 for Pointer) that may be integers: they are added
	// to something that may be the pointer as well.
	Guessed []int
	// InReg says that a parameter or result of a .func is a register, Reg, and has no memory; its
	// Space is NoSpace. (.func (.reg .u32 r) f (.reg .u32 a), PTX ISA 11.2.2.)
	InReg bool
	Reg   RegID
}

// Shown returns the variable's name for people.
func (v *Var) Shown() string {
	if of := launchFacts[v.Name]; of != "" {
		return of
	}
	if v.Source != "" {
		return v.Source
	}
	return v.Name
}

// Reloc is an address in a variable's initialiser.
type Reloc struct {
	Offset  int // in the variable
	Size    int // bytes of the field
	Target  *Var
	Func    *Func // instead of Target
	Addend  int64
	Generic bool // generic(x): a generic address rather than one in the variable's own space
	// the field holds the address shifted right by Shift bits: 0xFF00(x) has Size 1, Shift 8
	Shift int
}

// Block is a basic block. Its last instruction may be a terminator; without one it falls through to
// the single successor.
type Block struct {
	ID     BlockID
	Label  string
	Instrs []*Instr
	Succs  []BlockID // see Instr: for a conditional branch, taken first, then fall-through
	Preds  []BlockID
}

// Instr is one instruction.
//
// Control flow: bra has one Src of kind BranchTo, and its block has the successors [target] or,
// guarded, [target, fall-through]. brx.idx has Src[0], the index, and then a BranchTo for each
// entry of its table; the successors are those targets in that order, and last, if guarded, the
// fall-through. ret, exit and trap have no successor or, guarded, the fall-through. A call of a
// function that never returns ends its block without successor unless guarded. A block may occur
// more than once in Succs, and then does so as often in Preds.
type Instr struct {
	isa.Desc
	Index int   // in the function
	Guard RegID // predicate register, or NoReg
	Neg   bool  // guard is @!p
	Dst   []Operand
	Src   []Operand // in the order of the PTX text; an address is one operand of kind Mem
	// Call only. Dst are the results and Src the arguments, each a Register, an Imm or a VarVal.
	Callee *Func        // nil for an indirect call: Src[0] holds the target, the arguments follow
	Orders event.Orders // of what orders memory: which, as .pragma "heddle.order" says
	// a barrier that a thread passes once all blocks have reached it: .pragma "heddle.grid"
	Grid bool
	// a half of a split barrier of the block, of which the second is a barrier: .pragma "heddle.split"
	Split bool
	// of an indirect call: all candidates, if .calltargets or a call table names them
	Targets []*Func
	Caller  *Instr        // the call in whose place Inline put it; nil elsewhere
	Span    source.Span   // in the PTX text
	Loc     *source.Frame // in the user's source, innermost first; nil without line info
}

// OperandKind says which fields of an Operand count.
type OperandKind uint8

// The kinds of operands, each with the fields that count.
const (
	None     OperandKind = iota // the sink "_", or an operand that was left out
	Register                    // Reg
	Imm                         // Val: the bits, in the width of the instruction's type
	Special                     // a special register: Sreg
	Mem                         // address Reg or Var plus Val
	VarAddr                     // address of Var plus Val: mov.u64 %rd, buf
	FuncAddr                    // Func
	Vector                      // Elems
	BranchTo                    // Block
	VarVal                      // the bytes of Var by value: a call argument or result in .param space
)

// Operand is a source or destination.
type Operand struct {
	Kind  OperandKind
	Neg   bool // !p for predicates
	Sreg  Sreg // of Special; of an Imm that is written as WARP_SZ, WarpSz
	Reg   RegID
	Block BlockID
	Val   uint64
	Var   *Var
	Func  *Func
	// of a Vector; of a Mem: what follows the address in the brackets (texture coordinates)
	Elems []Operand
	Span  source.Span
}

// EachReg visits the registers in an operand: a value, the base of an address, elements of a
// vector.
func (o *Operand) EachReg(visit func(RegID)) {
	if (o.Kind == Register || o.Kind == Mem) && o.Reg != NoReg {
		visit(o.Reg)
	}
	for i := range o.Elems {
		o.Elems[i].EachReg(visit)
	}
}

// Sreg is a special register (PTX ISA chapter 10); a component is a register of its own.
type Sreg uint8

// The special registers, in groups of one chapter of the ISA text each. Components of a vector
// follow each other in the order x, y, z, and irgen relies on it.
const (
	NoSreg Sreg = iota // none, or a name that is not one
	// the index of the thread, the size of the block, the index of the block, the size of the grid
	// (10.1, 10.2, 10.6, 10.7)
	TidX
	TidY
	TidZ
	NtidX
	NtidY
	NtidZ
	CtaidX
	CtaidY
	CtaidZ
	NctaidX
	NctaidY
	NctaidZ
	// the lane and the place of the warp on the hardware; only the lane is the same in all runs (10.3
	// to 10.5, 10.8 to 10.10)
	LaneID
	WarpID
	NWarpID
	SMID
	NSMID
	GridID
	// lanes of the warp in relation to this one, as masks
	LanemaskEQ
	LanemaskLE
	LanemaskLT
	LanemaskGE
	LanemaskGT
	// counters and clocks, whose values no launch determines
	Clock
	ClockHi
	Clock64
	GlobalTimer
	GlobalTimerLo
	GlobalTimerHi
	// the block in its cluster, and the cluster in the grid; a launch without clusters has clusters
	// of one block
	ClusterCtaidX
	ClusterCtaidY
	ClusterCtaidZ
	ClusterNctaidX
	ClusterNctaidY
	ClusterNctaidZ
	ClusterIDX
	ClusterIDY
	ClusterIDZ
	NClusterIDX
	NClusterIDY
	NClusterIDZ
	ClusterCtaRank
	ClusterNctaRank
	IsExplicitCluster
	// sizes and offsets in bytes of shared memory
	TotalSmemSize
	AggrSmemSize
	DynamicSmemSize
	ReservedSmemBegin
	ReservedSmemEnd
	ReservedSmemCap
	EnvReg // Operand.Val says which
	PM     // performance monitors: unknown; Operand.Val says which
	WarpSz // WARP_SZ
	CurrentGraphExec
	ReservedSmemOffset // %reserved_smem_offset_<2>; Operand.Val says which
	NumSregs           // their number, for tables
)

// launchFacts are the variables by which the headers of OpenCL read facts about a launch that
// heddle does not know, in words.
var launchFacts = map[string]string{
	"__heddle_sizes": "the sizes of images", "__heddle_offset": "the global offset",
	"__heddle_dims": "the number of dimensions", "__heddle_formats": "the formats of images",
}

// LaunchFact reports whether v is a fact about the launch, which the host sets although constant
// memory of OpenCL has its initial contents (OpenCL C 3.0, 6.7.3).
func (v *Var) LaunchFact() bool { return launchFacts[v.Name] != "" }

// WholeWarp reports whether an operation of a warp with a mask must be executed by all lanes of the
// warp, those included that have exited, for which PTX does not wait: "all work-items in a
// sub-group must encounter" a function of a sub-group (OpenCL C 3.0, 6.15.19).
func (f *Func) WholeWarp(mask *Operand) bool {
	return f.Module != nil && f.Module.OpenCL && mask.Kind == Imm && uint32(mask.Val) == 1<<32-1
}
