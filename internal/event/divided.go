package event

// Divided is a sink of which a part of the work can be done for each block apart, by whoever
// executes the block.
type Divided interface {
	Sink
	// BlockSink returns a sink for this part; nil if there is none. Several may work at the same
	// time.
	BlockSink() BlockSink
	// Told is called in front of the events of a block with what BlockSink.End has appended.
	Told(told []uint64)
}

// BlockSink is a sink for the events of one block after the other.
type BlockSink interface {
	Sink
	// Refresh is called in front of blocks, while the Divided sink gets no events.
	Refresh()
	// Takes examines an access, in place of Access, and reports whether the Divided sink does not
	// need it, provided that End returns true.
	Takes(e *Access) bool
	// End is called after the last event of a block, and appends what the Divided sink has to be told.
	// If it returns false, the Divided sink needs all events of the block.
	End(told []uint64) ([]uint64, bool)
}
