package emu

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/slice"
)

// A trace by rounds stops the threads at the start of each round of some loops, until no thread of
// the block can go on otherwise and no copy is under way. Then all of them begin their rounds
// together. What has been executed at these moments is the same in every schedule of a kernel whose
// phases do not depend on it, so that two moments can be compared (docs/theory/periods.md).

// Round is a moment at which threads of a block begin rounds.
type Round struct {
	Threads []RoundThreads // by warp and lane
	// State is what the block is waiting for, and the state of its barriers and of all else that
	// decides what is possible from here on (roundstate.go). Equal bytes are equal states, apart from
	// how many phases and generations are complete. Phases has the number of complete phases of each
	// mbarrier.
	State  []byte
	Phases map[uint64]uint64
	// Ran are the lanes of each warp that have executed anything since the moment before.
	Ran map[event.Warp]uint32
}

// RoundThreads are lanes of a warp that begin a round of a loop.
type RoundThreads struct {
	Warp event.Warp
	Mask uint32
	Loop int // of NewTraceOfRounds
	// Values are those of its registers slice.RoundLoop.Live, 32 lanes each, 0 where a lane is not in
	// Mask or the value is not known.
	Values []uint64
	// Unknown are the lanes of each register whose value is not known.
	Unknown []uint32
}

// roundOp is the start of a round.
type roundOp struct {
	loop int
	regs []int32 // slots of the registers
	pred []bool  // of those that are predicates
}

// NewTraceOfRounds is NewTrace for traces by rounds of loops of k.
func NewTraceOfRounds(k *ir.Func, cfg *launch.Config, s *slice.Slice,
	loops []slice.RoundLoop) (*Machine, error) {
	if err := checkLaunch(k, cfg); err != nil {
		return nil, err
	}
	p, err := newProgram(&compiler{cfg: cfg, slice: s, rounds: loops}, k, false)
	if err != nil {
		return nil, err
	}
	return &Machine{kernel: k, cfg: cfg, prog: p}, nil
}

// round marks the start of a round, if block b begins one.
func (c *compiler) round(b ir.BlockID) {
	for i := range c.rounds {
		l := &c.rounds[i]
		if l.Header != b || !c.fn.Kernel {
			continue
		}
		op := &roundOp{loop: i}
		for _, r := range l.Live {
			op.regs = append(op.regs, c.fc.slots[r])
			op.pred = append(op.pred, c.fn.Regs[r].Type == isa.Pred)
		}
		c.control(inst{run: runRound, misc: &miscOp{round: op}})
	}
}

// runRound suspends the fragment until its round begins.
func runRound(x *exec, in *inst) {
	g := x.frag
	if x.opt.Round == nil || g.begins {
		g.begins = false
		return
	}
	if x.join != nil && x.join.maybe {
		x.fail(in, Unsupported, lowest(x.mask), "a loop on a path that perhaps no input takes")
		return
	}
	x.pc--
	x.suspend(wait{kind: atRound, in: in})
	x.next()
}

// beginRounds begins the rounds at whose starts threads of a block wait.
func (x *exec) beginRounds(b *block) {
	r := Round{Ran: make(map[event.Warp]uint32)}
	r.State, r.Phases = x.roundState(b)
	for i := range b.warps {
		w := &b.warps[i]
		r.Ran[w.id], w.ran = w.ran, 0
		first := len(r.Threads)
		still := w.waiting[:0]
		for _, g := range w.waiting {
			if g.wait.kind != atRound {
				still = append(still, g)
				continue
			}
			r.Threads = append(r.Threads, x.roundThreads(w, g))
			g.wait, g.begins = wait{}, true
			w.ready = append(w.ready, g)
		}
		w.waiting = still
		slices.SortFunc(r.Threads[first:], func(a, b RoundThreads) int {
			return lowest(a.Mask) - lowest(b.Mask)
		})
		if len(r.Threads) > first {
			x.wake(b, w)
		}
	}
	if len(r.Threads) == 0 {
		return
	}
	x.opt.Round(&r)
}

// roundThreads describes a fragment at the start of a round.
func (x *exec) roundThreads(w *warp, g *fragment) RoundThreads {
	op, f := g.wait.in.misc.round, g.frame
	t := RoundThreads{Warp: w.id, Mask: g.mask, Loop: op.loop,
		Values:  make([]uint64, event.WarpSize*len(op.regs)),
		Unknown: make([]uint32, len(op.regs))}
	for i, slot := range op.regs {
		v := t.Values[i*event.WarpSize : (i+1)*event.WarpSize]
		unknown := uint32(0)
		switch {
		case f.unk == nil:
		case op.pred[i]:
			unknown = f.punk[slot] & g.mask
		default:
			unknown = f.unk[slot] & g.mask
		}
		t.Unknown[i] = unknown
		for m := g.mask &^ unknown; m != 0; m &= m - 1 {
			l := lowest(m)
			if op.pred[i] {
				v[l] = uint64(f.preds[slot] >> l & 1)
			} else {
				v[l] = f.regs[slot][l]
			}
		}
	}
	return t
}
