// Package launch says how a kernel is launched: grid, block, cluster, dynamic shared memory and arguments,
// each with where it came from.
package launch

import "heddle/internal/event"

// Origin says where a fact of a launch came from, in order of precedence.
type Origin uint8

const (
	Default    Origin = iota // nobody said; a stated guess
	FromPTX                  // .reqntid, .maxntid, .reqnctapercluster
	FromHost                 // a <<<...>>> in the same file
	FromPragma               // a "// heddle:" comment above the kernel
	FromConfig               // a configuration file
	FromFlag
)

// String names the origin in reports.
func (o Origin) String() string {
	return [...]string{"default", "PTX", "host code", "pragma", "configuration", "flag"}[o]
}

// Config is a complete launch of one kernel.
type Config struct {
	Geometry  event.Geometry
	DynShared uint32            // bytes of dynamic shared memory
	Oversize  uint64            // bytes of shared memory a block, if that is more than any GPU has; else 0
	Locals    []Local           // shared memory behind that for __local arguments, in the order of the parameters
	Args      []Arg             // one for each kernel parameter
	Origins   map[string]Origin // by "grid", "block", "cluster", "shared", "arg NAME"
	// Reasons say for some of the same keys why a default is what it is: "the kernel never reads blockIdx".
	Reasons map[string]string
	// Notes are facts of the launch that a user should know: what could not be resolved, what needs an
	// opt-in on hardware.
	Notes []string
	given []ArgSpec // the arguments that are no default, in the order of the parameters
}

// Local is the shared memory of each block that an OpenCL kernel's __local pointer points to.
type Local struct {
	Name string
	At   uint32 // offset in the block's shared memory
	Size uint32 // bytes
}

// SharedBytes returns the shared memory of a block beyond the kernel's own variables, of which there are static
// bytes.
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
	Bits   []byte  // the value, little endian, of the parameter's size; for a pointer unused
	// Unknown says that the value is not given: arithmetic carries it along, and a branch or an address
	// that needs it stops the run.
	Unknown bool
	Func    string // the value is the address of this device function; empty for other values
	Local   *Local // of a __local pointer, whose Bits hold the offset
	Float   bool   // Bits are a floating-point number; for printing
	// Pointers inside a struct parameter: 8 bytes at Offset are the address of a buffer of its own.
	Fields []PointerField
}

// PointerField is a pointer within a struct parameter.
type PointerField struct {
	Offset int
	Buffer *Buffer
}

// Fill says what a buffer holds at the start.
type Fill uint8

const (
	FillZero   Fill = iota
	FillRandom      // seeded; the same bytes for the same seed and name
	FillFile        // the bytes of Data, which were read from a file
	FillUnknown
	FillIota  // element i of 4 bytes holds i
	FillValue // every 4-byte element holds Value
)

// Buffer is a memory object that a pointer argument points to. Two arguments that name one buffer alias.
type Buffer struct {
	Name  string
	Size  uint64 // bytes; 0: unbounded, sparse
	Fill  Fill
	Value uint32
	Seed  uint64
	Data  []byte
}
