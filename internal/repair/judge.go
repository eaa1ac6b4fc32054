package repair

import "context"

// Grade is what a judge says of a kernel as a whole. A better one has a larger value.
type Grade uint8

const (
	Buggy    Grade = iota
	Unknown        // nothing was shown, and the runs did not cover the launch
	Clean          // the runs that were tried show nothing
	Verified       // nothing is wrong for any input of the launch shape
)

// Kind says what a finding is.
type Kind uint8

const (
	Race Kind = iota
	Divergence
	Other     // what no transformation of this package is for
	Copy      // an asynchronous copy that is not waited for
	Coherence // a non-coherent load of what the kernel writes
)

// Reach says how far apart the two threads of a race are.
type Reach uint8

const (
	InWarp Reach = iota
	InBlock
	AcrossBlocks
)

// End is the place of the end of the kernel in a Divergence.
const End = -1

// Finding is a bug that was shown, or one that is possible as far as a proof got.
type Finding struct {
	Kind  Kind
	A, B  int // offsets in the text of the two instructions, the same for one; of barriers for a Divergence; or End
	Reach Reach
	Shown bool
	Text  string // for people
}

// Judgement is what a judge says of a text.
type Judgement struct {
	Grade    Grade
	Scope    string // of Clean and Verified: what was looked at
	Reason   string // why it is not Verified
	Findings []Finding
}

// Shown returns the findings that were shown.
func (j *Judgement) Shown() []Finding {
	var out []Finding
	for _, f := range j.Findings {
		if f.Shown {
			out = append(out, f)
		}
	}
	return out
}

// Judge looks for races and divergence in a kernel. It must not call a kernel Verified that is not.
type Judge interface {
	// Judge takes the text of the file, whose kernel has the name that it always had. Without proof it only runs it: no
	// judgement is then better than Clean.
	Judge(ctx context.Context, text []byte, proof bool) (*Judgement, error)
}
