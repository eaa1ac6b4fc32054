package emu

import (
	"context"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
)

// twin returns a machine in an arena that has the objects of m at the same addresses, with the same
// contents: it must do what m does. The function releases the arena.
func twin(t interface{ Fatal(...any) }, m *Machine) (*Machine, *Arena, func()) {
	p := m.prog
	const base = 1 << 40
	mem, release := reserve(t, uint64(len(p.objects)+1)<<40)
	a := NewArena(base, mem)
	for _, o := range newMemory(p).objs {
		if err := a.Alloc(Allocation{o.name, o.base, o.size, o.space, nil}); err != nil {
			t.Fatal(err)
		}
		if o.fill == launch.FillZero && (o.buffer == nil || !o.buffer.HasElements()) {
			continue
		}
		for off := uint64(0); off < o.size; off += pageSize {
			n := min(o.size-off, pageSize)
			copy(mem[o.base-base+off:][:n], o.page(off).data[:])
		}
	}
	vars := make(map[*ir.Var]uint64)
	for v, id := range p.byVar {
		vars[v] = p.space.base(id)
	}
	prog, err := NewProgram(m.kernel, a, vars)
	if err != nil {
		t.Fatal(err)
	}
	tm, err := prog.Machine(&launch.Config{Geometry: m.cfg.Geometry, DynShared: m.cfg.DynShared},
		p.params.data)
	if err != nil {
		t.Fatal(err)
	}
	return tm, a, release
}

// TestArenaTwin compares runs in memory of their own with runs in an arena: same memory, events,
// invalid accesses and steps, on one core and on two. Only the words for invalid accesses differ.
func TestArenaTwin(t *testing.T) {
	shapes := []event.Dim3{{X: 32, Y: 1, Z: 1}, {X: 40, Y: 1, Z: 1}, {X: 8, Y: 5, Z: 1},
		{X: 4, Y: 4, Z: 4}, {X: 64, Y: 1, Z: 1}}
	rapid.Check(t, func(rt *rapid.T) {
		g := &randomKernel{rt: rt}
		text := g.source()
		k := module(t, text)
		cfg := config(2, 1, buffer("out", 2*256*64), buffer("x", 1<<18))
		cfg.Args[1].Buffer.Fill = launch.FillRandom
		cfg.Geometry.Block = rapid.SampledFrom(shapes).Draw(rt, "block")
		for _, events := range []bool{true, false} {
			for _, workers := range []int{1, 2} {
				opt := Options{Workers: workers}
				want := outcomeOf(rt, k, cfg, true, opt, events)
				m, err := New(k, cfg)
				if err != nil {
					rt.Fatal(err)
				}
				tm, a, release := twin(rt, m)
				tm.prog.spares = nil // a small launch would get no workers
				got := arenaOutcome(rt, tm, a, opt, events)
				release()
				want.dropMessages()
				got.dropMessages()
				if !reflect.DeepEqual(want, got) {
					rt.Fatalf("%s\nblock %v, %d workers, events %v: own memory (-), arena (+):\n%s", text,
						cfg.Geometry.Block, workers, events, cmp.Diff(want, got))
				}
			}
		}
	})
}

// arenaOutcome is outcomeOf for a machine that twin returned.
func arenaOutcome(rt *rapid.T, m *Machine, a *Arena, opt Options, events bool) outcome {
	rec := &recorder{}
	var sink event.Sink
	if events {
		sink = rec
	}
	res, err := m.Run(context.Background(), opt, sink)
	if err != nil {
		rt.Fatal(err)
	}
	o := outcome{Status: res.Status, Stop: res.Stop, Faults: res.Faults, Steps: res.Steps,
		Lanes: res.LaneInstrs, Events: rec.events, OutOK: true, XKnown: true}
	sp := newSpace(64)
	o.Out = string(a.mem[sp.base(0)-a.base:][:2*256*64])
	o.X = string(a.mem[sp.base(1)-a.base:][:1<<18])
	return o
}

// dropMessages removes what the two kinds of memory say in other words.
func (o *outcome) dropMessages() {
	o.Faults = slices.Clone(o.Faults)
	for i := range o.Faults {
		o.Faults[i].Message, o.Faults[i].Bound = "", Bound{}
	}
	if o.Stop != nil {
		s := *o.Stop
		s.Message, s.Bound = "", Bound{}
		o.Stop = &s
	}
}

// testArena is an arena of 1 MiB at the address that a program uses.
func testArena() *Arena { return NewArena(32<<40, make([]byte, 1<<20)) }

// allocate adds an allocation at an offset in the arena, and returns its address.
func allocateAt(t testing.TB, a *Arena, name string, off, size uint64) uint64 {
	t.Helper()
	if err := a.Alloc(Allocation{name, a.base + off, size, event.Global, nil}); err != nil {
		t.Fatal(err)
	}
	return a.base + off
}

// launchIn runs a kernel of two parameters in an arena.
func launchIn(t testing.TB, a *Arena, k *ir.Func, grid, block uint32, args ...uint64) *Result {
	t.Helper()
	p, err := NewProgram(k, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	var params []byte
	for _, v := range append(args, 0)[:2] {
		params = binary.LittleEndian.AppendUint64(params, v)
	}
	m, err := p.Machine(&launch.Config{Geometry: event.Geometry{Grid: dim(grid), Block: dim(block),
		Cluster: dim(1)}}, params)
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Run(context.Background(), Options{Workers: 1}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// Memory outlives a run: the second launch reads what the first one has written.
func TestArenaPersists(t *testing.T) {
	a := testArena()
	out := allocateAt(t, a, "out", 4096, 256)
	k := kernel(t, `
	mad.wide.u32 %p, %i, 4, %o;
	ld.global.u32 %v, [%p];
	add.u32 %v, %v, %i;
	st.global.u32 [%p], %v;
	ret;`)
	for range 3 {
		if res := launchIn(t, a, k, 2, 32, out); res.Status != Completed {
			t.Fatal(res.Stop)
		}
	}
	for i := range 64 {
		if v := binary.LittleEndian.Uint32(a.mem[4096+4*i:]); v != uint32(3*i) {
			t.Fatalf("element %d is %d, want %d", i, v, 3*i)
		}
	}
}

// One program serves launches of other arguments, grids and blocks.
func TestProgramShapes(t *testing.T) {
	k := kernel(t, `
	mov.u32 %u, %nctaid.x;
	mad.wide.u32 %p, %i, 4, %o;
	cvt.u32.u64 %v, %x;
	mad.lo.u32 %v, %v, 1000, %u;
	st.global.u32 [%p], %v;
	ret;`)
	a := testArena()
	out := allocateAt(t, a, "out", 0, 4096)
	p, err := NewProgram(k, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range [][3]uint32{{1, 32, 7}, {2, 32, 7}, {2, 48, 9}, {5, 32, 1}, {1, 32, 8}} {
		params := binary.LittleEndian.AppendUint64(nil, out)
		params = binary.LittleEndian.AppendUint64(params, uint64(c[2]))
		m, err := p.Machine(&launch.Config{Geometry: event.Geometry{Grid: dim(c[0]), Block: dim(c[1]),
			Cluster: dim(1)}}, params)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := m.Run(context.Background(), Options{}, nil); err != nil {
			t.Fatal(err)
		}
		for i := range c[0] * c[1] {
			if v := binary.LittleEndian.Uint32(a.mem[4*i:]); v != 1000*c[2]+c[0] {
				t.Fatalf("%v: element %d is %d", c, i, v)
			}
		}
	}
	if len(p.codes) != 2 {
		t.Errorf("%d decoded forms for two blocks", len(p.codes))
	}
	if _, err := p.Machine(&launch.Config{Geometry: event.Geometry{Grid: dim(1), Block: dim(32)}},
		make([]byte, 12)); err == nil || !strings.Contains(err.Error(), "16 bytes of parameters") {
		t.Errorf("12 bytes of parameters: %v", err)
	}
}

// A launch does what its first one would do, however the launches before it ended: registers,
// barriers, shared memory and pending branches are those of one launch (PTX ISA 2.2 and 5.1).
func TestAfterEarlyEnd(t *testing.T) {
	k := kernel(t, `
	.shared .align 4 .b32 sum;
	cvt.u32.u64 %w, %x;
	setp.ge.u32 %c, %t, 5;
	@%c bra FAR;
	setp.eq.u32 %d, %w, 1;
	@!%d bra SKIP;
	barrier.sync 1, 96;      // of 64 threads: waits for ever
SKIP:	setp.eq.u32 %d, %w, 2;
	@!%d bra NEXT;
FOREVER: add.u32 %v, %v, 1;
	bra FOREVER;
NEXT:	setp.eq.u32 %d, %w, 3;
	@!%d bra JOIN;
	trap;
FAR:	add.u32 %v, %v, 3;
JOIN:	atom.shared.add.u32 %u, [sum], %t;
	barrier.sync 0;
	ld.shared.u32 %u, [sum];
	mad.lo.u32 %u, %v, 0, %u;
	st.global.u32 [%p], %u;
	ret;`)
	a := testArena()
	out := allocateAt(t, a, "out", 0, 4096)
	run := func(p *Program, x uint64) (*Result, []any) {
		params := binary.LittleEndian.AppendUint64(nil, out)
		params = binary.LittleEndian.AppendUint64(params, x)
		m, err := p.Machine(&launch.Config{Geometry: event.Geometry{Grid: dim(2), Block: dim(64),
			Cluster: dim(1)}}, params)
		if err != nil {
			t.Fatal(err)
		}
		rec := &recorder{}
		res, err := m.Run(context.Background(), Options{MaxSteps: 1000}, rec)
		if err != nil {
			t.Fatal(err)
		}
		return res, rec.events
	}
	fresh := func() *Program {
		p, err := NewProgram(k, a, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	_, want := run(fresh(), 0)
	for x, ends := range map[uint64]Status{0: Completed, 1: Stalled, 2: StepLimit, 3: Stopped} {
		p := fresh()
		if first, _ := run(p, x); first.Status != ends {
			t.Fatalf("x = %d: %v, want %v", x, first.Status, ends)
		}
		for range 2 {
			res, got := run(p, 0)
			if res.Status != Completed || !reflect.DeepEqual(got, want) {
				t.Errorf("after a launch that ended as %v: %v\n%s", ends, res.Status, cmp.Diff(want, got))
			}
		}
	}
	for i := range 128 {
		if v := binary.LittleEndian.Uint32(a.mem[4*i:]); v != 63*64/2 {
			t.Fatalf("element %d is %d, want the sum of 0 to 63", i, v)
		}
	}
}

// The message of an invalid access names the nearest allocation and the distance.
func TestArenaFaults(t *testing.T) {
	k := kernel(t, `
	setp.ne.u32 %c, %i, 0;
	@%c ret;
	ld.global.u32 %v, [%o];
	ret;`)
	a := testArena()
	first := allocateAt(t, a, "d_in", 4096, 4000)
	second := allocateAt(t, a, "d_out", 65536, 100)
	gone := allocateAt(t, a, "d_tmp", 131072, 64)
	if err := a.FreeAt(gone, " at main.cu:20"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		addr uint64
		want string
	}{
		{first + 3996, ""},
		{first + 4000, "0 bytes behind the end of d_in, which has 4000 bytes"},
		{first + 4008, "8 bytes behind the end of d_in, which has 4000 bytes"},
		{first - 4, "4 bytes before d_in, which has 4000 bytes"},
		{second - 8, "8 bytes before d_out, which has 100 bytes"},
		{second + 100, "0 bytes behind the end of d_out"},
		{second + 2, "not aligned to 4"},
		{gone + 4, "byte 4 of d_tmp, which had 64 bytes and was freed at main.cu:20 (use after free)"},
		{0, "null pointer"},
		{0x7fff12345678, "which is not device memory"},
		{a.base + 1<<20, "which is not device memory"},
	} {
		res := launchIn(t, a, k, 1, 32, c.addr)
		switch {
		case c.want == "" && res.Stop != nil:
			t.Errorf("%#x: %s", c.addr, res.Stop.Message)
		case c.want != "" && (res.Stop == nil || !strings.Contains(res.Stop.Message, c.want)):
			t.Errorf("%#x: %+v, want %q", c.addr, res.Stop, c.want)
		}
	}
}

// Allocations that begin or end within a page are separated from their neighbours.
func TestArenaNeighbours(t *testing.T) {
	k := kernel(t, `
	mad.wide.u32 %p, %t, 4, %o;
	st.global.u32 [%p], %t;
	ret;`)
	for _, off := range []uint64{0, 256, 260, 4096 - 64} {
		a := testArena()
		at := allocateAt(t, a, "mine", 8192+off, 128)
		allocateAt(t, a, "before", 8192+off-64, 64)
		allocateAt(t, a, "behind", 8192+off+128, 64)
		if res := launchIn(t, a, k, 1, 32, at); res.Stop != nil {
			t.Errorf("at %d: %s", off, res.Stop.Message)
		}
		for _, shift := range []uint64{4, ^uint64(3)} {
			// 31 lanes are in the allocation, one is in a neighbour: PTX does not forbid that, and no
			// tool can, since the neighbour is allocated.
			if res := launchIn(t, a, k, 1, 32, at+shift); res.Stop != nil {
				t.Errorf("at %d%+d: %s", off, int64(shift), res.Stop.Message)
			}
		}
		if res := launchIn(t, a, k, 1, 32, at+128); len(res.Faults) == 0 || res.Faults[0].Count != 16 {
			t.Errorf("at %d: faults %+v, want 16 lanes", off, res.Faults)
		}
	}
}

// The table of objects is compared with a map after random allocations and releases.
func TestArenaTable(t *testing.T) {
	rnd := rand.New(rand.NewSource(1))
	a := NewArena(32<<40, make([]byte, 1<<22))
	live, freed := map[uint64]Allocation{}, map[uint64]Allocation{}
	overlaps := func(m map[uint64]Allocation, x Allocation) (out []uint64) {
		for at, y := range m {
			if x.Addr < at+y.Size && at < x.Addr+x.Size {
				out = append(out, at)
			}
		}
		return out
	}
	for i := range 3000 {
		if rnd.Intn(5) < 3 {
			n := Allocation{fmt.Sprint(i), a.base + uint64(rnd.Intn(1<<22)), uint64(1 + rnd.Intn(1200)),
				event.Global, nil}
			err := a.Alloc(n)
			inside := n.Addr+n.Size <= a.base+1<<22
			if want := inside && len(overlaps(live, n)) == 0; want != (err == nil) {
				t.Fatalf("allocation %+v: %v", n, err)
			}
			if err == nil {
				for _, at := range overlaps(freed, n) {
					delete(freed, at)
				}
				live[n.Addr] = n
			}
		} else if len(live) > 0 {
			keys := slices.Sorted(maps.Keys(live))
			at := keys[rnd.Intn(len(keys))]
			if err := a.Free(at); err != nil {
				t.Fatal(err)
			}
			freed[at] = live[at]
			delete(live, at)
		}
		for range 4 {
			addr := a.base + uint64(rnd.Intn(1<<22))
			got, ok := a.Find(addr)
			want := overlaps(live, Allocation{Addr: addr, Size: 1})
			if ok != (len(want) == 1) || ok && got != live[want[0]] {
				t.Fatalf("find %#x: %+v %v, want %v", addr, got, ok, want)
			}
			o := a.table.Load().find(addr)
			if f := overlaps(freed, Allocation{Addr: addr, Size: 1}); len(want) == 0 && len(f) == 1 &&
				(o == nil || o.base != f[0] || !o.freed) {
				t.Fatalf("find %#x: %+v, want the freed %#x", addr, o, f[0])
			}
		}
	}
	ids := map[int]bool{}
	for _, p := range a.table.Load().parts {
		for _, o := range p.objs {
			if ids[o.id] {
				t.Fatalf("number %d twice", o.id)
			}
			ids[o.id] = true
		}
	}
	if len(ids) != len(live)+len(freed) || a.next > 2*len(ids)+1000 {
		t.Errorf("%d objects with numbers below %d; %d live, %d freed", len(ids), a.next, len(live),
			len(freed))
	}
	if err := a.Free(a.base - 1); err == nil {
		t.Error("an address before the arena was freed")
	}
}

// testHeap gives out the memory of an arena from an offset on.
type testHeap struct {
	a     *Arena
	next  uint64
	limit uint64
	freed []uint64
}

func (h *testHeap) Malloc(n uint64) (uint64, bool) {
	if n > h.limit {
		return 0, false
	}
	at := h.a.base + h.next
	h.next += (n + pageMask) &^ pageMask
	return at, true
}

func (h *testHeap) Free(addr uint64) { h.freed = append(h.freed, addr) }

// Memory of the device's malloc outlives the launch, and free gives it back; a wrong free is an
// error, and malloc returns null when the heap is exhausted (CUDA C++ Programming Guide, "Dynamic
// Global Memory Allocation and Operations").
func TestArenaHeap(t *testing.T) {
	const call = `
	{
	.param .b64 n;
	.param .b64 r;
	st.param.b64 [n], %x;
	call (r), malloc, (n);
	ld.param.b64 %q, [r];
	}
	st.global.u64 [%o], %q;`
	const free = `
	ld.global.u64 %q, [%o];
	add.u64 %q, %q, %x;
	{
	.param .b64 p;
	st.param.b64 [p], %q;
	call free, (p);
	}`
	decl := ".extern .func (.param .b64 r) malloc (.param .b64 n);\n.extern .func free (.param .b64 p);\n"
	build := func(body string) *ir.Func {
		return module(t, decl+`.visible .entry k(.param .u64 out, .param .u64 x) {
	.reg .u64 %o, %q, %x;
	.reg .u32 %v;
	ld.param.u64 %o, [out];
	ld.param.u64 %x, [x];`+body+"\n\tret;\n}")
	}
	a := testArena()
	out := allocateAt(t, a, "out", 0, 8)
	res := launchIn(t, a, build(call), 1, 1, out, 40)
	if res.Stop == nil || res.Stop.Kind != Unsupported ||
		!strings.Contains(res.Stop.Message, "no heap on the device") {
		t.Errorf("without a heap: %+v", res.Stop)
	}
	h := &testHeap{a: a, next: 1 << 16, limit: 1000}
	a.SetHeap(h)
	if res := launchIn(t, a, build(call), 1, 1, out, 40); res.Stop != nil {
		t.Fatal(res.Stop.Message)
	}
	p := binary.LittleEndian.Uint64(a.mem)
	if al, ok := a.Find(p); !ok || al.Size != 40 || al.Name != "malloc#1" {
		t.Errorf("%#x is %+v, %v", p, al, ok)
	}
	// The next launch reads and writes it.
	const use = "\n\tld.global.u64 %q, [%o];\n\tst.global.u64 [%q+32], %x;\n\tld.global.u64 %q, [%q+32];"
	if res := launchIn(t, a, build(use), 1, 1, out, 7); res.Stop != nil || a.mem[p-a.base+32] != 7 {
		t.Errorf("use: %+v", res.Stop)
	}
	// A saved launch may free it as well.
	prog, err := NewProgram(build(free), a, nil)
	if err != nil {
		t.Fatal(err)
	}
	params := binary.LittleEndian.AppendUint64(nil, out)
	saved, err := prog.Save(&launch.Config{Geometry: event.Geometry{Grid: dim(1), Block: dim(1)}},
		binary.LittleEndian.AppendUint64(params, 0))
	if err != nil {
		t.Fatal(err)
	}
	cfg, errs := launch.Resolve(prog.kernel, launch.Request{Saved: saved}, nil)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if _, res, _ := start(t, prog.kernel, cfg, Options{}); res.Stop != nil {
		t.Errorf("a saved launch: %s", res.Stop.Message)
	}
	for _, c := range []struct {
		add  uint64
		want string
	}{
		{8, "free of malloc#1+0x8, which malloc did not return"},
		{out - p, "free of out+0x0, which malloc did not return"},
		{0, ""},
		{0, "free of malloc#1, which has been freed"},
	} {
		res := launchIn(t, a, build(free), 1, 1, out, c.add)
		if c.want == "" && (res.Stop != nil || len(h.freed) != 1 || h.freed[0] != p) ||
			c.want != "" && (res.Stop == nil || !strings.Contains(res.Stop.Message, c.want)) {
			t.Errorf("free: %+v, want %q", res.Stop, c.want)
		}
	}
	if res := launchIn(t, a, build(use), 1, 1, out, 7); res.Stop == nil ||
		!strings.Contains(res.Stop.Message, "byte 32 of malloc#1, which had 40 bytes and has been freed") {
		t.Errorf("use after free: %+v", res.Stop)
	}
	if res := launchIn(t, a, build(call), 1, 1, out, 1001); res.Stop != nil ||
		binary.LittleEndian.Uint64(a.mem) != 0 {
		t.Errorf("exhausted: %+v, %#x", res.Stop, binary.LittleEndian.Uint64(a.mem))
	}
}

// A value that heddle does not know never gets into the memory of a program, which would take it
// for the result: neither by a store nor by an atomic operation. Without it the kernel runs to its
// end.
func TestArenaUnknown(t *testing.T) {
	for body, want := range map[string]string{
		"mov.u32 %v, %pm0;\nst.global.u32 [%o], %v;\nret;":                      "stored into out",
		"mov.u32 %v, %pm0;\nred.global.add.u32 [%o], %v;\nret;":                 "stored into out",
		"mov.u32 %v, %pm0;\natom.global.exch.b32 %w, [%o], %v;\nret;":           "stored into out",
		"mov.u32 %v, %pm0;\nxor.b32 %v, %v, %v;\nst.global.u32 [%o], %t;\nret;": "",
	} {
		a := testArena()
		out := allocateAt(t, a, "out", 4096, 256)
		res := launchIn(t, a, kernel(t, body), 1, 1, out)
		switch {
		case want == "" && res.Stop != nil:
			t.Errorf("%s: %s", body, res.Stop.Message)
		case want != "" && (res.Stop == nil || res.Stop.Kind != DependsOnInput ||
			!strings.Contains(res.Stop.Message, want)):
			t.Errorf("%s: %+v", body, res.Stop)
		}
		for i, b := range a.mem {
			if b != 0 {
				t.Fatalf("%s: byte %d is %d", body, i, b)
			}
		}
	}
}

// Stores to constant memory are invalid, and ld.const reads constant memory only.
func TestArenaConst(t *testing.T) {
	a := testArena()
	if err := a.Alloc(Allocation{"table", a.base, 64, event.Const, nil}); err != nil {
		t.Fatal(err)
	}
	out := allocateAt(t, a, "out", 4096, 64)
	for _, c := range []struct {
		body string
		arg  uint64
		want string
	}{
		{"ld.global.u32 %v, [%o];\nret;", a.base, ""},
		{"ld.const.u32 %v, [%o];\nret;", a.base, ""},
		{"st.global.u32 [%o], 1;\nret;", a.base, "in constant memory table"},
		{"ld.const.u32 %v, [%o];\nret;", out, "byte 0 of out, which is not constant memory"},
	} {
		res := launchIn(t, a, kernel(t, c.body), 1, 1, c.arg)
		if (res.Stop == nil) != (c.want == "") ||
			res.Stop != nil && !strings.Contains(res.Stop.Message, c.want) {
			t.Errorf("%s: %+v, want %q", c.body, res.Stop, c.want)
		}
	}
}

// Allocations come and go while kernels run side by side in memory of their own.
func TestArenaConcurrent(t *testing.T) {
	k := kernel(t, `
	mad.wide.u32 %p, %i, 4, %o;
	st.global.u32 [%p], %i;
	ret;`)
	a := testArena()
	p, err := NewProgram(k, a, nil)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for n := range uint64(2) {
		out := allocateAt(t, a, "out", n*65536, 4*64*32)
		wg.Go(func() {
			for i := range uint32(40) {
				params := binary.LittleEndian.AppendUint64(nil, out)
				m, err := p.Machine(&launch.Config{Geometry: event.Geometry{Grid: dim(64 - i%2),
					Block: dim(32 - i%3), Cluster: dim(1)}}, append(params, params...))
				if err != nil {
					t.Error(err)
					return
				}
				res, err := m.Run(context.Background(), Options{Workers: 2}, nil)
				if err != nil || res.Status != Completed {
					t.Error(err, res.Stop)
				}
			}
		})
	}
	wg.Go(func() {
		for i := range uint64(300) {
			at := a.base + 1<<18 + i%7*4096
			if err := a.Alloc(Allocation{"other", at, 100, event.Global, nil}); err != nil {
				t.Error(err)
			}
			if err := a.Free(at); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	for n := range 2 {
		for i := range 63 * 30 {
			if v := binary.LittleEndian.Uint32(a.mem[n*65536+4*i:]); v != uint32(i) {
				t.Fatalf("element %d is %d", i, v)
			}
		}
	}
}
