package emu

import (
	"math/bits"

	"heddle/internal/event"
)

// Asynchronous copies in the log of a block that runs ahead. They change shared memory only, so
// that the log contains them only for the consumer of events.

// copyRecord is an event.Copy in the log. Its words are destinations, sources and bytes to read,
// for each lane.
type copyRecord struct {
	event.Copy
	pos int
}

// Copy logs the issue of copies.
func (s *speculation) Copy(e *event.Copy) {
	if !s.full {
		return
	}
	r := copyRecord{*e, len(s.words)}
	s.words = appendLanes(appendLanes(s.words, e.To, e.Mask), e.From, e.Mask)
	for t := e.Mask; t != 0; t &= t - 1 {
		s.words = append(s.words, uint64(e.Read[bits.TrailingZeros32(t)&31]))
	}
	put(s, logCopy, &s.copied, &r)
	if s.local != nil {
		s.local.Copy(e)
	}
}

// CopyGroup logs a commit or a wait.
func (s *speculation) CopyGroup(e *event.CopyGroup) {
	note(s, logGroup, &s.group, e, event.BlockSink.CopyGroup)
}

// sendCopy sends the event of a logged copy.
func (d *sender) sendCopy(sink event.Sink, sp *speculation, r *copyRecord) {
	c := &d.copied
	w := takeLanes(&c.from, takeLanes(&c.to, sp.words[r.pos:], r.Mask), r.Mask)
	for t, i := r.Mask, 0; t != 0; t, i = t&(t-1), i+1 {
		c.read[bits.TrailingZeros32(t)&31] = uint8(w[i])
	}
	d.copy = r.Copy
	d.copy.To, d.copy.From, d.copy.Read = &c.to, &c.from, &c.read
	sink.Copy(&d.copy)
}
