package race

import (
	"strconv"
	"testing"

	"heddle/internal/event"
)

// launchEvents sends the events of blocks that each load, store to shared memory, pass a barrier,
// load a neighbour's word and store: the shape of most kernels. It returns the number of lane
// accesses.
func launchEvents(d *Detector, geo event.Geometry, from, to uint32) int {
	n := 0
	addr, data := new([event.WarpSize]uint64), new([4][event.WarpSize]uint64)
	var a event.Access // reused, as an emulator does
	var arrive event.Arrive
	var exit event.Exit
	send := func(w event.Warp, site event.Site, kind event.Kind, space event.Space, base uint64) {
		a = event.Access{Warp: w, Site: site, Mask: ^uint32(0), Active: ^uint32(0), Kind: kind,
			Space: space, Size: 4, Addr: addr}
		for l := range addr {
			addr[l] = base + uint64(l)*4
		}
		if kind == event.Write {
			a.Data, a.Stored = data, a.Mask
		}
		d.Access(&a)
		n += event.WarpSize
	}
	per := uint32(geo.WarpsPerBlock())
	for b := from; b < to; b++ {
		for i := range per {
			w := event.Warp(b*per + i)
			send(w, 0, event.Read, event.Global, 1<<40+uint64(w)*128)
			send(w, 1, event.Write, event.Shared, uint64(i)*128)
			arrive = event.Arrive{Warp: w, Mask: ^uint32(0), Active: ^uint32(0)}
			d.Arrive(&arrive)
		}
		d.Complete(&event.Complete{Block: b})
		for i := range per {
			w := event.Warp(b*per + i)
			send(w, 2, event.Read, event.Shared, uint64((i+1)%per)*128)
			send(w, 3, event.Write, event.Global, 2<<40+uint64(w)*128)
			exit = event.Exit{Warp: w, Mask: ^uint32(0)}
			d.Exit(&exit)
		}
	}
	return n
}

// BenchmarkAccess measures lanes per second of coalesced accesses to shared and global memory.
func BenchmarkAccess(b *testing.B) {
	geo := event.Geometry{Grid: event.Dim3{X: 256, Y: 1, Z: 1}, Block: event.Dim3{X: 256, Y: 1, Z: 1}}
	lanes := 0
	for b.Loop() {
		lanes += launchEvents(New(Options{Geometry: geo}), geo, 0, 256)
	}
	b.ReportMetric(float64(lanes)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
}

// BenchmarkAtomics measures a counter that all threads of the grid add to.
func BenchmarkAtomics(b *testing.B) {
	geo := event.Geometry{Grid: event.Dim3{X: 4096, Y: 1, Z: 1}, Block: event.Dim3{X: 256, Y: 1, Z: 1}}
	addr := new([event.WarpSize]uint64)
	lanes := 0
	for b.Loop() {
		d := New(Options{Geometry: geo})
		for w := range event.Warp(4096 * 8) {
			d.Access(&event.Access{Warp: w, Mask: ^uint32(0), Active: ^uint32(0), Stored: ^uint32(0),
				Kind:  event.Atomic,
				Space: event.Global, Order: event.Relaxed, Scope: event.GPU, Size: 4, Addr: addr})
			lanes += event.WarpSize
			d.Exit(&event.Exit{Warp: w, Mask: ^uint32(0)})
		}
	}
	b.ReportMetric(float64(lanes)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
}

// BenchmarkFence measures __threadfence by all threads followed by a volatile store.
func BenchmarkFence(b *testing.B) {
	geo := event.Geometry{Grid: event.Dim3{X: 64, Y: 1, Z: 1}, Block: event.Dim3{X: 256, Y: 1, Z: 1}}
	lanes := 0
	for b.Loop() {
		d := New(Options{Geometry: geo})
		for w := range event.Warp(64 * 8) {
			d.Fence(&event.Fence{Warp: w, Mask: ^uint32(0), Active: ^uint32(0), Order: event.SeqCst,
				Scope: event.GPU})
			lanes += event.WarpSize
			d.Exit(&event.Exit{Warp: w, Mask: ^uint32(0)})
		}
	}
	b.ReportMetric(float64(lanes)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
}

// BenchmarkRaces measures a racy loop: warps of a block that add to a word and read it plainly, in
// turns. Each read races with the additions of the other warps.
func BenchmarkRaces(b *testing.B) {
	geo := event.Geometry{Grid: event.Dim3{X: 1, Y: 1, Z: 1}, Block: event.Dim3{X: 256, Y: 1, Z: 1}}
	addr := new([event.WarpSize]uint64)
	lanes := 0
	for b.Loop() {
		d := New(Options{Geometry: geo})
		a := event.Access{Mask: ^uint32(0), Active: ^uint32(0), Space: event.Shared, Size: 4, Addr: addr}
		for i := range 256 {
			a.Warp = event.Warp(i % 8)
			a.Site, a.Kind, a.Order, a.Scope, a.Stored = 0, event.Read, event.Weak, 0, 0
			d.Access(&a)
			a.Site, a.Kind, a.Order, a.Scope, a.Stored = 1, event.Atomic, event.Relaxed, event.GPU, a.Mask
			d.Access(&a)
			lanes += 2 * event.WarpSize
		}
	}
	b.ReportMetric(float64(lanes)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
}

// TestNoAllocation: once the shadow pages exist, accesses, barriers and the end of a block allocate
// nothing for each event.
func TestNoAllocation(t *testing.T) {
	geo := event.Geometry{Grid: event.Dim3{X: 64, Y: 1, Z: 1}, Block: event.Dim3{X: 256, Y: 1, Z: 1}}
	d := New(Options{Geometry: geo})
	launchEvents(d, geo, 0, 64)
	events := float64(8 * 6) // of one block
	if n := testing.AllocsPerRun(10, func() { launchEvents(d, geo, 3, 4) }); n > events {
		t.Errorf("%v allocations for one block of %v events; only its own state may be allocated", n,
			events)
	}
}

// benchReads measures warps of many blocks that each read as next says, of a new detector.
func benchReads(b *testing.B, blocks uint32,
	read func(a *event.Access, step int) bool) {
	geo := event.Geometry{Grid: event.Dim3{X: blocks, Y: 1, Z: 1}, Block: event.Dim3{X: 256, Y: 1, Z: 1}}
	lanes := 0
	for b.Loop() {
		d := New(Options{Geometry: geo})
		a := event.Access{Mask: ^uint32(0), Active: ^uint32(0), Space: event.Global, Size: 4,
			Addr: new([event.WarpSize]uint64)}
		for w := range event.Warp(blocks * 8) {
			a.Warp = w
			for i := 0; read(&a, i); i++ {
				d.Access(&a)
				lanes += event.WarpSize
			}
			d.Exit(&event.Exit{Warp: w, Mask: ^uint32(0)})
		}
	}
	b.ReportMetric(float64(lanes)/b.Elapsed().Seconds()/1e6, "Mlanes/s")
}

// inRow makes a an access by neighbouring lanes from an address on.
func inRow(a *event.Access, from uint64) {
	for l := range a.Addr {
		a.Addr[l] = from + uint64(l)*uint64(a.Size)
	}
}

// BenchmarkStencil measures reads of 17 neighbours by each thread.
func BenchmarkStencil(b *testing.B) {
	for name, proxy := range map[string]event.Proxy{"ld": event.GenericProxy,
		"nc": event.TextureProxy, "tex": event.FetchProxy} {
		b.Run(name, func(b *testing.B) {
			benchReads(b, 64, func(a *event.Access, i int) bool {
				a.Proxy, a.Site = proxy, event.Site(i)
				inRow(a, 1<<40+128*uint64(a.Warp)+4*uint64(i))
				return i < 17
			})
		})
	}
}

// BenchmarkTable measures a word that all threads of the grid read.
func BenchmarkTable(b *testing.B) {
	for _, blocks := range []uint32{256, 4096} {
		b.Run(strconv.Itoa(int(blocks)), func(b *testing.B) {
			benchReads(b, blocks, func(a *event.Access, i int) bool {
				a.Addr = new([event.WarpSize]uint64)
				return i < 2
			})
		})
	}
}

// BenchmarkBytes measures reads of bytes, side by side and with a stride.
func BenchmarkBytes(b *testing.B) {
	for _, stride := range []uint64{1, 3} {
		b.Run(strconv.Itoa(int(stride)), func(b *testing.B) {
			benchReads(b, 64, func(a *event.Access, i int) bool {
				a.Size = 1
				for l := range a.Addr {
					a.Addr[l] = 1<<40 + stride*(uint64(a.Warp)*32+uint64(l)) + uint64(i)
				}
				return i < 9
			})
		})
	}
}
