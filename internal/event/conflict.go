package event

// Op is one side of a possible race, reduced to what the definition of a race reads.
type Op struct {
	Thread Thread
	Kind   Kind
	Order  Order
	Scope  Scope
	Proxy  Proxy
	// issued by Thread but performed by an asynchronous copy, outside its program order (8.9.1.1)
	Async bool
	Addr  uint64
	Size  uint8
}

// Overlap reports whether the byte ranges of a and b have a byte in common.
func Overlap(a, b Op) bool {
	return a.Addr < b.Addr+uint64(b.Size) && b.Addr < a.Addr+uint64(a.Size)
}

// MorallyStrong reports whether a and b are morally strong relative to each other (PTX ISA 8.7):
// both strong, scopes that include each other, the same proxy, and complete overlap. Atomics of
// different sizes that overlap are a mixed-size data race (8.7.2), although the hardware does not
// tear them.
func MorallyStrong(g Geometry, a, b Op) bool {
	if !a.Order.Strong() || !b.Order.Strong() || a.Proxy != b.Proxy {
		return false
	}
	if !g.Includes(a.Scope, a.Thread, b.Thread) || !g.Includes(b.Scope, b.Thread, a.Thread) {
		return false
	}
	return a.Addr == b.Addr && a.Size == b.Size
}

// Conflict is the definition of a race up to causality order (PTX ISA 8.7.1): a and b access one
// memory space, overlap, at least one of them writes, and they are not morally strong. Operations
// of one thread conflict only where program order does not order them: one belongs to an
// asynchronous copy, or they use different proxies. Two conflicting operations that causality order
// does not relate are a data race. Whether two writes of the same value are tolerated is decided by
// the detector.
func Conflict(g Geometry, a, b Op) bool {
	apart := a.Thread != b.Thread || a.Async || b.Async || a.Proxy != b.Proxy && !fetchedBefore(a, b)
	return apart && (a.Kind.Writes() || b.Kind.Writes()) && Overlap(a, b) && !MorallyStrong(g, a, b)
}

// Unordered is the definition of two strong accesses that need an order although they are no data
// race: a and b conflict in everything but their strength. They are accesses of different threads
// to the same bytes, at least one of them a write, they are morally strong, neither is an atomic
// read-modify-write, and at least one is relaxed or volatile (.volatile is .relaxed.sys, PTX ISA
// 8.4.2). If causality order does not relate them, the memory model defines the outcome of each
// (8.7.1 excludes them from data races) but leaves open which of them comes first. Lanes of a warp
// are no exception: since sm_70 they do not run in lock step.
//
// Two kinds of pairs are left out, because their operations state that they synchronize:
//   - a read-modify-write with anything: it reads the last value in coherence order before its own
//     write (8.10.3, atomicity), so that it is right wherever the other access falls. A store that
//     opens a lock and the compare-and-swap that waits for it are such a pair, and so are a counter
//     and a load of its value;
//   - a release store with an acquire load or with another release store.
//
// No two operations are both in Conflict and in Unordered. Which unordered pairs are reported, and
// how, depends on the use of the location in the rest of the run: see race.Exchange.
func Unordered(g Geometry, a, b Op) bool {
	relaxed := a.Order == Relaxed || b.Order == Relaxed
	return a.Thread != b.Thread && (a.Kind == Write || b.Kind == Write) && !a.Kind.RMW() &&
		!b.Kind.RMW() && relaxed && MorallyStrong(g, a, b)
}

// Preserved reports whether a and b are in causality order if one happens before the other: both
// use the generic proxy, or both use one other proxy and belong to threads of one block (PTX ISA
// 8.9.5, "proxy-preserved base causality order"). Fences between proxies are not considered, so
// that an order which only a proxy fence establishes is reported as a race.
func Preserved(g Geometry, a, b Op) bool {
	return fetchedBefore(a, b) || a.Proxy == b.Proxy && (a.Proxy == GenericProxy ||
		g.BlockOf(a.Thread.Warp()) == g.BlockOf(b.Thread.Warp()))
}

// fetchedBefore reports whether a, the earlier one, is a texture fetch that b may overwrite. The
// CUDA C++ Programming Guide ("Texture and Surface Memory") forbids only the other order, a fetch
// of what was written in the same launch.
func fetchedBefore(a, b Op) bool {
	return a.Proxy == FetchProxy && b.Proxy == GenericProxy
}
