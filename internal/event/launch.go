package event

// Launch is the launch of a grid by a thread of another one (CUDA C++ Programming Guide, "CUDA
// Dynamic Parallelism"). What its thread knows to have happened precedes the grid; no thread of the
// launching grid ever knows that the launched one has ended. The event follows the execution of the
// launched grid.
type Launch struct {
	Warp   Warp
	Lane   int
	Site   Site
	Active uint32
	// Stream is the handle of the stream. Grids in one stream follow each other, unless Alone is set.
	// Shared says that each block has a stream of this handle of its own.
	Stream        uint64
	Alone, Shared bool
	// Event, unless it is 0, is the handle of an event, and no grid is launched: the thread records it
	// in the stream or, if Wait is set, lets the stream wait for it.
	Event uint64
	Wait  bool
	// Accesses are those of the launched grid and of the grids below it to global memory.
	Accesses []GridAccess
	// Fenced says that the grid may have synchronized with others by strong accesses.
	Fenced bool
}

// GridAccess is bytes that a grid has accessed in one way.
type GridAccess struct {
	From, To uint64
	Write    bool
	Strong   bool   // with a scope that includes other grids
	Origin   uint32 // the producer's number for the place
}

// LaunchSink is implemented by consumers of events that need to know of launches.
type LaunchSink interface {
	Launch(*Launch)
}
