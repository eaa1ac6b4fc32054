// Package event is the one vocabulary of what a kernel does to memory and to synchronization, and
// holds the one definition of a race (Conflict).
//
// Engines that execute or model a kernel produce events; detectors consume them through Sink.
// Neither side knows the other. The terms are those of the PTX ISA, chapter 8 "Memory Consistency
// Model".
package event

// Space is a state space that threads share (PTX ISA 5.1). Registers, parameters and local memory
// are private to a thread and produce no events.
type Space uint8

// The state spaces. Local, Const and Param occur in instructions but not in events.
const (
	NoSpace Space = iota
	Generic       // resolved at run time; never appears in an event
	Global
	Shared
	Local
	Const
	Param
	Tensor // tensor memory of a block (9.7.16.1), which only instructions of tcgen05 access
)

var spaceNames = [...]string{"", "generic", "global", "shared", "local", "const", "param", "tensor"}

// String returns the name that PTX gives to the space.
func (s Space) String() string { return spaceNames[s] }

// Orders is the memory that a barrier, a fence, or an acquire or release operation orders. In PTX
// it is all memory, except for fences with .sync_restrict (9.7.13.4). In OpenCL, barriers and fences
// order the memory that their flags name (OpenCL C 3.0, 6.15.8), and an atomic operation orders the
// memory that it accesses.
//
// It is a property of ir.Instr, set by irgen: ir.OrdersParts chooses the detectors of a kernel by it,
// and a detector of all memory takes any value for OrdersAll. It restricts which data is ordered, not
// in which memory a flag may be.
type Orders uint8

// The values of Orders. Only OpenCL and fences with .sync_restrict have others than OrdersAll.
const (
	OrdersAll Orders = iota
	OrdersGlobal
	OrdersShared
	OrdersNone
	OrdersOwn // the shared memory of the block whose thread executes it, and no other block's
)

var ordersNames = [...]string{"all", "global", "shared", "none", "own"}

// String returns the name of the memory.
func (o Orders) String() string { return ordersNames[o] }

// OrdersNamed returns the value of OpenCL with the given name, and whether one exists.
func OrdersNamed(name string) (Orders, bool) {
	for i, n := range ordersNames[:OrdersOwn] {
		if n == name {
			return Orders(i), true
		}
	}
	return 0, false
}

// Covers reports whether all accesses to space s are ordered.
func (o Orders) Covers(s Space) bool {
	switch o {
	case OrdersAll:
		return true
	case OrdersGlobal:
		return s == Global
	case OrdersShared:
		return s == Shared
	}
	return false
}

// Meet returns the memory that both a and o order, of barriers: the meet of the lattice none <
// global, shared < all.
func (o Orders) Meet(a Orders) Orders {
	switch {
	case o == a || a == OrdersAll:
		return o
	case o == OrdersAll:
		return a
	}
	return OrdersNone
}

// Scope is the set of threads that a strong operation may interact with directly (PTX ISA 8.5).
// Scopes are ordered: a larger value includes a smaller one.
type Scope uint8

// The scopes, from the narrowest to the widest.
const (
	NoScope Scope = iota // a weak operation has none
	CTA
	Cluster
	GPU
	Sys
)

var scopeNames = [...]string{"", "cta", "cluster", "gpu", "sys"}

// String returns the name that PTX gives to the scope.
func (s Scope) String() string { return scopeNames[s] }

// Order is the memory order of an operation or a fence (PTX ISA 8.3, 8.4).
type Order uint8

// The memory orders. Operations of every order except Weak are strong.
const (
	Weak    Order = iota
	Relaxed       // .relaxed, .volatile (relaxed.sys, PTX ISA 8.4.2) and .mmio (8.4.1)
	Acquire
	Release
	AcqRel
	SeqCst // fence.sc, membar
)

var orderNames = [...]string{"weak", "relaxed", "acquire", "release", "acq_rel", "sc"}

// String returns the name that PTX gives to the order.
func (o Order) String() string { return orderNames[o] }

// Strong reports whether an operation of this order is strong (PTX ISA 8.3: a fence, or an
// operation with .relaxed, .acquire, .release, .acq_rel, .volatile or .mmio).
func (o Order) Strong() bool { return o != Weak }

// Acquires reports whether the order has acquire semantics.
func (o Order) Acquires() bool { return o == Acquire || o == AcqRel || o == SeqCst }

// Releases reports whether the order has release semantics.
func (o Order) Releases() bool { return o == Release || o == AcqRel || o == SeqCst }

// Kind is the effect of an access on memory.
type Kind uint8

// The kinds of accesses.
const (
	Read   Kind = iota
	Write       // st and the like
	Atomic      // atom: read-modify-write that returns the old value
	Reduce      // red: read-modify-write without a result; its read never acquires (PTX ISA 8.8)
)

var kindNames = [...]string{"read", "write", "atomic", "reduction"}

// String names the kind in reports.
func (k Kind) String() string { return kindNames[k] }

// Writes reports whether an access of this kind may modify memory.
func (k Kind) Writes() bool { return k != Read }

// RMW reports whether the access is one atomic read-modify-write.
func (k Kind) RMW() bool { return k == Atomic || k == Reduce }

// Proxy is the method of memory access (PTX ISA 8.6).
type Proxy uint8

const (
	// GenericProxy is the proxy of ld, st, atom, red, and of cp.async, which is not a bulk copy
	// (9.7.9.25.2).
	GenericProxy Proxy = iota
	// AsyncProxy is the proxy of bulk copies.
	AsyncProxy
	// TextureProxy is the proxy of ldu and ld.global.nc, "for loading read-only global data through
	// the non-coherent texture cache" (13.33).
	TextureProxy
	// FetchProxy is the proxy of tex and tld4, which read memory through a cache that is not kept
	// coherent with writes of the same launch (CUDA C++ Programming Guide, "Texture and Surface
	// Memory"): what they read must not have been written in the launch before, by whatever thread. A
	// write that an order places behind the read is allowed.
	FetchProxy
	// TensorMapProxy is the proxy through which copies of tensors read their maps (9.7.9.27.1.2).
	TensorMapProxy
)
