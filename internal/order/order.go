// Package order says which of the operations that a CUDA program enqueues happen before which, and
// finds those that access the same memory without an order.
//
// An operation (Work) is a launch, a copy or a memset in a stream. Clocks holds a vector clock for
// each stream and one for the host, and History what the operations that are not known to have
// ended have accessed. The package knows neither the program nor the emulator.
//
// The edges are those of the CUDA Runtime API ("Stream synchronization behavior", "API
// synchronization behavior", "Event Management", "Stream Management"):
//
//   - the operations of a stream, in the order of the calls;
//   - the legacy default stream: each of its operations waits for all blocking streams, and all
//     later operations of blocking streams wait for it;
//   - cudaEventRecord before a cudaStreamWaitEvent that follows the call;
//   - what the host waits for before whatever it enqueues afterwards.
//
// All threads of the host count as one: what one of them has waited for is known to all. Threads
// order their calls by means that cannot be seen (mutexes, joins), so that fewer edges would report
// programs that are right.
package order

import "slices"

// Legacy is the handle of the legacy default stream.
const Legacy = 0

// Clock has for each stream, by index, how many of its operations happened before something.
type Clock []uint64

// join makes c include all of o.
func (c *Clock) join(o Clock) {
	if len(o) > len(*c) {
		*c = append(*c, make(Clock, len(o)-len(*c))...)
	}
	for i, n := range o {
		(*c)[i] = max((*c)[i], n)
	}
}

// at returns the count for a stream.
func (c Clock) at(i int) uint64 {
	if i < len(c) {
		return c[i]
	}
	return 0
}

// set sets the count for a stream.
func (c *Clock) set(i int, n uint64) {
	if i >= len(*c) {
		*c = append(*c, make(Clock, i+1-len(*c))...)
	}
	(*c)[i] = n
}

// Epoch names an operation: the one with number Time, from 1, of the stream with an index. An index
// is used again for a new stream once the host knows that the old one has ended.
type Epoch struct {
	Stream int
	Time   uint64
}

// before reports whether the operation is one of those that c counts.
func (e Epoch) before(c Clock) bool { return c.at(e.Stream) >= e.Time }

// stream is a stream that exists.
type stream struct {
	index    int
	blocking bool  // it synchronizes with the legacy default stream
	clock    Clock // its operations so far and all that they waited for
}

// Clocks is the order of the operations of one process. Its methods are called in the order of the
// program's calls.
type Clocks struct {
	host    Clock // what the host knows to have ended
	streams map[uint64]*stream
	list    []*stream // those of streams, the legacy default stream first
	events  map[uint64]Clock
	last    Clock // operations of each index so far
	// what destroyed streams have left: of blocking ones, and of all
	goneBlocking, gone Clock
	free               []int // indices of destroyed streams, which may still have work
}

// NewClocks returns the order of a program that has only the legacy default stream.
func NewClocks() *Clocks {
	c := &Clocks{streams: make(map[uint64]*stream), events: make(map[uint64]Clock)}
	c.Create(Legacy, true)
	return c
}

// Create adds a stream. A blocking one synchronizes with the legacy default stream; one with
// cudaStreamNonBlocking does not.
func (c *Clocks) Create(handle uint64, blocking bool) {
	s := &stream{index: len(c.last), blocking: blocking}
	// An operation of the new stream must not seem to be one of the old stream.
	ended := func(i int) bool { return c.host.at(i) >= c.last[i] }
	if k := slices.IndexFunc(c.free, ended); k >= 0 {
		s.index = c.free[k]
		c.free = slices.Delete(c.free, k, k+1)
	} else {
		c.last = append(c.last, 0)
	}
	c.streams[handle] = s
	c.list = append(c.list, s)
}

// Destroy removes a stream, whose operations go on (cudaStreamDestroy does not wait).
func (c *Clocks) Destroy(handle uint64) {
	s := c.streams[handle]
	if s == nil || handle == Legacy {
		return
	}
	delete(c.streams, handle)
	c.list = slices.DeleteFunc(c.list, func(o *stream) bool { return o == s })
	c.free = append(c.free, s.index)
	c.gone.join(s.clock)
	if s.blocking {
		c.goneBlocking.join(s.clock)
	}
}

// of returns a stream. A per-thread default stream exists from its first use on; it is a blocking
// one (CUDA Runtime API, "Stream synchronization behavior").
func (c *Clocks) of(handle uint64) *stream {
	if c.streams[handle] == nil {
		c.Create(handle, true)
	}
	return c.streams[handle]
}

// settle lets a stream wait for what its next operation would wait for.
func (c *Clocks) settle(handle uint64) *stream {
	s := c.of(handle)
	s.clock.join(c.host)
	switch {
	case handle == Legacy:
		s.clock.join(c.goneBlocking)
		for _, o := range c.list[1:] {
			if o.blocking {
				s.clock.join(o.clock)
			}
		}
	case s.blocking:
		s.clock.join(c.list[0].clock)
	}
	return s
}

// Enqueue adds an operation to a stream and returns its name and what happened before it, which is
// valid until the next call.
func (c *Clocks) Enqueue(handle uint64) (Epoch, Clock) {
	s := c.settle(handle)
	c.last[s.index]++
	e := Epoch{s.index, c.last[s.index]}
	s.clock.set(e.Stream, e.Time)
	return e, s.clock
}

// Record is cudaEventRecord.
func (c *Clocks) Record(event, handle uint64) {
	c.events[event] = slices.Clone(c.settle(handle).clock)
}

// Wait is cudaStreamWaitEvent. An event that was never recorded is no reason to wait.
func (c *Clocks) Wait(handle, event uint64) { c.settle(handle).clock.join(c.events[event]) }

// SyncEvent is cudaEventSynchronize, or a cudaEventQuery that succeeds.
func (c *Clocks) SyncEvent(event uint64) { c.host.join(c.events[event]) }

// SyncStream is cudaStreamSynchronize, or a cudaStreamQuery that succeeds. It is also what a host
// function does: it runs after the operations of its stream, and what it tells other threads of the
// host cannot be seen.
func (c *Clocks) SyncStream(handle uint64) { c.host.join(c.settle(handle).clock) }

// SyncAll is cudaDeviceSynchronize: the host waits for all streams.
func (c *Clocks) SyncAll() {
	c.host.join(c.gone)
	for _, s := range c.list {
		c.host.join(s.clock)
	}
	c.goneBlocking, c.gone = nil, nil
}

// SyncWork is the host waiting for one operation: a copy that returns when it has ended.
func (c *Clocks) SyncWork(e Epoch, before Clock) {
	c.host.join(before)
	c.host.set(e.Stream, max(c.host.at(e.Stream), e.Time))
}

// Ended reports whether the host knows that an operation has ended. Then it happened before all
// operations that are still to be enqueued.
func (c *Clocks) Ended(e Epoch) bool { return e.before(c.host) }
