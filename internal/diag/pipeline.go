package diag

import "heddle/internal/source"

// Pipeline is what the threads and the asynchronous operations of a traced block do at its
// mbarriers, phase by phase. Long traces are shown in part.
type Pipeline struct {
	Kernel string // demangled name
	Input  string // the input with the kernel, as the user named it
	Block  string // "(0,0,0)"
	Seed   uint64 // of the schedule that is shown; 0 is the first one
	Roles  []PipelineRole
	Rings  []PipelineRing
	Broken []PipelineEdge
	Unused int // mbarriers that are initialized and never used
}

// PipelineRole is a group of warps that execute the same operations, or the asynchronous operations
// together.
type PipelineRole struct {
	Name  string // "producer: thread 96", "consumer: warps 0-2", "copies"
	Async bool
}

// PipelineRing is a group of mbarriers that are used together: the stages of a ring, or one stage.
type PipelineRing struct {
	Stages []PipelineStage
	Phases []int64        // that are shown, in order; -1 is the one before the first
	Last   int64          // the last phase of which something is known
	Marks  []PipelineMark // of the phases that are shown, in the order of the trace
}

// PipelineStage has the mbarriers with one index: a full and an empty one, for example.
type PipelineStage struct {
	Objects []PipelineObject
}

// PipelineObject is an mbarrier.
type PipelineObject struct {
	Name  string // "bars[1]"
	Count int    // arrivals that a phase expects, from its initialization
}

// PipelineKind is what a mark of a pipeline says.
type PipelineKind uint8

// The marks. Those from PipelineStuck on are about findings only.
const (
	PipelineArrive PipelineKind = iota // arrives, and may expect bytes
	PipelineExpect                     // expects or completes bytes without an arrival
	PipelineCopy                       // an asynchronous operation that the mbarrier tracks
	PipelineWait                       // has waited for the phase
	PipelineStuck                      // waits for the phase for ever
	PipelineLacks                      // arrivals or bytes that the phase misses
	PipelineRead                       // an access of a race
	PipelineWrite
	PipelineFault // an operation that is an error
)

// PipelineMark is what the threads of one role do by one instruction, at one mbarrier, in one
// phase.
type PipelineMark struct {
	Kind   PipelineKind
	Role   int
	By     int // of PipelineCopy: the role that has issued it
	Stage  int
	Object int // of the stage
	Phase  int64
	// Threads is the number of threads, and Who names them: "thread 96", "32 threads of warp 0".
	Threads  int
	Who      string
	Times    int // how often one thread does it, at most
	Arrivals int64
	// Bytes are those by which the phase expects more; of PipelineCopy those that arrive, and of
	// PipelineLacks those that are missing.
	Bytes int64
	Op    string
	Span  source.Span
}

// PipelineEdge is an order that a finding is about and that is missing, between two marks of a
// ring.
type PipelineEdge struct {
	Ring     int
	From, To int // marks; -1: none
	// Code and Spans find the diagnostic about it: it has this code and is at one of these places.
	// There is none if it is only the reason of a verdict, and Text then says what is wrong.
	Code  Code
	Spans []source.Span
	Label string // a few words
	Text  string
}
