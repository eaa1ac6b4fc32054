// Package host is heddle's side of a running CUDA program: the memory that both share, and the
// server that answers the runtime which the program is linked with (internal/lower/headers/exec).
//
// A program is a process with a connection. It sends what it wants done; a Device does it. The
// package knows neither kernels nor detectors: command/exec has a Device that loads modules and
// emulates launches, tests have one that only counts.
//
// Messages of one program are handled in the order in which they arrive, so that launches are
// executed one after the other, in the order of the calls. The runtime waits for a reply only where
// CUDA does: a launch has none.
package host

import "heddle/internal/event"

// Error is an error of the CUDA runtime, by its number (cudaError_t).
type Error uint32

// The errors that heddle returns. Their texts are in heddle/runtime_types.h.
const (
	Success               Error = 0
	InvalidValue          Error = 1
	MemoryAllocation      Error = 2
	InvalidConfiguration  Error = 9
	InvalidSymbol         Error = 13
	InvalidDeviceFunction Error = 98
	InvalidKernelImage    Error = 200
	InvalidResourceHandle Error = 400
	NotReady              Error = 600
	IllegalAddress        Error = 700
	Assert                Error = 710
	MisalignedAddress     Error = 716
	LaunchFailure         Error = 719
	NotSupported          Error = 801
)

// Hello is what a program says of itself when it connects.
type Hello struct {
	Process int    // its number
	Path    string // of its executable
	Load    uint64 // what is to be subtracted from an address in it to get that in the file
}

// Kernel is what a program may know about one of its kernels.
type Kernel struct {
	ID         uint32      // by which launches name it
	Parameters []Parameter // in order
	Bytes      uint32      // of the parameter area
	Shared     uint32      // static shared memory of a block, bytes
	Const      uint32      // constant memory of its module, bytes
	Local      uint32      // local memory of a thread, bytes
	MaxThreads uint32      // of a block, as .maxntid or .reqntid demand; 0: no demand
	Registers  uint32      // of a thread, an estimate
	PTX        uint32      // architecture for which its PTX was compiled: 80 for sm_80
	Cluster    uint32      // blocks of a cluster, as .reqnctapercluster demands; 0: no demand
}

// Parameter is the place of a parameter in the parameter area, in bytes.
type Parameter struct{ Offset, Size uint32 }

// Launch is a launch as the program requests it. The runtime has checked the shape against the
// limits of every GPU.
type Launch struct {
	Kernel      uint32 // Kernel.ID
	Cooperative bool   // all blocks are resident
	Dependent   bool   // it may begin while the launch before in its stream runs
	Grid        event.Dim3
	Block       event.Dim3
	Cluster     event.Dim3
	Shared      uint64 // dynamic shared memory, bytes
	Stream      uint64 // handle; 0: the default stream
	Caller      uint64 // return address in the program
	// Callers are the return addresses of the functions that have called this one, innermost first, as
	// far as they are known. Callers and Params are valid until Launch returns.
	Callers []uint64
	Params  []byte // the parameter area
}

// Work is a function of a library that the program calls, such as cublasSgemm: work of a stream
// that heddle computes.
type Work struct {
	Function uint32 // HEDDLE_LIBRARY_ in protocol.h
	Name     string // as the program calls it
	Device   bool   // scalars are in device memory
	Stream   uint64
	Caller   uint64   // return address in the program
	Args     []uint64 // those of internal/library
}

// CompileResult is the result of a compilation for a program, by its number (nvrtcResult).
type CompileResult uint32

// The results that heddle returns.
const (
	Compiled      CompileResult = 0
	InvalidOption CompileResult = 5
	NotCompiled   CompileResult = 6
)

// Object is a texture or surface object that a program has created. Its memory is in the arena.
type Object struct {
	Addr, Pitch, Slice uint64    // of the first texel; bytes of a row and of a layer or slice
	Size               [3]uint32 // texels; 0 for dimensions that it does not have
	Layers             uint32    // 0: none
	Channels, Bits     uint32    // of a texel, of a channel
	Kind               uint32    // a cudaChannelFormatKind
	Address            [3]uint32 // cudaTextureAddressMode of each dimension
	Color              [4]float32
	Surface            bool // for surface functions; of the rest only Cube and Layered count
	Cube, Layered      bool // what the layers are
	Linear             bool // device memory without dimensions
	Filter             bool // linear filtering
	Unit               bool // normalized coordinates
	Fraction           bool // integers are read as fractions of 1
	SRGB               bool // which are colors in sRGB
	// Of a mipmapped array: the levels behind the first, and what cudaTextureDesc says of them.
	Levels                   []Level
	Blend                    bool // linear filtering between levels
	Bias, MinLevel, MaxLevel float32
}

// Level is a level of a mipmapped array, with fields as those of an Object.
type Level struct {
	Addr, Pitch, Slice uint64
	Size               [3]uint32
}

// Call is a call that orders the work of streams, or such work, as in protocol.h.
type Call uint32

// The calls. Work has a Stream; the last four access memory.
const (
	CreateStream  Call = 1
	DestroyStream Call = 2
	WaitEvent     Call = 3 // the stream waits
	SyncEvent     Call = 4 // the host waits
	SyncStream    Call = 5
	SyncAll       Call = 6
	CopyMemory    Call = 7
	SetMemory     Call = 8
	AllocAsync    Call = 9
	FreeAsync     Call = 10
	RecordEvent   Call = 1 << 16 // has a message of its own, since it also takes the time
)

// OrderFlags describe a Call.
type OrderFlags uint32

// The flags, as in protocol.h.
const (
	NonBlocking OrderFlags = 1 // of CreateStream
	HostBefore  OrderFlags = 1 // of copies: the host waits for the stream before
	HostAfter   OrderFlags = 2 // the host waits for the copy
	Staged      OrderFlags = 4 // cudaMemcpy from pageable memory may return before the copy has ended
)

// Order is a Call with its arguments. A copy has rows of Width bytes; addresses outside of the
// arena are those of pageable memory. Width is 0 for one in the default stream that cannot race,
// because there is no stream with cudaStreamNonBlocking.
type Order struct {
	Call                         Call
	Flags                        OrderFlags
	Stream, Event                uint64 // handles
	Caller                       uint64 // return address in the program; 0: unknown
	To, ToPitch, From, FromPitch uint64
	Width, Rows                  uint64
}

// Device does what a program asks for. One goroutine calls it. Its memory is an Arena, of which it
// is told each change.
type Device interface {
	// Load receives the image of a module, and the names of those of its variables that the host can
	// access, before any other message about the module.
	Load(module uint32, image []byte, managed []string)
	// Compile compiles CUDA C++ to PTX, as NVRTC does, and returns the messages of the compiler.
	Compile(name, source string, options []string) (result CompileResult, ptx, log []byte)
	// Loaded reports whether a module was usable, Success, or InvalidKernelImage.
	Loaded(module uint32) Error
	// Kernel and Symbol find a kernel or variable of a module by its mangled name.
	Kernel(module uint32, name string) (*Kernel, Error)
	Symbol(module uint32, name string) (addr, size uint64, err Error)
	// Launch executes a kernel. An error is that of the context: all later calls fail with it.
	Launch(*Launch) Error
	// Work computes a function of a library, and returns its result for the host if it has one. An
	// error is that of the context.
	Work(*Work) ([]byte, Error)
	// Waited says that the program has waited for all launches.
	Waited()
	// Order reports a call that orders the work of streams. In a program that has created no stream,
	// these are the records of events only.
	Order(*Order)
	// Allocated and Freed report changes of the memory. ordered says that it happens in the order of a
	// stream, which Order has reported: cudaMallocAsync, cudaFreeAsync. caller is the return address
	// of the call that frees; 0: unknown.
	Allocated(a Allocation, ordered bool)
	Freed(a Allocation, caller uint64, ordered bool)
	// BadFree reports a call that frees memory which is not allocated: it fails. caller is its return
	// address.
	BadFree(addr, caller uint64)
	// Object reports a texture or surface object under its handle, ObjectGone its end.
	Object(handle uint64, o *Object)
	ObjectGone(handle uint64)
	// Reset is cudaDeviceReset: the variables of all modules have their first values again.
	Reset()
	// Unsupported names a function of the runtime that the program called in vain.
	Unsupported(name string)
	// Printed returns what kernels have printed since the last call.
	Printed() []byte
	// Resume says that the program is about to get a reply, and goes on.
	Resume()
	// Ended reports the end of the program. It is regular if it has called exit or returned from main.
	Ended(regular bool)
}

// Kind is what an allocation is for.
type Kind uint32

// The kinds of allocations, as in protocol.h.
const (
	DeviceMemory  Kind = iota // cudaMalloc and its relatives
	ManagedMemory             // cudaMallocManaged
	PinnedMemory              // cudaMallocHost, cudaHostAlloc
	Variable                  // of a module
)

// String returns the name of a kind as reports print it.
func (k Kind) String() string {
	return [...]string{"device memory", "managed memory", "pinned memory", "variable"}[k]
}

// Allocation is a range of the arena.
type Allocation struct {
	Addr, Size uint64
	Kind       Kind
	Caller     uint64 // return address in the program; 0: unknown
	Mapped     bool   // in a reserved range, which stays reserved when the allocation is freed
}
