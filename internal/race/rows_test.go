package race

import (
	"testing"

	"pgregory.net/rapid"

	"heddle/internal/event"
)

// inflated counts the rows of global memory that are kept word by word.
func inflated(d *Detector) (n int) {
	for p := range d.global.all() {
		for i := range p.rows {
			if p.rows[i].cells != nil {
				n++
			}
		}
	}
	return n
}

// Coalesced accesses keep rows compact: one record for a warp, whatever the number of words of a
// lane.
func TestCoalescedStaysCompact(t *testing.T) {
	geo := event.Geometry{Grid: event.Dim3{X: 4, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1}}
	d := New(Options{Geometry: geo})
	launchEvents(d, geo, 0, 4)
	for _, size := range []uint8{4, 8, 16} {
		d.Access(coalesced(0, 5, event.Read, 1<<40, size))
	}
	if n := inflated(d); n != 0 {
		t.Errorf("%d rows inflated, want none", n)
	}
}

// A thread's own accesses are in program order, so a warp whose lanes write their words twice keeps
// the row compact. Other lanes of the warp race with them (PTX ISA 8.7.1).
func TestRunsOfOneWarp(t *testing.T) {
	geo := event.Geometry{Grid: event.Dim3{X: 1, Y: 1, Z: 1}, Block: event.Dim3{X: 32, Y: 1, Z: 1}}
	for _, other := range []bool{false, true} {
		d := New(Options{Geometry: geo})
		a := coalesced(0, 0, event.Write, 1<<40, 4)
		d.Access(a)
		a.Site = 1
		if other {
			for l := range a.Addr {
				a.Addr[l] = 1<<40 + 4*(uint64(l)+16)
			}
		}
		d.Access(a)
		if got := racing(d); got != other {
			t.Errorf("other lanes %v: a race: %v", other, got)
		}
		if n := inflated(d); !other && n != 0 {
			t.Errorf("%d rows inflated, want none", n)
		}
	}
}

// Each of the warps that read a row before another writes it races with it (PTX ISA 8.7.1), however
// many they are.
func TestRunsOfManyWarps(t *testing.T) {
	const readers = 7
	geo := event.Geometry{Grid: event.Dim3{X: 1, Y: 1, Z: 1},
		Block: event.Dim3{X: 32 * (readers + 1), Y: 1, Z: 1}}
	d := New(Options{Geometry: geo})
	for w := range event.Warp(readers) {
		d.Access(coalesced(w, event.Site(w), event.Read, 1<<40, 4))
	}
	d.Access(coalesced(readers, readers, event.Write, 1<<40, 4))
	found := make(map[event.Site]uint64)
	for _, r := range d.Report().Races {
		found[r.First.Site] += r.Hazards
	}
	for s := range event.Site(readers) {
		if found[s] != 32 {
			t.Errorf("%d hazards with the reads of warp %d, want 32", found[s], s)
		}
	}
}

// A racing run is reported as if checked word by word: 32 words, written by one warp and then by
// another without a barrier between them, are 32 hazards of one pair (PTX ISA 8.7.1).
func TestRunsRace(t *testing.T) {
	geo := event.Geometry{Grid: event.Dim3{X: 1, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1}}
	d := New(Options{Geometry: geo})
	d.Access(coalesced(0, 0, event.Write, 1<<40, 4))
	d.Access(coalesced(1, 1, event.Write, 1<<40, 4))
	r := d.Report().Races
	if len(r) != 1 || r[0].Hazards != 32 || r[0].First.Thread != 0 ||
		r[0].Second.Thread != event.ThreadOf(1, 0) {
		t.Errorf("got %+v, want one race of 32 hazards", r)
	}
}

// coalesced is an access of neighbouring lanes to neighbouring addresses.
func coalesced(w event.Warp, site event.Site, kind event.Kind, base uint64,
	size uint8) *event.Access {
	a := &event.Access{Warp: w, Site: site, Mask: ^uint32(0), Active: ^uint32(0), Kind: kind,
		Space: event.Global, Size: size, Addr: new([event.WarpSize]uint64)}
	for l := range a.Addr {
		a.Addr[l] = base + uint64(l)*uint64(size)
	}
	if kind.Writes() {
		a.Stored, a.Data = a.Mask, new([4][event.WarpSize]uint64)
	}
	return a
}

// shifted is a coalesced read that begins some elements after base.
func shifted(w event.Warp, site event.Site, base, by uint64, size uint8,
	proxy event.Proxy) *event.Access {
	a := coalesced(w, site, event.Read, base+by*uint64(size), size)
	a.Proxy = proxy
	return a
}

// The reads of a stencil keep rows compact, wherever they begin, and whatever the size of elements
// and the proxy.
func TestStencilStaysCompact(t *testing.T) {
	geo := event.Geometry{Grid: event.Dim3{X: 4, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1}}
	for _, proxy := range []event.Proxy{event.GenericProxy, event.TextureProxy, event.FetchProxy} {
		for _, size := range []uint8{1, 2, 4, 8, 16} {
			d := New(Options{Geometry: geo})
			for w := range event.Warp(8) {
				for by := range uint64(17) {
					d.Access(shifted(w, event.Site(by), 1<<40, 32*uint64(w)+by, size, proxy))
				}
			}
			if n := inflated(d); n != 0 {
				t.Errorf("proxy %d, size %d: %d rows inflated, want none", proxy, size, n)
			}
			for p := range d.global.all() {
				if p.split != nil {
					t.Errorf("proxy %d, size %d: a page is kept by byte", proxy, size)
				}
			}
		}
	}
}

// A load through the texture proxy is ordered with no write (PTX ISA 8.6), not even of its own
// thread, before or after it, and a fetch of a texture with no write before it. 2 bytes of an
// element of 2 bytes are 2 locations.
func TestProxiesRace(t *testing.T) {
	geo := event.Geometry{Grid: event.Dim3{X: 1, Y: 1, Z: 1}, Block: event.Dim3{X: 32, Y: 1, Z: 1}}
	for _, c := range []struct {
		proxy      event.Proxy
		writeFirst bool
		size       uint8
		between    bool // a plain read
		races      uint64
	}{
		{event.TextureProxy, false, 4, false, 32}, {event.TextureProxy, true, 4, false, 32},
		{event.TextureProxy, false, 4, true, 32}, {event.TextureProxy, false, 2, false, 64},
		{event.FetchProxy, false, 4, false, 0}, {event.FetchProxy, true, 4, false, 32},
		{event.FetchProxy, true, 1, false, 32}, {event.GenericProxy, true, 4, false, 0},
	} {
		d := New(Options{Geometry: geo})
		write := coalesced(0, 0, event.Write, 1<<40, c.size)
		if c.writeFirst {
			d.Access(write)
		}
		d.Access(shifted(0, 1, 1<<40, 0, c.size, c.proxy))
		if c.between {
			d.Access(coalesced(0, 2, event.Read, 1<<40, c.size))
		}
		if !c.writeFirst {
			d.Access(write)
		}
		got := uint64(0)
		for _, r := range d.Report().Races {
			got += r.Hazards
		}
		if got != c.races {
			t.Errorf("%+v: %d hazards", c, got)
		}
	}
}

// The readers of a word take an entry each, and are found at once among many.
func TestManyReaders(t *testing.T) {
	const blocks = 3000
	geo := event.Geometry{Grid: event.Dim3{X: blocks, Y: 1, Z: 1},
		Block: event.Dim3{X: 32, Y: 1, Z: 1}}
	d := New(Options{Geometry: geo})
	read := event.Access{Mask: ^uint32(0), Active: ^uint32(0), Space: event.Global, Size: 4,
		Addr: new([event.WarpSize]uint64)}
	for range 3 {
		for w := range event.Warp(blocks) {
			read.Warp = w
			d.Access(&read)
		}
	}
	c := d.cell(d.global, d.page(d.global, 0), 0)
	if n := len(d.list(c.r.warp).weak); n != blocks {
		t.Errorf("%d entries for %d readers", n, blocks)
	}
	write := read
	write.Warp, write.Site, write.Kind, write.Mask, write.Stored = 7, 1, event.Write, 1, 1
	write.Data = new([4][event.WarpSize]uint64)
	d.Access(&write)
	if r := d.Report().Races; len(r) != 1 {
		t.Errorf("%d races, want 1 between the two places", len(r))
	}
}

// The index finds the same entries as a search from the end, while a list grows, and after entries
// have moved.
func TestPositions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		list := []entry{{clk: 1, mask: 1}}
		p := new(positions)
		for range rapid.IntRange(1, 300).Draw(t, "steps") {
			warp := uint32(rapid.IntRange(0, 40).Draw(t, "warp"))
			if rapid.IntRange(0, 3).Draw(t, "grow") > 0 {
				list = append(list, entry{warp: warp, clk: 1, mask: 1})
			}
			p.extend(list)
			i := p.last(list, warp)
			for k := len(list) - 1; k >= 0; k-- {
				if list[k].warp == warp {
					if i != k {
						t.Fatalf("entry %d of warp %d, want %d", i, warp, k)
					}
					i = p.before(i)
				}
			}
			if i >= 0 {
				t.Fatalf("an entry of warp %d at %d", warp, i)
			}
		}
	})
}

// A copy stays pending in a long list, whatever its thread does before it waits.
func TestPendingStays(t *testing.T) {
	const blocks = 40
	geo := event.Geometry{Grid: event.Dim3{X: blocks, Y: 1, Z: 1},
		Block: event.Dim3{X: 32, Y: 1, Z: 1}}
	d := New(Options{Geometry: geo})
	to, from, read := new([event.WarpSize]uint64), new([event.WarpSize]uint64),
		new([event.WarpSize]uint8)
	read[0] = 4
	d.Copy(&event.Copy{Warp: 0, Site: 0, Mask: 1, Active: 1, Size: 4, To: to, From: from, Read: read})
	a := event.Access{Site: 1, Mask: 1, Active: 1, Space: event.Global, Size: 4, Addr: from}
	for i := range 2 * blocks {
		a.Warp = event.Warp(blocks - 1 - i%blocks)
		d.Access(&a)
	}
	write := a
	write.Warp, write.Site, write.Kind, write.Stored = 0, 2, event.Write, 1
	write.Data = new([4][event.WarpSize]uint64)
	d.Access(&write)
	for _, r := range d.Report().Races {
		if r.First.Site == 0 && r.First.Async {
			return
		}
	}
	t.Errorf("the write does not race with the copy: %+v", d.Report().Races)
}
