// Package launch decides how a kernel is launched: grid, block, cluster, dynamic shared memory and
// arguments. Every fact has an origin, in decreasing precedence:
//
//   - a flag of the command line (ParseDim, ParseShared, ParseArg)
//   - a launch that heddle exec has saved (Request.Saved)
//   - a configuration file (Request.Config)
//   - a "heddle:" comment above the kernel (ScanCUDA, ScanOpenCL, ScanPTX)
//   - a launch in the host code of the same file, kernel<<<4, 256>>>(p, 1024)
//   - what a compiler has written beside the PTX (Metadata)
//   - a directive of the PTX: .reqntid, .maxntid, .reqnctapercluster
//   - a relation of the host code whose unknowns heddle guesses: grid = (n + 255) / 256, n = 1024
//   - a default, which heddle guesses from the code of the kernel
//
// Resolve combines them into a Config. Each fact is decided separately, so a flag for the grid
// leaves the block of a comment in place.
//
// Guesses make a kernel runnable without any specification, but the kernel may need other values.
// So Describe marks them in every report, and Config.Origins tells callers which facts they may
// vary: a result that depends on a guess is not a result about the kernel.
package launch

import (
	"heddle/internal/event"
	"heddle/internal/source"
)

// Origin is where a fact of a launch comes from. Larger values take precedence over smaller ones.
type Origin uint8

const (
	Default Origin = iota // unspecified; guessed, and marked as a guess in the report
	// FromRelation is a value that follows from an expression of the host code and a guessed value of
	// something in it: grid = ceil(n/256) with n guessed.
	FromRelation
	// FromCounterexample is a value from the counterexample of a proof. The user did not specify it:
	// heddle chose it so that the kernel fails.
	FromCounterexample
	FromPTX // .reqntid, .maxntid, .reqnctapercluster
	// FromLibrary is the block for which the kernel instantiates a class of a library.
	FromLibrary
	FromMetadata // a file that a compiler has written beside the PTX
	FromHost     // a <<<...>>> in the same file
	FromPragma   // a "// heddle:" comment above the kernel
	FromConfig   // a configuration file
	// FromProgram is a value of a launch that a program made: heddle exec saw it, or saved it in a
	// file.
	FromProgram
	FromFlag // the command line
)

// String returns the name of the origin as reports print it.
func (o Origin) String() string {
	return [...]string{"guessed", "host code, guessed", "counterexample", "PTX", "library", "metadata", "host code",
		"comment", "configuration", "program", "flag"}[o]
}

// Guessed reports whether heddle chose a fact of this origin, or something that it follows from: a
// real launch may have another value.
func (o Origin) Guessed() bool {
	return o == Default || o == FromRelation || o == FromCounterexample
}

// Config is a complete launch of one kernel.
type Config struct {
	Geometry  event.Geometry // threads, blocks and clusters
	DynShared uint32         // bytes of dynamic shared memory
	// bytes of shared memory per block if that exceeds every GPU's limit; else 0
	Oversize uint64
	// memory of __local arguments, after DynShared, in the order of the parameters
	Locals  []Local
	Args    []Arg             // one for each kernel parameter
	Origins map[string]Origin // by "grid", "block", "cluster", "shared", "arg NAME"
	// Reasons explain, for some of the same keys, how a default was chosen: "the kernel never reads
	// blockIdx".
	Reasons map[string]string
	// Notes are for the user: host code that could not be resolved, sizes that need an opt-in on
	// hardware. Each is one sentence without a trailing period.
	Notes []string
	// Launch is the launch in host code that the configuration follows, from the name of the kernel
	// to ">>>"; invalid if host code specifies nothing.
	Launch source.Span
	// Host selects that launch in a Request: its index in SourceFacts.Launches plus 1; 0 if host code
	// specifies nothing.
	Host int
	// Cooperative says that this launch is one whose blocks run at the same time.
	Cooperative bool
	// Unplaced are the pointers, as --arg names them, of which neither the host code that has the
	// launch nor anything else tells where they point: they may alias others. "p" is a parameter,
	// "s+8" a member of a struct.
	Unplaced []string
	// Unknowns are the guessed values that facts of origin FromRelation follow from.
	Unknowns []Unknown
	// Saved is the path of the saved launch that the configuration follows; empty if there is none.
	Saved string
	// Vars are the contents of module variables in a saved launch, by their names in the PTX; nil
	// without a saved launch.
	Vars map[string]*Buffer
	// FirstFunc is the number of the first function of the kernel's module, from which addresses of
	// functions count. Only a saved launch of a program with several modules has another one than 0.
	FirstFunc int
	// Symbols are the contents that host code gives to module variables, by their names in the source
	// (cudaMemcpyToSymbol).
	Symbols map[string]Arg
	// Initial are the module variables of the kernel that host code may change to something that
	// heddle does not know, by their names in the source. They have their initial values.
	Initial []string
	// Again has earlier launches of the kernel in host code that may have changed memory, if nothing
	// that heddle understands has set it since, by "arg NAME" and "variable NAME". Contents that are
	// specified otherwise have no entry.
	Again map[string]source.Span
	// Unread are keys of metadata that may change the launch and whose meaning is not known.
	Unread []string
	given  []ArgSpec // the arguments that are not guessed, in the order of the parameters
}

// Unknown is something in host code whose value heddle chose: a variable, a parameter, a call.
type Unknown struct {
	Name  string      // its text in the source: "n", "v.size()", "p.width"
	Value int64       // as chosen, or as Request.Unknowns demands
	Span  source.Span // of the launch
}

// Local is the shared memory of each block that a __local pointer of an OpenCL kernel points to.
type Local struct {
	Name string // of the parameter
	At   uint32 // offset in the block's shared memory
	Size uint32 // bytes
}

// SharedBytes returns the bytes of shared memory of a block beyond the kernel's own variables,
// which take up static bytes: dynamic shared memory, and the memory of __local arguments with its
// padding.
func (c *Config) SharedBytes(static uint32) uint32 {
	n := c.DynShared
	for _, l := range c.Locals {
		n = l.At + l.Size - static
	}
	return n
}

// Arg is the value of one kernel parameter: a pointer to a buffer, or bits.
type Arg struct {
	Name   string  // the parameter's source name if known, else its PTX name
	Buffer *Buffer // nil for a value
	// Offset is where in Buffer the pointer points, in bytes from its start: an access before the
	// pointer and not before the buffer is legal.
	Offset uint64
	// Guessed marks an Offset in the buffer of another pointer that rests on a guess.
	Guessed bool
	// the value, little endian, of the parameter's size; unused for a pointer to a buffer
	Bits []byte
	// Unknown marks a value that was declared unknown: arithmetic propagates it, and a run stops as
	// unsupported where a branch or an address depends on it.
	Unknown bool
	Func    string // if not empty, the value is the address of this device function
	// if not empty, the value is the address of this module variable plus Offset, if the kernel uses
	// the variable; else it is the Buffer
	Symbol string
	Local  *Local // set for a __local pointer; Bits hold its offset in shared memory
	Float  bool   // Bits are a floating-point number; affects printing only
	// Fields are the pointers in a struct parameter: the 8 bytes at Offset hold the address of a
	// buffer.
	Fields []PointerField
	// Parts are the bytes of a struct parameter that are specified as numbers. They are known where
	// the rest is unknown.
	Parts []Part
}

// Part is a range of bytes of a struct parameter, and who specified it.
type Part struct {
	Offset, Size int
	Origin       Origin
}

// PointerField is a pointer in a struct parameter or in a buffer.
type PointerField struct {
	Offset int     // bytes from the start of the struct or buffer
	Buffer *Buffer // never nil
	At     uint64  // where in Buffer it points, in bytes from its start
	// Guessed marks an At in the buffer of another pointer that rests on a guess.
	Guessed bool
}

// Fill is the initial contents of a buffer.
type Fill uint8

const (
	FillZero    Fill = iota // zeros
	FillRandom              // seeded; the same bytes for the same seed and name
	FillFile                // the bytes of Data, from a file or from hex:
	FillUnknown             // unspecified: a branch or an address that depends on them is unsupported
	FillIota                // element i holds i
	FillValue               // every 4-byte element holds Value
	FillSmall               // seeded; random integers below N
	FillPerm                // seeded; a permutation of 0 to N-1, then zeros
	FillCSR                 // seeded; N+1 integers that never fall, from 0 to E; then E
	FillInts                // the integers of Data; then zeros
	FillOneOf               // seeded; each one of the integers of Data
	FillConst               // every element is Data; only of a Member
	FillStruct              // structs of Stride bytes with Members; zeros between them
	FillMemory              // what the memory of a running program holds; only of OfProgram
)

// Buffer is the memory that a pointer argument points to, or into. Two arguments with the same
// Buffer alias.
type Buffer struct {
	Name  string // of the parameter, or PARAM+OFFSET for a field of a struct
	Size  uint64 // bytes; 0: unbounded, sparse
	Fill  Fill   // the initial contents
	Value uint32 // FillValue: every word
	Seed  uint64 // of the seeded fills
	Data  []byte // FillFile and FillInts: the first bytes, then zeros up to Size; see FillOneOf

	Elem    uint8    // bytes of an element of FillIota and the fills after FillValue; 0: 4 bytes
	N, E    uint64   // FillSmall, FillPerm, FillCSR; below 2^32
	Stride  uint64   // FillStruct: bytes from one struct to the next
	Members []Member // FillStruct

	Pointers []PointerField // in Data or the zeros behind it; only of a saved launch
	Heap     bool           // the device's malloc has allocated it; only of a saved launch
}

// Member is the contents of one member of the structs of a FillStruct buffer.
type Member struct {
	Offset uint64  // bytes from the start of each struct
	Buffer *Buffer // element i is the member of struct i; its Size has no meaning
}

// HasElements reports whether the initial contents consist of elements, which Init writes.
func (b *Buffer) HasElements() bool { return b.Fill == FillIota || b.Fill > FillValue }
