package emu

import (
	"fmt"

	"heddle/internal/event"
)

// Invalid accesses. PTX leaves an access outside of memory, or one that is not aligned to its size,
// undefined (PTX ISA 6.4.1), and hardware ends the whole grid at some later point. A run does
// neither: it records the place and goes on, because what the kernel does behind that place is
// wrong independently of it. The invalid access of a lane is not performed: a read returns 0, a
// write is dropped, an atomic operation returns 0 and changes nothing. The other lanes of the
// instruction are not affected, and no event is sent for the invalid ones.
//
// Zero is as good as any other value, and still not the value that the kernel would read. The
// consumer of the events is told which lanes have gone on (FaultSink), since what they do later may
// be a consequence.
//
// In a run that tracks unknown values the first invalid access ends the run: a verdict about all
// inputs must not rest on a value that was made up. Options.StopAtFault demands the same of any
// run.

// maxFaults bounds Result.Faults. It only matters for recursive kernels, in which each calling
// context has sites of its own.
const maxFaults = 256

// Fault is an instruction at which threads accessed memory that they must not access.
type Fault struct {
	Stop         // the first such access
	Count uint64 // accesses of single threads
}

// FaultSink is implemented by consumers of events that need to know which threads go on after an
// invalid access.
type FaultSink interface {
	// Fault states that the lanes of mask have just made an invalid access.
	Fault(w event.Warp, mask uint32)
}

// faults collects the invalid accesses of a run.
type faults struct {
	list  []Fault
	at    map[faultKey]int      // index in list
	lanes map[event.Warp]uint32 // that have made one; nil if none has
	sink  FaultSink             // nil: nobody needs to know
}

// faultKey identifies an entry of a list of faults: a place can have one of each kind.
type faultKey struct {
	site event.Site
	kind StopKind
}

// again counts an invalid access at a place that has been recorded. It reports false for the first
// one there, which the caller passes to fault: only that one needs a message.
func (x *exec) again(in *inst, kind StopKind, lane int) bool {
	if x.spec != nil {
		return false
	}
	i, ok := x.faults.at[faultKey{x.site(in), kind}]
	if !ok {
		return false
	}
	x.faults.list[i].Count++
	x.tellFault(lane)
	return true
}

// fault records an invalid access by one lane, and returns what it recorded; nil if it recorded
// nothing. A block that runs ahead must run again, since faults are counted in the order of the
// blocks.
func (x *exec) fault(in *inst, kind StopKind, lane int, format string, args ...any) *Stop {
	switch {
	case x.unk != nil || x.opt.StopAtFault:
		x.fail(in, kind, lane, format, args...)
		return x.stop
	case x.spec != nil:
		x.spec.fail(x)
		return nil
	}
	x.tellFault(lane)
	if len(x.faults.list) == maxFaults {
		return nil
	}
	if x.faults.at == nil {
		x.faults.at = make(map[faultKey]int)
	}
	x.faults.at[faultKey{x.site(in), kind}] = len(x.faults.list)
	s := x.stopAt(in, kind, lane, format, args...)
	s.AfterFault = false
	x.faults.list = append(x.faults.list, Fault{Stop: s, Count: 1})
	return &x.faults.list[len(x.faults.list)-1].Stop
}

// beyond is fault for an access outside of an array of one dimension, of which the elements are
// known.
func (x *exec) beyond(in *inst, lane int, bound Bound, format string, args ...any) {
	if s := x.fault(in, OutOfBounds, lane, format, args...); s != nil {
		s.Bound = bound
	}
}

// tellFault notes that a lane has made an invalid access, and tells the consumer.
func (x *exec) tellFault(lane int) {
	if x.faults.lanes == nil {
		x.faults.lanes = make(map[event.Warp]uint32)
	}
	x.faults.lanes[x.warp.id] |= 1 << lane
	if x.faults.sink != nil {
		x.faults.sink.Fault(x.warp.id, 1<<lane)
	}
}

// stopAt describes an error of one lane at the current instruction.
func (x *exec) stopAt(in *inst, kind StopKind, lane int, format string, args ...any) Stop {
	s := x.stopFor(x.site(in), event.ThreadOf(x.warp.id, lane), kind, format, args...)
	s.Shared = in.mem != nil && in.mem.space == event.Shared
	return s
}

// stopFor describes an error of a thread at a site.
func (x *exec) stopFor(site event.Site, t event.Thread, kind StopKind, format string,
	args ...any) Stop {
	s := Stop{Kind: kind, Site: site, Thread: t, Message: fmt.Sprintf(format, args...),
		AfterFault: x.afterFault(t)}
	s.Block, s.Index = x.geo.Index(t)
	return s
}

// afterFault reports whether a thread has made an invalid access.
func (x *exec) afterFault(t event.Thread) bool {
	return x.faults.lanes[t.Warp()]>>t.Lane()&1 != 0
}

// skip completes the invalid access of a lane: what it reads is 0. It reports false if the run ends
// here, as a trace does.
func (x *exec) skip(in *inst, l int) bool {
	if x.stop != nil || x.spec != nil && x.spec.failed {
		return false
	}
	for _, d := range in.mem.dst {
		if d >= 0 {
			x.regs[d][l&31] = 0
		}
	}
	if in.mem.kind != event.Write && in.mem.order.Strong() {
		x.poll(in) // a loop that waits for another value here is spinning
	}
	return true
}
