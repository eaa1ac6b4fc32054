package oracle

import (
	"math"

	"heddle/internal/event"
)

// pending is the clock of an access that no thread can know yet: it is larger than any clock.
const pending = math.MaxUint32

// copied is an asynchronous copy that its thread has not waited for.
type copied struct {
	group int
	parts []*access
	to    []Byte
}

// copies holds the copies that a thread has issued.
type copies struct {
	closed int // groups
	open   []copied
}

// Copy checks and records the accesses of each lane's copies at the current time: they are ordered
// after what their thread knows, and nothing is ordered after them (PTX ISA 8.9.1.1).
func (o *Oracle) Copy(c *event.Copy) {
	o.seq++
	for _, t := range lanes(c.Warp, c.Mask) {
		o.vc[t][t]++
		l := t.Lane()
		made := copied{group: o.copies[t].closed}
		op := event.Op{Thread: t, Kind: event.Read, Async: true, Addr: c.From[l], Size: c.Read[l]}
		made.parts = append(made.parts, o.check(&access{op: op, site: c.Site, seq: o.seq, at: pending},
			event.Global))
		op = event.Op{Thread: t, Kind: event.Write, Async: true, Addr: c.To[l], Size: c.Size}
		w := &access{op: op, site: c.Site, seq: o.seq, at: pending,
			from: [2]uint64{c.From[l], uint64(c.Read[l])}}
		made.parts = append(made.parts, o.check(w, event.Shared))
		for i := range int(c.Size) {
			made.to = append(made.to, o.byteOf(event.Shared, op, 0, i))
		}
		o.written(made.to, &write{op: op})
		o.copies[t].open = append(o.copies[t].open, made)
	}
	o.endInstruction(c.Warp, c.Active)
}

// CopyGroup turns the copies that a lane has waited for into accesses of the lane at the current
// time (9.7.9.25.3.3).
func (o *Oracle) CopyGroup(g *event.CopyGroup) {
	for _, t := range lanes(g.Warp, g.Mask) {
		c := &o.copies[t]
		if g.Commit {
			c.closed++
		}
		if !g.Wait {
			continue
		}
		o.vc[t][t]++
		var open []copied
		for _, made := range c.open {
			if made.group >= c.closed-int(g.Pending) {
				open = append(open, made)
				continue
			}
			for _, p := range made.parts {
				p.at = o.vc[t][t]
			}
			o.written(made.to, &write{op: made.parts[1].op})
		}
		c.open = open
	}
	o.endInstruction(g.Warp, g.Active)
}

// written makes w the last write to some bytes.
func (o *Oracle) written(bytes []Byte, w *write) {
	for _, b := range bytes {
		o.last[b] = w
	}
}
