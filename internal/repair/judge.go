package repair

import "context"

// Grade is a judge's overall result for a kernel. A better one has a larger value.
type Grade uint8

const (
	Buggy    Grade = iota // a run or a replay shows a bug
	Unknown               // no bug was shown, and the runs did not cover the launch
	Clean                 // the runs show no bug
	Explored              // nor does any execution of a small launch that the memory model allows
	Traced                // and a trace verifies shared memory and barriers for all inputs
	Verified              // no bug for any input, for launches of this shape
)

// Kind is the kind of a finding.
type Kind uint8

const (
	Race          Kind = iota // two conflicting accesses that nothing orders
	Divergence                // some threads do not reach a barrier that others wait at
	Other                     // nothing that this package can repair
	Copy                      // an asynchronous copy whose completion is not awaited
	Coherence                 // a non-coherent load of memory that the kernel writes
	Proxy                     // A is before B, an asynchronous access, and no proxy fence is between
	Stuck                     // threads wait at A for a phase of an mbarrier that never completes
	NoObject                  // A uses an mbarrier that is not initialized, or not for this thread
	NoState                   // A waits for a phase of which its state is not
	Surplus                   // A arrives at an mbarrier more often than its phase expects
	Unfinished                // nobody waits for A, an asynchronous operation, before its block ends
	ClusterUse                // A arrives at the barrier of the cluster, or waits there, out of turn
	NotStarted                // A accesses the memory of a block that may not have started
	MayHaveEnded              // A accesses the memory of a block that may have ended
	NoMatrixFence             // A, a matrix operation of a warpgroup, misses a wgmma.fence before it
	EarlyRegister             // A accesses a register of a matrix operation that nobody has waited for
	TensorLeft                // what A allocates in tensor memory is not freed when its block ends
	TensorFreed               // A accesses tensor memory that has been freed
	NoAllocation              // A frees tensor memory that is not allocated, or not like that
	NoPermit                  // A allocates tensor memory, and the block has given up the right to
)

// tracked reports whether findings of a kind are about mbarriers, asynchronous operations or
// clusters, which block barriers do not repair.
func (k Kind) tracked() bool { return k >= Proxy }

// Reach is the smallest group that holds the two threads of a race.
type Reach uint8

const (
	InWarp       Reach = iota // lanes of one warp
	InBlock                   // threads of different warps of one block
	AcrossBlocks              // threads of different blocks
)

// End stands for the end of the kernel in a Divergence.
const End = -1

// Finding is a bug that a run showed, or one that a proof could not exclude.
type Finding struct {
	Kind  Kind
	A, B  int // byte offsets of the two instructions (for a Divergence, barriers), or End
	Reach Reach
	Shown bool
	Text  string // the message
	// Memory is, of a Proxy finding, what the fence must name: global, shared::cta, shared::cluster.
	Memory string
	// Arrivals and Bytes are, of a Stuck finding, what the phase misses. Bytes is negative if bytes
	// have arrived that nobody has announced.
	Arrivals int
	Bytes    int64
}

// Judgement is a judge's result for a text.
type Judgement struct {
	Grade    Grade
	Scope    string // of Clean, Explored and Verified: what was covered
	Reason   string // why it is not Verified
	Findings []Finding
}

// Shown returns the findings that a run showed. Others come from a proof that failed and may be
// spurious.
func (j *Judgement) Shown() []Finding {
	var out []Finding
	for _, f := range j.Findings {
		if f.Shown {
			out = append(out, f)
		}
	}
	return out
}

// A Malformed error says that a text is not PTX, or that the kernel in it cannot be read.
type Malformed struct{ Err error }

// Error is the reason.
func (e *Malformed) Error() string { return "the repaired PTX is malformed: " + e.Err.Error() }

// Unwrap returns what the reader of the text said.
func (e *Malformed) Unwrap() error { return e.Err }

// Judge looks for races and divergence in a kernel. It must never grade a kernel Verified that has
// one: every repair relies on that.
type Judge interface {
	// Judge takes the text of the file; the kernel keeps its name. Without proof it only runs the
	// kernel and explores a small launch, and no grade is then better than Explored.
	Judge(ctx context.Context, text []byte, proof bool) (*Judgement, error)
}
