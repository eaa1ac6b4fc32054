package trace

import (
	"bytes"
	"encoding/binary"
	"maps"
	"math/bits"
	"slices"

	"heddle/internal/emu"
	"heddle/internal/event"
)

// What a trace by rounds does between two moments at which rounds begin, in a form in which two
// such intervals can be compared: phases and generations are counted from the start of the
// interval.

// interval is what happens from one moment to the next.
type interval struct {
	allocates bool // or frees tensor memory
	at        *emu.Round
	warps     map[event.Warp][]byte // the operations of each warp in order
	signals   [][]byte              // of agents, sorted
}

// roundLog passes events on, and records the intervals.
type roundLog struct {
	event.Sink
	list  []*interval
	phase map[uint64]uint64 // complete phases of each mbarrier
	gen   map[uint8]uint64  // complete generations of each numbered barrier
	start struct {          // the same at the start of the interval
		phase map[uint64]uint64
		gen   map[uint8]uint64
	}
	agents map[uint64][]byte // what identifies an agent, by its ID
}

func newRoundLog(sink event.Sink) *roundLog {
	return &roundLog{Sink: sink, phase: make(map[uint64]uint64), gen: make(map[uint8]uint64),
		agents: make(map[uint64][]byte)}
}

// round begins an interval.
func (r *roundLog) round(at *emu.Round) {
	r.list = append(r.list, &interval{at: at, warps: make(map[event.Warp][]byte)})
	r.start.phase, r.start.gen = maps.Clone(r.phase), maps.Clone(r.gen)
}

// put records an operation of a warp.
func (r *roundLog) put(w event.Warp, v ...uint64) {
	if len(r.list) == 0 {
		return
	}
	last := r.list[len(r.list)-1]
	b := last.warps[w]
	for _, n := range v {
		b = binary.AppendUvarint(b, n)
	}
	last.warps[w] = b
}

// op records an operation of lanes of a warp.
func (r *roundLog) op(kind uint64, w event.Warp, s event.Site, mask uint32, v ...uint64) {
	r.put(w, kind, uint64(s), uint64(mask))
	r.put(w, v...)
}

// relative is the number of a phase, from the start of the interval.
func (r *roundLog) relative(addr, phase uint64) uint64 {
	if phase == event.NoPhase {
		return 1 << 62
	}
	return phase - r.start.phase[addr]
}

// The kinds of operations in a record.
const (
	logAccess = iota
	logCopy
	logCopyGroup
	logCopyArrive
	logBulk
	logBulkGroup
	logMBarrier
	logProxyFence
	logFence
	logArrive
	logWarpSync
	logConverge
	logCluster
	logInitFence
	logExit
	logMatrix
	logMatrixGroup
	logTensor
	logTensorSync
)

func (r *roundLog) addresses(w event.Warp, mask uint32, addr *[event.WarpSize]uint64) {
	for m := mask; m != 0; m &= m - 1 {
		r.put(w, addr[bits.TrailingZeros32(m)&31])
	}
}

// Access implements event.Sink.
func (r *roundLog) Access(e *event.Access) {
	if e.Space == event.Shared {
		r.op(logAccess, e.Warp, e.Site, e.Mask, uint64(e.Kind), uint64(e.Size))
		r.addresses(e.Warp, e.Mask, e.Addr)
	}
	r.Sink.Access(e)
}

// Copy implements event.Sink.
func (r *roundLog) Copy(e *event.Copy) {
	r.op(logCopy, e.Warp, e.Site, e.Mask, uint64(e.Size))
	r.addresses(e.Warp, e.Mask, e.To)
	r.Sink.Copy(e)
}

// CopyGroup implements event.Sink.
func (r *roundLog) CopyGroup(e *event.CopyGroup) {
	r.op(logCopyGroup, e.Warp, e.Site, e.Mask)
	r.Sink.CopyGroup(e)
}

// CopyArrive implements event.Sink.
func (r *roundLog) CopyArrive(e *event.CopyArrive) {
	r.op(logCopyArrive, e.Warp, e.Site, e.Mask, e.Addr,
		r.relative(e.Addr, r.phase[e.Addr]))
	r.issue(e.ID, e.Warp, e.Site, e.Mask)
	r.Sink.CopyArrive(e)
}

// Bulk implements event.Sink.
func (r *roundLog) Bulk(e *event.Bulk) {
	r.op(logBulk, e.Warp, e.Site, e.Mask, e.Addr)
	for _, v := range [...]event.Range{e.From, e.To} {
		if v.Space == event.Shared {
			r.put(e.Warp, v.Addr, v.Size)
		}
	}
	r.issue(e.ID, e.Warp, e.Site, e.Mask)
	r.Sink.Bulk(e)
}

// issue remembers an agent and the interval in which it begins.
func (r *roundLog) issue(id uint64, w event.Warp, s event.Site, mask uint32) {
	var b []byte
	for _, n := range [...]uint64{uint64(w), uint64(s), uint64(mask), uint64(len(r.list))} {
		b = binary.AppendUvarint(b, n)
	}
	r.agents[id] = b
}

// BulkGroup implements event.Sink.
func (r *roundLog) BulkGroup(e *event.BulkGroup) {
	r.op(logBulkGroup, e.Warp, e.Site, e.Mask)
	r.Sink.BulkGroup(e)
}

// Signal implements event.Sink. No agent is under way when an interval begins.
func (r *roundLog) Signal(e *event.Signal) {
	if n := len(r.list); n > 0 {
		who := r.agents[e.ID]
		w, i := binary.Uvarint(who)
		s, j := binary.Uvarint(who[i:])
		mask, k := binary.Uvarint(who[i+j:])
		begun, _ := binary.Uvarint(who[i+j+k:])
		var b []byte
		for _, v := range [...]uint64{w, s, mask, uint64(n) - begun, e.Addr,
			r.relative(e.Addr, r.phase[e.Addr]), uint64(e.Bytes)} {
			b = binary.AppendUvarint(b, v)
		}
		r.list[n-1].signals = append(r.list[n-1].signals, b)
	}
	delete(r.agents, e.ID)
	r.Sink.Signal(e)
}

// MBarrier implements event.Sink.
func (r *roundLog) MBarrier(e *event.MBarrier) {
	switch e.Op {
	case event.MBarrierComplete:
		r.phase[e.Addr] = e.Phase + 1
	case event.MBarrierInit:
		r.phase[e.Addr] = 0
		fallthrough
	default:
		r.op(logMBarrier, e.Warp, e.Site, e.Mask, uint64(e.Op), e.Addr,
			r.relative(e.Addr, e.Phase), uint64(e.Count), uint64(e.Bytes))
	}
	r.Sink.MBarrier(e)
}

// footprint records chunks of shared memory.
func (r *roundLog) footprint(w event.Warp, f *event.Footprint) {
	if f == nil {
		r.put(w, 0)
		return
	}
	r.put(w, uint64(len(f.Parts)))
	for i := range f.Parts {
		p := &f.Parts[i]
		r.put(w, p.Base)
		r.put(w, p.Chunks[:]...)
	}
}

// Matrix implements event.Sink.
func (r *roundLog) Matrix(e *event.Matrix) {
	r.op(logMatrix, e.Warp, e.Site, e.Mask)
	r.footprint(e.Warp, e.Reads)
	r.Sink.Matrix(e)
}

// MatrixGroup implements event.Sink.
func (r *roundLog) MatrixGroup(e *event.MatrixGroup) {
	r.op(logMatrixGroup, e.Warp, e.Site, e.Mask, flag(e.Commit), uint64(e.Pending))
	r.Sink.MatrixGroup(e)
}

// Tensor implements event.Sink.
func (r *roundLog) Tensor(e *event.TensorAgent) {
	r.op(logTensor, e.Warp, e.Site, e.Mask, uint64(e.Op), e.Shape, flag(e.Small), uint64(e.Peer),
		uint64(len(e.Rects)))
	for _, t := range e.Rects {
		r.put(e.Warp, uint64(t.Lane), uint64(t.Lanes), uint64(t.Column), uint64(t.Columns),
			flag(t.Write), uint64(t.Peer))
	}
	r.footprint(e.Warp, e.Shared)
	r.Sink.Tensor(e)
}

// TensorSync implements event.Sink.
func (r *roundLog) TensorSync(e *event.TensorSync) {
	r.op(logTensorSync, e.Warp, e.Site, e.Mask, uint64(e.Step), e.Addr, uint64(e.Peer), flag(e.More),
		uint64(e.Column), uint64(e.Columns))
	switch e.Step {
	case event.TensorCommit:
		r.issue(e.ID, e.Warp, e.Site, e.Mask)
	case event.TensorAllocate, event.TensorFree, event.TensorPermit:
		if n := len(r.list); n > 0 {
			r.list[n-1].allocates = true
		}
	}
	r.Sink.TensorSync(e)
}

func flag(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// ProxyFence implements event.Sink.
func (r *roundLog) ProxyFence(e *event.ProxyFence) {
	r.op(logProxyFence, e.Warp, e.Site, e.Mask)
	r.Sink.ProxyFence(e)
}

// Fence implements event.Sink.
func (r *roundLog) Fence(e *event.Fence) {
	r.op(logFence, e.Warp, e.Site, e.Mask)
	r.Sink.Fence(e)
}

// Arrive implements event.Sink.
func (r *roundLog) Arrive(e *event.Arrive) {
	r.op(logArrive, e.Warp, e.Site, e.Mask, uint64(e.Barrier), uint64(e.Count),
		uint64(e.Op), r.gen[e.Barrier]-r.start.gen[e.Barrier])
	r.Sink.Arrive(e)
}

// Complete implements event.Sink.
func (r *roundLog) Complete(e *event.Complete) {
	r.gen[e.Barrier]++
	r.Sink.Complete(e)
}

// Cluster implements event.Sink.
func (r *roundLog) Cluster(e *event.ClusterBarrier) {
	if e.Op != event.ClusterComplete {
		r.op(logCluster, e.Warp, e.Site, e.Mask, uint64(e.Op))
	}
	r.Sink.Cluster(e)
}

// InitFence implements event.Sink.
func (r *roundLog) InitFence(e *event.InitFence) {
	r.op(logInitFence, e.Warp, e.Site, e.Mask)
	r.Sink.InitFence(e)
}

// WarpSync implements event.Sink.
func (r *roundLog) WarpSync(e *event.WarpSync) {
	r.op(logWarpSync, e.Warp, e.Site, e.Mask)
	r.Sink.WarpSync(e)
}

// Converge implements event.Sink.
func (r *roundLog) Converge(e *event.Converge) {
	r.op(logConverge, e.Warp, 0, e.Mask)
	r.Sink.Converge(e)
}

// Exit implements event.Sink.
func (r *roundLog) Exit(e *event.Exit) {
	r.op(logExit, e.Warp, 0, e.Mask)
	r.Sink.Exit(e)
}

// same reports whether two intervals do the same, from the same state, apart from the values of
// registers.
func (a *interval) same(b *interval) bool {
	if !bytes.Equal(a.at.State, b.at.State) || len(a.at.Threads) != len(b.at.Threads) ||
		!maps.EqualFunc(a.warps, b.warps, bytes.Equal) {
		return false
	}
	for i := range a.at.Threads {
		v, w := &a.at.Threads[i], &b.at.Threads[i]
		if v.Warp != w.Warp || v.Mask != w.Mask || v.Loop != w.Loop {
			return false
		}
	}
	slices.SortFunc(a.signals, bytes.Compare)
	slices.SortFunc(b.signals, bytes.Compare)
	return slices.EqualFunc(a.signals, b.signals, bytes.Equal)
}
