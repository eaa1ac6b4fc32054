// Package place finds where the barriers of a kernel must be, at minimal cost, so that an oracle
// reports neither a race nor a divergence.
//
// It follows Anand and Polikarpova, "Automatic Synchronization for GPU Kernels" (FMCAD 2018),
// section III: the label tree, label intervals, the placement constraints of simple and of loop
// races, the cost model and Algorithm 1. Deviations: an oracle may name the loop level of a race,
// which makes constraints exact instead of a choice; jumps are handled by a second, weaker set of
// constraints; placements are minimal with regard to both (see Exact).
// The result is only as good as the oracle: a race that the oracle misses is not separated.
package place

import "context"

// Label is a node of a kernel's label tree (section III.A): its index in Tree.Labels. A barrier is
// placed after a label, as its right sibling.
type Label int

// None is not a label: it is the parent of the root.
const None Label = -1

// Kind is the kind of a node of the tree.
type Kind uint8

const (
	Stmt  Kind = iota // a statement without blocks of its own
	Start             // the start node of its parent: a barrier after it is the first in the block
	Block             // statements that run as often as the block: the kernel's body, a bare { }
	Cond              // a block that runs at most once each time its parent does: a branch, a case
	Loop              // a block that iterates
)

// Node is one label of the tree.
type Node struct {
	Kind   Kind
	Parent Label // the block around; None for the root
	Kids   []Label
	// Closed means that no barrier may be placed after this label: a macro expansion, code that this
	// compilation did not see, the place after a return or between a case label and its statement.
	Closed bool
	// Jump means that control may leave the block at this statement: break, continue, return, goto,
	// or a statement that contains one. Different threads may reach the labels before and after it.
	Jump bool
	// Barrier means that the node is a barrier statement of the input, which a placement may remove.
	Barrier bool
	// Same, if not 0, numbers the place in the source that several labels share: a statement of a
	// function that is inlined several times. A placement holds all of them or none.
	Same int
	// Warp means that the node is a place for a warp barrier. It is at the same place as the node
	// before it in the block, separates accesses of the lanes of one warp only, and is Closed to
	// block barriers.
	Warp bool
	// Bare means that the block has no braces: a barrier in it needs them, and changes lines for
	// them.
	Bare bool
	// Uneven means that not all threads reach a barrier after this label for some arguments, though
	// they do for those that the oracle is asked about. It costs more.
	Uneven bool
	// Trips is how often one thread executes a barrier after this label, if that was measured; 0 if
	// not.
	Trips float64
}

// Tree is the label tree of one function. The Kids of a block are in source order, the start node
// first; Labels[0] is the root. The two branches of an if with an else are adjacent Cond kids of
// one block; one execution of the block never runs both.
//
// The accesses of a condition belong to the label of its Cond or Loop: they execute before the
// first of the block's kids (for an if with an else, of its first branch; for a loop, in every
// iteration). What executes at the end of an iteration, the step of a for or the condition of a do,
// is a Closed Stmt, the last of the loop's kids.
type Tree struct {
	Labels []Node
}

// Placement is a set of labels with a barrier after each. Barrier nodes in the set stay, others are
// removed.
type Placement map[Label]bool

// Path is the order in which the two accesses of a race execute, at one level of the loops around
// both.
type Path uint8

const (
	// Near: at level 0, A and then B within one iteration of all common loops; at level j, B and then
	// A in the next iteration of the j-th common loop, counted from the outermost, and in the same
	// iterations of the loops around it.
	Near Path = 1 << iota
	// Far, for levels from 1: any other order across iterations of the j-th common loop. A barrier
	// anywhere in the body of that loop is on the path.
	Far
)

// Race is a pair of accesses that may race under a placement.
type Race struct {
	// A and B are the statements, or the Cond or Loop whose condition accesses memory, in the
	// order of execution; they may be equal.
	A, B Label
	// Paths holds, for level 0 (within an iteration of all common loops) and for each common loop,
	// which races exist: the paper's P^0 to P^d, refined. It is nil if the oracle does not know.
	Paths []Path
	// OtherBlock is set if the threads belong to two blocks: no block barrier helps.
	OtherBlock bool
	// OneWarp is set if the threads always belong to one warp: a warp barrier is enough.
	OneWarp bool
	// Texts describe the accesses at A and at B to the user, with source positions.
	Texts [2]string
	// Undecided is why the oracle could not decide whether there is a race; empty: there is one.
	Undecided string
}

// Why describes the race.
func (r *Race) Why() string { return r.Texts[0] + " and " + r.Texts[1] + r.Doubt() }

// Doubt completes a text about the race by the reason why it is undecided.
func (r *Race) Doubt() string {
	if r.Undecided == "" {
		return ""
	}
	return " (undecided: " + r.Undecided + ")"
}

// Answer is the judgement of an oracle on a placement.
type Answer struct {
	Races []Race
	// Divergences are barriers that not all threads reach together. An oracle may add labels outside
	// the placement: a barrier there would diverge under any placement.
	Divergences []Label
	// Verified is set if the oracle proved that there is neither a race nor a divergence. Otherwise
	// Unknown is the reason why the proof is incomplete, or empty if the oracle found what it lists.
	Verified bool
	Unknown  string
}

// Oracle judges placements. It is sound if it never passes a placement that has a race or a
// divergence; whatever it misses, the result of a search misses, too.
type Oracle interface {
	Name() string
	Check(ctx context.Context, p Placement) (*Answer, error)
}
