package queue

import (
	"encoding/binary"
	"fmt"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/ptx/instrument"
)

// gpu is the device side in Go: the protocol of ptx/instrument, executed by one goroutine for each
// warp. Race detection of Go then checks the protocol itself.
type gpu struct {
	host, device Bytes
	queues       int
	slots        int
	geo          event.Geometry
	lock         sync.Mutex // of strong accesses
}

// words returns memory of n bytes.
func words(t *testing.T, n int) Bytes {
	t.Helper()
	m, err := NewBytes(make([]byte, n)) // which Go aligns to 8 bytes
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func newGPU(t *testing.T, queues, slots int, geo event.Geometry) *gpu {
	return &gpu{host: words(t, instrument.HostBytes(queues, slots)),
		device: words(t, instrument.DeviceBytes(queues)), queues: queues, slots: slots, geo: geo}
}

// put writes a record of a site whose addresses are not affine, with a ticket if it has one. It
// returns false if the record was dropped.
func (g *gpu) put(w event.Warp, site int, mask uint32, addr func(l int) uint64, ticket bool) bool {
	q := int(g.geo.BlockOf(w)) % g.queues
	n := 1 + inSlots(bits.OnesCount32(mask))
	flags := uint32(0)
	if ticket {
		n, flags = n+1, instrument.FlagTicket
	}
	head := g.device.word64(instrument.DeviceHeader + q*instrument.DeviceQueue)
	idx := atomic.AddUint64(head, uint64(n)) - uint64(n)
	for idx+uint64(n) > g.host.Load64(instrument.TailAt(q))+uint64(g.slots) {
		if g.host.Load32(instrument.ClosedAt) != 0 {
			atomic.AddUint64(g.device.word64(instrument.DroppedAt), 1)
			return false
		}
		time.Sleep(time.Microsecond)
	}
	slot := func(i int) []byte {
		at := instrument.RingAt(q, g.queues, g.slots) +
			int(idx+uint64(i))%g.slots*instrument.SlotSize
		return g.host.mem[at : at+instrument.SlotSize]
	}
	le := binary.LittleEndian
	b := slot(0)
	le.PutUint32(b[4:], uint32(site)|flags)
	le.PutUint32(b[8:], uint32(w))
	le.PutUint32(b[12:], mask)
	le.PutUint32(b[16:], mask)
	at := 1
	if ticket {
		t := g.device.word64(instrument.TicketAt)
		le.PutUint32(slot(1), uint32(*t))
		le.PutUint32(slot(1)[4:], mask)
		*t++
		at = 2
	}
	k := 0
	for m := mask; m != 0; m &= m - 1 {
		le.PutUint64(slot(at + k/4)[8*(k%4):], addr(bits.TrailingZeros32(m)))
		k++
	}
	place := instrument.RingAt(q, g.queues, g.slots) + int(idx)%g.slots*instrument.SlotSize
	g.host.Store32(place, instrument.ReadyBit|uint32(idx))
	return true
}

// The sites of the tests: a weak read, and an atomic operation.
func testSites() *instrument.Result {
	weak := &ir.Instr{Guard: ir.NoReg}
	return &instrument.Result{Sites: []instrument.Site{
		{What: instrument.Access, Instr: weak, Size: 4, Elem: 4,
			Access: isa.Access{Kind: event.Read, Space: event.Global}},
		{What: instrument.Access, Instr: weak, Size: 4, Elem: 4, Ticket: true, Access: isa.Access{
			Kind: event.Atomic, Space: event.Global, Order: event.Relaxed, Scope: event.GPU}},
		{What: instrument.Exit, Instr: weak},
	}}
}

// log records what the host delivers.
type log struct {
	event.Discard
	of      map[event.Warp][]uint64 // weak accesses of each warp, by a number in their addresses
	tickets []uint64                // addresses of the strong accesses
	exits   int
	slow    time.Duration // of each access
}

func (l *log) Access(e *event.Access) {
	time.Sleep(l.slow)
	v := e.Addr[bits.TrailingZeros32(e.Mask)]
	if e.Kind == event.Atomic {
		l.tickets = append(l.tickets, v)
		return
	}
	l.of[e.Warp] = append(l.of[e.Warp], v)
}

func (l *log) Exit(*event.Exit) { l.exits++ }

// TestConcurrent runs warps that log at once into few and small queues. Nothing may be lost, the
// records of a warp must stay in order, and strong accesses must be in the order of the lock.
func TestConcurrent(t *testing.T) {
	for _, slow := range []time.Duration{0, 10 * time.Microsecond} {
		for _, queues := range []int{1, 3} {
			t.Run(fmt.Sprint(queues, slow), func(t *testing.T) {
				geo := event.Geometry{Grid: event.Dim3{X: 6, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1},
					Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}
				g := newGPU(t, queues, 128, geo)
				l := &log{of: make(map[event.Warp][]uint64), slow: slow}
				h, err := New(Options{Result: testSites(), Geometry: geo, Memory: g.host,
					Queues: queues, Slots: 128, Sink: l})
				if err != nil {
					t.Fatal(err)
				}
				h.Start()
				const each = 300
				var order []uint64 // in which the strong accesses were made
				var wg sync.WaitGroup
				for w := range event.Warp(12) {
					wg.Add(1)
					go func() {
						defer wg.Done()
						for i := range uint64(each) {
							if i%5 == 0 {
								g.lock.Lock()
								v := (uint64(w)<<20 | i) * 4
								order = append(order, v)
								g.put(w, 1, 1, func(int) uint64 { return v }, true)
								g.lock.Unlock()
								continue
							}
							mask := uint32(i*0x9e3779b9) | 1
							g.put(w, 0, mask, func(int) uint64 { return 4 * i }, false)
						}
						g.put(w, 2, ^uint32(0), func(int) uint64 { return 0 }, false)
					}()
				}
				wg.Wait()
				h.Stop()
				sum := h.End(g.device)
				if !sum.Complete() || sum.Records != 12*(each+1) || l.exits != 12 {
					t.Errorf("%+v, %d warps ended", sum, l.exits)
				}
				for w := range event.Warp(12) {
					last := uint64(0)
					for i, v := range l.of[w] {
						if i > 0 && v <= last {
							t.Fatalf("warp %d: %d behind %d", w, v/4, last/4)
						}
						last = v
					}
					if len(l.of[w]) != each-each/5 {
						t.Errorf("warp %d: %d weak accesses", w, len(l.of[w]))
					}
				}
				if fmt.Sprint(l.tickets) != fmt.Sprint(order) {
					t.Errorf("the strong accesses are not in the order in which they were made")
				}
			})
		}
	}
}

// TestClosed lets the consumer end early. The device must go on, and what is missing must be
// counted.
func TestClosed(t *testing.T) {
	geo := event.Geometry{Grid: event.Dim3{X: 1, Y: 1, Z: 1}, Block: event.Dim3{X: 32, Y: 1, Z: 1},
		Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}
	g := newGPU(t, 1, 128, geo)
	l := &log{of: make(map[event.Warp][]uint64)}
	h, err := New(Options{Result: testSites(), Geometry: geo, Memory: g.host,
		Queues: 1, Slots: 128, Sink: l})
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for i := range 1000 {
		if i == 20 {
			h.Drain()
			h.Close()
		}
		if g.put(0, 0, 1, func(int) uint64 { return uint64(4 * i) }, false) {
			kept++
		}
	}
	sum := h.End(g.device)
	// 20 records were read, 64 fill the queue, and the rest is dropped.
	want := Summary{Records: 20, Slots: 40, Dropped: 1000 - 84, Missing: 2 * 980, Cut: 1}
	if sum != want || sum.Complete() || kept != 84 {
		t.Errorf("%+v, %d kept, want %+v", sum, kept, want)
	}
}

// TestCorrupt overwrites the queues with something else. It must be an error, and neither a crash
// nor an event of a thread that does not exist.
func TestCorrupt(t *testing.T) {
	geo := event.Geometry{Grid: event.Dim3{X: 2, Y: 1, Z: 1}, Block: event.Dim3{X: 40, Y: 1, Z: 1},
		Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}
	ready := uint32(instrument.ReadyBit)
	for _, test := range []struct {
		name  string
		words [8]uint32
		err   string
	}{
		{"ready", [8]uint32{12345, 0, 0, 1, 1}, "the word 0x3039"},
		{"site", [8]uint32{ready, 77, 0, 1, 1}, "site 77 of 3"},
		{"warp", [8]uint32{ready, 0, 4, 1, 1}, "warp 4 of 4"},
		{"no lane", [8]uint32{ready, 0, 0, 0, 1}, "lanes 0x0"},
		{"lane that is no thread", [8]uint32{ready, 0, 1, 0x100, 0x100}, "lanes 0x100"},
		{"lane that is not active", [8]uint32{ready, 0, 0, 3, 1}, "lanes 0x3"},
	} {
		g := newGPU(t, 1, 128, geo)
		h, err := New(Options{Result: testSites(), Geometry: geo, Memory: g.host,
			Queues: 1, Slots: 128, Sink: &log{of: make(map[event.Warp][]uint64)}})
		if err != nil {
			t.Fatal(err)
		}
		for i, w := range test.words {
			g.host.Store32(instrument.RingAt(0, 1, 128)+4*i, w)
		}
		h.Drain()
		sum := h.End(g.device)
		if sum.Err == nil || !strings.Contains(sum.Err.Error(), test.err) || sum.Complete() ||
			g.host.Load32(instrument.ClosedAt) != 1 {
			t.Errorf("%s: %v", test.name, sum.Err)
		}
	}
}

// TestUnplaced: records of sites that the sink does not know have no events, and the log is not
// complete.
func TestUnplaced(t *testing.T) {
	geo := event.Geometry{Grid: event.Dim3{X: 1, Y: 1, Z: 1}, Block: event.Dim3{X: 32, Y: 1, Z: 1},
		Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}
	g := newGPU(t, 1, 128, geo)
	l := &log{of: make(map[event.Warp][]uint64)}
	h, err := New(Options{Result: testSites(), Geometry: geo, Memory: g.host, Queues: 1, Slots: 128,
		Sink: l, Sites: []event.Site{NoSite, 7, 8}})
	if err != nil {
		t.Fatal(err)
	}
	for _, site := range []int{0, 1, 0, 2} {
		g.put(0, site, ^uint32(0), func(l int) uint64 { return uint64(4 * l) }, site == 1)
	}
	h.Drain()
	if sum := h.End(g.device); sum.Unplaced != 2 || sum.Records != 4 || sum.Complete() || l.exits != 1 ||
		len(l.tickets) != 1 || len(l.of) != 0 {
		t.Errorf("%+v, %+v", sum, l)
	}
}
