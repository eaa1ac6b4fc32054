package launch

import (
	"fmt"

	"heddle/internal/event"
	"heddle/internal/source"
)

// Request is what one source of facts, such as the command line, specifies about a launch.
// Unspecified facts are nil or absent.
type Request struct {
	Grid, Block, Cluster *event.Dim3 // blocks, threads per block, blocks per cluster
	Global               *event.Dim3 // OpenCL's global size in threads; excludes Grid
	Shared               *uint32     // bytes of dynamic shared memory
	Args                 []ArgSpec   // a later one overrides an earlier one for the same parameter
	AnyShared            bool        // allow more shared memory than any GPU has: nothing is launched

	// Saved is a launch that a program made. It takes the place of everything but flags.
	Saved *Saved

	// Host selects a launch of host code, as Config.Host; 0 leaves the choice to Resolve.
	Host int
	// Unknowns are values for what is unknown in host code, by Unknown.Name, instead of those that
	// Resolve would choose. A name that the launch does not have is ignored.
	Unknowns map[string]int64
	// Guesses are arguments to use instead of those that Resolve would guess. They have the origin
	// Default.
	Guesses []ArgSpec
	// Counterexample are the arguments of the counterexample of a proof. A number gives way to a flag
	// alone, as a proof holds for all values that no flag fixes. Contents of a buffer give way to
	// every specification: a kernel that is wrong with other contents only need not be wrong.
	Counterexample []ArgSpec

	// Config holds the settings of a configuration file for the kernel, in increasing precedence. The
	// other fields of the Request override them.
	Config []Setting
}

// Inputs is equal for requests that give the same arguments and try the same ones.
func (r *Request) Inputs() string {
	return fmt.Sprint(r.Args, r.Counterexample, r.Guesses)
}

// Setting is the part of a launch that one section of a configuration file specifies. Errors in it
// are reported at the section.
type Setting struct {
	Request Request     // without Config
	Span    source.Span // the section, for error messages
}

// ArgSpec is the specification of one kernel argument: "n=1024", "in=random:4096", "b=alias:a".
// Resolve checks the value against the parameter's type, which is not known here.
type ArgSpec struct {
	Param  string  // the parameter's name, or its index from 0
	Offset int     // of a field in a struct parameter, for "PARAM+OFFSET=..."; -1: the whole parameter
	Kind   ArgKind // the form of the value
	// the literal, the path, the other parameter, the function, the hexadecimal digits, the integers
	// of FillInts, or the members of FillStruct
	Text string
	Fill Fill   // ArgBuffer
	Size uint64 // ArgBuffer, ArgFile and ArgLocal: bytes; 0 if unspecified
	// At is where a pointer points, in bytes from the start of its buffer or, for ArgAlias, from where
	// the other parameter points.
	At   uint64
	Seed uint64 // ArgBuffer with a seeded fill
	// Elem is the bytes of an element of a fill that consists of elements; 0: as the kernel accesses
	// the buffer, or 4 bytes if that is not known.
	Elem  uint8
	N, E  uint64      // of FillSmall, FillPerm and FillCSR; N is the stride of FillStruct
	Value uint32      // ArgBuffer with FillValue
	Saved *Arg        // ArgSaved
	Span  source.Span // where it was specified; invalid for a flag
}

// ArgKind is the form of an ArgSpec.
type ArgKind uint8

const (
	ArgValue   ArgKind = iota // a number: 1024, -1, 0x10, 1.5, u32:7
	ArgBuffer                 // zero, random, iota, ...: a buffer that no other argument shares
	ArgFile                   // file:PATH
	ArgAlias                  // alias:PARAM: the buffer of another parameter
	ArgUnknown                // unknown: the value, or the contents of the buffer, stays unknown
	// hex:00ff: the bytes in memory order. For a pointer, hex:00ff... is an unbounded buffer with
	// zeros after them.
	ArgBytes
	ArgFunc  // func:NAME: the address of a device function
	ArgSaved // the value in a saved launch
	ArgLocal // local:SIZE: bytes of shared memory per block, for an OpenCL __local pointer
)
