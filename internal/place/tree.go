// Package place finds where the barriers of a kernel must stand, at the least cost, so that an oracle has nothing to
// object to.
//
// What it follows: Anand and Polikarpova, "Automatic Synchronization for GPU Kernels" (FMCAD 2018), section III:
// the label tree, label intervals, the placement constraints of simple and of loop races, the cost model and
// Algorithm 1.
package place

import "context"

// Label is a node of a kernel's label tree (section III.A), by its number in Tree.Labels. A barrier is placed after a
// label, as its right sibling.
type Label int

// None is no label: the parent of the root.
const None Label = -1

// Kind says what a node of the tree stands for.
type Kind uint8

const (
	Stmt  Kind = iota // a statement without blocks of its own
	Start             // the start node of its parent: a barrier after it stands at the beginning of the block
	Block             // a statement list whose statements run as often as it: the body of the kernel, a bare { }
	Cond              // a block that runs at most once each time its surroundings do: a branch of an if, a case
	Loop              // a block that runs again and again
)

// Node is one label.
type Node struct {
	Kind   Kind
	Parent Label // the block around; None for the root
	Kids   []Label
	// Closed says that no barrier may stand after this label: a macro expansion, the part of a source that this
	// compilation did not see, after a return, between a case label and its statement.
	Closed bool
	// Jump says that control may leave the block at this statement: break, continue, return, goto, or a statement
	// with one of them inside. Labels before and after it are not reached by the same threads.
	Jump bool
	// Barrier says that the node is a barrier statement of the input that a placement may take away.
	Barrier bool
	// Same, if not 0, is the number of a place of the source that several labels are: a statement of a function that is
	// inlined at several places. A placement has all of them or none.
	Same int
	// Warp says that the node is the place of a barrier of the warp: it stands where the node before it in the block has
	// its place, and separates what the lanes of one warp access. It is Closed to barriers of the block.
	Warp bool
	// Trips is how often a barrier after this label is executed by one thread, if that was measured; 0 if not.
	Trips float64
}

// Tree is the label tree of one function. The labels of a block's Kids are in the order of the text, the start node
// first; Labels[0] is the root. Of an if with an else both branches are Cond kids of the same block, one after the
// other; they never run in one execution of it.
//
// What a condition accesses belongs to the label of its Cond or Loop: it is executed before the first of the block's
// kids (of the first branch of an if with an else; of a loop in every iteration). What is executed at the end of an
// iteration, the step of a for or the condition of a do, is a Closed Stmt, the last of the loop's kids.
type Tree struct {
	Labels []Node
}

// Placement is a set of labels: a barrier stands after each. Labels of Barrier nodes that are in it stay, others go.
type Placement map[Label]bool

// Path says in which order the two accesses of a race meet, with regard to one level of the loops around both.
type Path uint8

const (
	// Near: at level 0 A and then B within one iteration of all common loops; at level j B and then A in the next
	// iteration of the j-th common loop, outermost first, and the same iterations of those around it.
	Near Path = 1 << iota
	// Far, for levels from 1: any other order across iterations of the j-th common loop. A barrier anywhere in the
	// body of the loop is on the way.
	Far
)

// Race is a pair of accesses that may race under a placement.
type Race struct {
	A, B Label // of the statements, or of the Cond or Loop whose condition accesses; in the order of execution, or equal
	// Paths says for level 0 (within an iteration of all common loops) and for each common loop which races there
	// are: the paper's P^0 to P^d, finer; nil if the oracle cannot say.
	Paths []Path
	// OtherBlock is set if the threads are of two blocks: no barrier of a block helps.
	OtherBlock bool
	// OneWarp is set if the threads are always of one warp: a barrier of the warp is enough.
	OneWarp bool
	// Why tells the user what races, with places.
	Why string
}

// Answer is what an oracle says of a placement.
type Answer struct {
	Races []Race
	// Divergences are barriers that not all threads reach together. An oracle may add labels that are not in the
	// placement: a barrier there would diverge under any.
	Divergences []Label
	// Verified is set if the oracle proved that there is neither; otherwise Unknown says why it has nothing more to
	// say, or is empty if it found what it lists.
	Verified bool
	Unknown  string
}

// Oracle judges placements. It is sound if it says nothing wrong of what it passes; what it misses, the result of a
// search misses too.
type Oracle interface {
	Name() string
	Check(ctx context.Context, p Placement) (*Answer, error)
}
