package launch

import (
	"heddle/internal/event"
	"heddle/internal/source"
)

// Request is what one source of facts, such as the command line, says about a launch. What it leaves open
// is nil or absent.
type Request struct {
	Grid, Block, Cluster *event.Dim3
	Global               *event.Dim3 // threads of the launch, as OpenCL says it; instead of Grid
	Shared               *uint32     // bytes of dynamic shared memory
	Args                 []ArgSpec
	AnyShared            bool // more shared memory than any GPU has is no mistake: nothing is going to be launched

	// Config is what a configuration file says of the kernel, the weakest first. Everything else of a Request
	// counts before it.
	Config []Setting
}

// Setting is what one place of a configuration file says about a launch.
type Setting struct {
	Request Request // without Config
	Span    source.Span
}

// ArgSpec says what one kernel parameter is given: "n=1024", "in=random:4096", "b=alias:a". The value is
// checked against the parameter's type by Resolve.
type ArgSpec struct {
	Param  string // the parameter's name, or its index from 0
	Offset int    // of a field in a struct parameter, for "PARAM+OFFSET=..."; -1: the whole parameter
	Kind   ArgKind
	Text   string // ArgValue: the literal; ArgFile: the path; ArgAlias: the other parameter
	Fill   Fill   // ArgBuffer
	Size   uint64 // ArgBuffer, ArgFile and ArgLocal: bytes; 0 if not given
	Seed   uint64 // ArgBuffer with FillRandom
	Value  uint32 // ArgBuffer with FillValue
	Span   source.Span
}

// ArgKind is the form of an ArgSpec.
type ArgKind uint8

const (
	ArgValue   ArgKind = iota // a number: 1024, -1, 0x10, 1.5, u32:7
	ArgBuffer                 // zero, random, iota, value: a buffer of its own
	ArgFile                   // file:PATH
	ArgAlias                  // alias:PARAM: the buffer of another parameter
	ArgUnknown                // unknown: the value, or the contents of the buffer, is not given
	ArgBytes                  // hex:00ff: the bytes in the order of memory; of a pointer's buffer hex:00ff... with zeros behind them
	ArgFunc                   // func:NAME: the address of a device function
	ArgLocal                  // local:SIZE: bytes of shared memory of each block, for an OpenCL __local pointer
)
