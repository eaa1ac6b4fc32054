package emu

import (
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/order"
)

// exec executes warps, one at a time. The fields pc to cc hold the state of the current fragment;
// they are written back to the fragment when another one runs (load, save).
type exec struct {
	code  []inst
	pc    int32
	mask  uint32 // lanes of the current fragment
	m     uint32 // of these, the lanes that execute the current instruction
	gone  uint32 // lanes of the warp that are not threads or have exited
	regs  []alu.Lanes
	forms []affine // of regs; empty if none may have a form
	preds []uint32
	steps uint64 // warp instructions so far
	// cancel takes a block from those that have not started, if there is one.
	cancel func() (uint32, bool)
	limit  uint64 // the turn ends when steps reaches it
	lanes  uint64 // lane instructions so far

	frame *frame
	join  *join
	frag  *fragment
	warp  *warp
	block *block
	// While block is another one of the cluster, whose shared memory is accessed, own is the block of
	// the warp, and peer names the other one for the consumer.
	own  *block
	peer event.Peer

	// polled: since the last back edge the fragment has read memory that other threads may change.
	// wrote: it has changed something. An iteration that polled without writing is spinning.
	polled, wrote bool
	polledAt      event.Site // the last access that polled
	spinning      bool       // the turn ended because the warp only spins
	changed       bool       // the turn changed memory or reached a barrier

	ops      alu.Ops
	addr     alu.Lanes // effective addresses of the current access
	data     [4][event.WarpSize]uint64
	tmp      [4]alu.Lanes
	patterns [1 << patternBits]*pattern
	sink     event.Sink
	ev       event.Access // events are reused: a sink copies what it keeps
	evs      events
	sampler  *sampler // nil before the first texture
	meter    Meter    // nil: the consumer does not count its memory

	prog     *program
	geo      *event.Geometry
	mem      *memory
	mapped   [4]*object // of the last accesses to memory of an arena; nil before
	opt      *Options
	lockstep bool
	rng      uint64

	// The policy of the schedule, and the state of policy priorities (policy.go).
	policy  policy
	queue   readyQueue
	points  uint64               // accesses so far by which threads synchronize
	changes [pctDepth - 1]uint64 // of these, the change points; 0: none
	lowered int64                // priority that the running warp gets at the end of its turn; 0: none
	yields  int64                // minus the number of times that a warp fell behind the others
	running *warp                // the one that has a turn
	last    *warp                // the last that had a turn, and its steps since another one had
	inRow   uint64

	stop        *Stop
	faults      faults
	doubtful    uint32 // lanes of the current access whose guard is unknown, in a trace
	doubtOrigin uint32
	maybe       map[event.Site]bool // accesses that perhaps no input makes
	// annotations that failed, one entry for each site
	annotations []FailedAnnotation
	unk         *tracker // nil unless unknown values are tracked

	coll         collected // of the warp operation in progress
	matrix       *matrixScratch
	footprints   map[footprintKey]*event.Footprint // of matrix operations, by what they read
	tensorPrints map[tensorKey]*event.Footprint    // what multiplications in tensor memory read
	brx          []brxGroup
	group        []*fragment           // of the warp operation in progress
	from         [event.WarpSize]uint8 // shfl: the lane that each lane's value came from
	pool         pool
	starves      bool         // see Result.Starves
	requested    uint64       // see Result.Requests
	spec         *speculation // of a worker that runs ahead
	// agentID is the number of the last asynchronous operation
	agentID   uint64
	leftovers []Leftover
	// touched collects the accesses to global memory; nil: not wanted. Site 0 of the machine is
	// origin.
	touched *order.Touched
	origin  uint32

	// Of a program whose threads launch grids, and of the grids: where the run is among them, the
	// first error in a grid that went on, and how a grid was cut off.
	kin       *kin
	machine   *Machine
	gridFault *Stop
	gridCut   Status
}

// events holds the less common events, reused from one to the next.
type events struct {
	fence    event.Fence
	arrive   event.Arrive
	cluster  event.ClusterBarrier
	inits    event.InitFence
	complete event.Complete
	sync     event.WarpSync
	converge event.Converge
	exit     event.Exit
	copy     event.Copy
	group    event.CopyGroup
	copied   lateCopy // what copy points to

	mbar, phase event.MBarrier // mbar is collected lane by lane; Mask is 0 if it is empty
	tested      uint64         // tests of mbarriers that have passed
	bulk        event.Bulk
	bulkGroup   event.BulkGroup
	matrix      event.Matrix
	matrixGroup event.MatrixGroup
	tensor      event.TensorAgent
	tensorSync  event.TensorSync
	rects       []event.TensorRect
	copyArrive  event.CopyArrive
	signal      event.Signal
	proxy       event.ProxyFence
}

// warp is a warp of a resident block.
type warp struct {
	id     event.Warp
	index  int // in the block
	lanes  uint32
	exited uint32
	active uint32 // of the last Converge event
	ran    uint32 // lanes that have run since threads of the block began rounds
	// ghost contains the lanes within an annotation, undecided those of them whose condition cannot
	// be checked. unmodelled lanes have ghost state that the machine does not keep, so that none of
	// their conditions is checked. looked contains the lanes whose condition has read memory.
	ghost, undecided, unmodelled, looked uint32
	// ready holds the fragments that can run, the next one last. waiting holds those at barriers.
	ready   []*fragment
	waiting []*fragment
	root    *frame
	spins   int  // consecutive spinning back edges, over all fragments
	idle    bool // the last turn did nothing but spin
	queued  bool // in block.runnable, or in exec.queue
	block   *block
	// priority among the warps that can run; only of policy priorities
	priority int64
	kept     int64 // the priority before it fell behind because it only spun
	state    spinState
	// local memory: each lane has localCap bytes
	local    []byte
	localCap int
	localUnk []bool
	tid      [3]alu.Lanes
	copies   copyState
	// tokens of the lanes that go to wait, as origins (token.go); nil before the first
	tokens *[event.WarpSize]uint32
	asked  token // for what the lanes have asked by the tests at hand
	// lanes that have arrived at the barrier of the cluster, in the generation at hand and in the one
	// before, and have not waited for that
	clusterNow, clusterDone uint32
	bulk                    *bulkState // nil until the first
	matrices                warpMatrices
	columns                 uint32       // 1 + the first of tensor memory that an alloc has taken; 0: none
	pair                    *pairRequest // that waits for a warp of the other block; nil: none
}

// block is a resident block.
type block struct {
	id       uint32
	index    event.Dim3
	warps    []warp
	runnable []*warp // empty with policy priorities
	queued   int     // warps that can run
	live     int     // warps with lanes that have not exited
	refused  bool    // a thread has seen that a request to cancel a cluster has failed
	// of a trace: answers in shared memory by their addresses, as indices of tracker.answers
	answers map[uint64]int
	// live objects by address, and how many there were before that are invalid; nil before the first
	mbars map[uint64]*mbarrier
	ended map[uint64]uint64
	// all live objects are in [mbarsAt, mbarsEnd)
	mbarsAt, mbarsEnd uint64
	// asynchronous operations that are under way, in the order of their issue
	agents, spareAgents []*agent
	groups              []warpgroup   // nil before the first matrix operation of one
	tensor              *tensorMemory // nil before the first allocation
	shared              []byte
	unk                 []uint64 // unknown bytes of shared, one bit each; nil: all known
	origin              uint32
	bars                [16]barrier
	registers           registerPool
	cluster             *cluster // nil if no other block is reached
	alone               *cluster // of this block, once threads arrive at its barrier
	idle                int      // consecutive turns that only spun
}

// alive returns the lanes that are threads and have not exited.
func (w *warp) alive() uint32 { return w.lanes &^ w.exited }

// loop executes the current warp until its turn ends. This is the hot loop: an instruction whose
// guard is false in all lanes costs a step and nothing else.
func (x *exec) loop() {
	for x.steps < x.limit {
		in := &x.code[x.pc]
		x.pc++
		x.steps++
		m := x.mask & (x.preds[in.guard.slot] ^ in.guard.xor)
		if m == 0 {
			continue
		}
		x.m = m
		if m == full {
			x.lanes += event.WarpSize
		} else {
			x.lanes += uint64(bits.OnesCount32(m))
		}
		in.run(x, in)
	}
}

// turn runs warp w for at most quantum steps. It sets w.idle if the warp only spun. If no fragment
// of the warp can run, lanes that wait for reconvergence are released, from the innermost join
// outwards.
func (x *exec) turn(w *warp, quantum uint64) {
	x.warp = w
	x.spinning = false
	x.gone = ^w.alive()
	x.next()
	if x.frag != nil {
		x.limit = x.steps + quantum
		if x.unk != nil {
			x.loopTracked()
		} else {
			x.loop()
		}
		if x.frag != nil {
			x.save()
			w.ready = append(w.ready, x.frag)
			x.frag = nil
		}
	}
	for len(w.ready) == 0 && w.alive() != 0 && x.stop == nil && x.releaseInnermost() {
	}
	w.idle = x.spinning
}

// endTurn makes loop return after the current instruction.
func (x *exec) endTurn() { x.limit = 0 }

// src returns the lanes of a source operand.
func (x *exec) src(s *src) *alu.Lanes {
	if s.c != nil {
		return s.c
	}
	return &x.regs[s.r]
}

// psrc returns the mask of a predicate source.
func (x *exec) psrc(p psrc) uint32 { return x.preds[p.slot] ^ p.xor }

// setPred writes the lanes of m of predicate slot p.
func (x *exec) setPred(p int32, v, m uint32) { x.preds[p] = x.preds[p]&^m | v&m }

// site returns the site of an instruction in the current calling context.
func (x *exec) site(in *inst) event.Site { return x.frame.ctx.base + event.Site(in.index) }

// fail stops the run. If several lanes fail, the first report is kept. An error on a path of a
// trace that perhaps no input takes is no error of the kernel.
func (x *exec) fail(in *inst, kind StopKind, lane int, format string, args ...any) {
	x.endTurn()
	if x.stop != nil {
		return
	}
	s := x.stopAt(in, kind, lane, format, args...)
	if x.unk != nil && kind != Unsupported && kind != DependsOnInput && x.uncertain(lane) {
		s.Kind, s.Message = DependsOnInput, s.Message+", if some input takes this path"
	}
	x.stop = &s
}

// first returns the first lane that executes the current instruction.
func (x *exec) first() int { return bits.TrailingZeros32(x.m) }

// random returns the next number of the schedule's sequence.
func (x *exec) random() uint64 {
	x.rng += golden
	return mix(x.rng)
}
