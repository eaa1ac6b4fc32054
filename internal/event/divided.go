package event

// Divided is a sink of which a part of the work can be done for each block apart, by whoever
// executes the block.
type Divided interface {
	Sink
	// BlockSink returns a sink for this part; nil if there is none. Several may work at the same
	// time.
	BlockSink() BlockSink
}

// BlockSink is a sink for the events of one block after the other. It needs no accesses to global
// memory.
type BlockSink interface {
	Sink
	// End is called after the last event of a block. If it returns true, the Divided sink needs no
	// weak accesses to shared memory of this block: its result is the same without them. Otherwise it
	// needs all events.
	End() bool
}
