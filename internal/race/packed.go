package race

// Packed rows: what warps write word by word, as a column of a matrix, with nothing but the last
// writer of each word. It takes 8 bytes where a cell takes 32, and such writes cost what their
// misses in the cache cost. The first access that finds more to say turns the row into cells.

// packed is a write by one lane: its warp, site, clock and lane, from the highest bits to the
// lowest; 0 is none.
type packed uint64

const (
	packedSite  = 16 // bits
	packedClock = 11
	packedLane  = 5
)

func (e packed) entry() entry {
	if e == 0 {
		return entry{}
	}
	return entry{uint32(e >> (packedSite + packedClock + packedLane)),
		uint32(e>>packedLane) & (1<<packedClock - 1), 1 << (e & (1<<packedLane - 1)),
		uint32(e>>(packedClock+packedLane)) & (1<<packedSite - 1)}
}

// packedGroup is the number of packed rows that are allocated at once.
const packedGroup = 32

// packedRow returns the packed words with a number, from 1 on.
func (d *Detector) packedRow(no uint32) *[rowWords]packed {
	return &d.packed[(no-1)/packedGroup][(no-1)%packedGroup]
}

// newPacked returns the number of packed words that are empty.
func (d *Detector) newPacked() uint32 {
	if n := len(d.sparePacked); n > 0 {
		no := d.sparePacked[n-1]
		d.sparePacked = d.sparePacked[:n-1]
		return no
	}
	if d.packedRows%packedGroup == 0 {
		d.packed = append(d.packed, new([packedGroup][rowWords]packed))
		d.bytes += packedGroup * rowWords * 8
	}
	d.packedRows++
	return d.packedRows
}

// dropPacked empties the packed words of a row.
func (d *Detector) dropPacked(rw *row) {
	if rw.packed != 0 {
		*d.packedRow(rw.packed) = [rowWords]packed{}
		d.sparePacked = append(d.sparePacked, rw.packed)
		rw.packed = 0
	}
}

// pack is quick for a write by one lane of a word of a packed row, or of an empty one.
func (d *Detector) pack(a *access, p *page, word uint32, lane int) bool {
	rw := &p.rows[word/rowWords]
	if rw.packed == 0 {
		if rw.cells != nil || d.runsOf(&rw.w) != nil || d.runsOf(&rw.r) != nil {
			return false
		}
		rw.packed = d.newPacked()
		p.coarse = true
	}
	at := &d.packedRow(rw.packed)[word%rowWords]
	clk := a.w.own[0]
	e := at.entry()
	if clk >= 1<<packedClock || a.Site >= 1<<packedSite || !a.plainlyAfter(&e, 1<<lane) {
		return false
	}
	*at = packed(a.w.id)<<(packedSite+packedClock+packedLane) |
		packed(a.Site)<<(packedClock+packedLane) | packed(clk)<<packedLane | packed(lane)
	return true
}
