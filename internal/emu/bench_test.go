package emu

import (
	"context"
	"encoding/binary"
	"fmt"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/order"
)

// drop is a sink that drops all events, after a look at them.
type drop struct {
	event.Discard
	n uint64
}

func (d *drop) Access(a *event.Access) { d.n += a.Addr[0] }

func benchmark(b *testing.B, k *ir.Func, cfg *launch.Config, sink event.Sink) {
	m, err := New(k, cfg)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	lanes := uint64(0)
	for b.Loop() {
		res, err := m.Run(context.Background(), Options{Workers: 1}, sink)
		if err != nil || res.Status != Completed {
			b.Fatal(err, res.Status, res.Stop)
		}
		lanes += res.LaneInstrs
	}
	b.ReportMetric(float64(lanes)/b.Elapsed().Seconds()/1e6, "Mlane/s")
}

func BenchmarkArithmetic(b *testing.B) {
	benchmark(b, kernel(b, `
	mov.u32 %u, 0;
	mov.u32 %v, %i;
	cvt.rn.f32.u32 %f, %i;
L:
	mad.lo.u32 %v, %v, 1664525, %i;
	xor.b32 %w, %v, %u;
	shr.u32 %w, %w, 3;
	add.u32 %v, %v, %w;
	fma.rn.f32 %f, %f, %f, %f;
	add.f32 %f, %f, 0f3F800000;
	and.b32 %z, %v, 255;
	add.u32 %u, %u, 1;
	setp.lt.u32 %c, %u, 100;
	@%c bra L;
	st.global.u32 [%p], %v;
	ret;`), config(64, 256, buffer("out", 64*256*4)), nil)
}

// memoryKernel is a grid-stride copy with an update: half of its instructions touch memory or
// compute addresses.
func memoryKernel(b *testing.B) (*ir.Func, *launch.Config) {
	k := kernel(b, `
	mov.u32 %u, 0;
	mad.wide.u32 %q, %i, 4, %x;
L:
	ld.global.u32 %v, [%q];
	ld.global.u32 %w, [%p];
	add.u32 %v, %v, %w;
	st.global.u32 [%p], %v;
	add.u64 %q, %q, 4096;
	add.u64 %p, %p, 4096;
	add.u32 %u, %u, 1;
	setp.lt.u32 %c, %u, 50;
	@%c bra L;
	ret;`)
	return k, config(64, 256, buffer("out", 1<<20), buffer("x", 1<<20))
}

func BenchmarkMemory(b *testing.B) {
	k, cfg := memoryKernel(b)
	benchmark(b, k, cfg, nil)
}

func BenchmarkMemoryEvents(b *testing.B) {
	k, cfg := memoryKernel(b)
	benchmark(b, k, cfg, &drop{})
}

// Blocks that read one array and write another, on one core and on all.
func BenchmarkWorkers(b *testing.B) {
	k := kernel(b, `
	mov.u32 %u, 0;
	mad.wide.u32 %q, %i, 4, %x;
	mov.u32 %v, 0;
L:
	ld.global.u32 %w, [%q];
	mad.lo.u32 %v, %v, 31, %w;
	add.u64 %q, %q, 4096;
	add.u32 %u, %u, 1;
	setp.lt.u32 %c, %u, 50;
	@%c bra L;
	st.global.u32 [%p], %v;
	ret;`)
	m, err := New(k, config(256, 256, buffer("out", 1<<20), buffer("x", 1<<20)))
	if err != nil {
		b.Fatal(err)
	}
	for _, workers := range []int{1, 0} {
		b.Run(map[int]string{1: "one", 0: "all"}[workers], func(b *testing.B) {
			lanes := uint64(0)
			for b.Loop() {
				res, err := m.Run(context.Background(), Options{Workers: workers}, &drop{})
				if err != nil || res.Status != Completed {
					b.Fatal(err, res)
				}
				lanes += res.LaneInstrs
			}
			b.ReportMetric(float64(lanes)/b.Elapsed().Seconds()/1e6, "Mlane/s")
		})
	}
}

func BenchmarkSharedReduction(b *testing.B) {
	benchmark(b, kernel(b, `
	.shared .align 4 .b8 buf[1024];
	mov.u32 %w, buf;
	mad.lo.u32 %w, %t, 4, %w;
	st.shared.u32 [%w], %i;
	mov.u32 %u, 128;
L:
	bar.sync 0;
	setp.ge.u32 %c, %t, %u;
	@%c bra SKIP;
	mad.lo.u32 %z, %u, 4, %w;
	ld.shared.u32 %v, [%z];
	ld.shared.u32 %n, [%w];
	add.u32 %v, %v, %n;
	st.shared.u32 [%w], %v;
SKIP:
	shr.u32 %u, %u, 1;
	setp.ne.u32 %c, %u, 0;
	@%c bra L;
	setp.ne.u32 %c, %t, 0;
	@%c ret;
	mad.wide.u32 %p, %b, 4, %o;
	st.global.u32 [%p], %v;
	ret;`), config(1024, 256, buffer("out", 4096)), &drop{})
}

func BenchmarkGather(b *testing.B) {
	benchmark(b, kernel(b, `
	mov.u32 %u, 0;
	mov.u32 %v, %i;
L:
	mad.lo.u32 %v, %v, 1664525, 1013904223;
	shr.u32 %w, %v, 14;
	mad.wide.u32 %q, %w, 4, %x;
	ld.global.u32 %z, [%q];
	add.u32 %v, %v, %z;
	add.u32 %u, %u, 1;
	setp.lt.u32 %c, %u, 50;
	@%c bra L;
	st.global.u32 [%p], %v;
	ret;`), config(64, 256, buffer("out", 1<<16), buffer("x", 1<<20)), nil)
}

// BenchmarkLocal accesses an array of each thread, whose index a loop counts.
func BenchmarkLocal(b *testing.B) {
	benchmark(b, kernel(b, `
	.local .align 4 .b8 buf[64];
	mov.u32 %u, 0;
L:
	and.b32 %w, %u, 15;
	mad.lo.u32 %w, %w, 4, buf;
	ld.local.u32 %v, [%w];
	add.u32 %v, %v, %i;
	st.local.u32 [%w], %v;
	add.u32 %u, %u, 1;
	setp.lt.u32 %c, %u, 200;
	@%c bra L;
	st.global.u32 [%p], %v;
	ret;`), config(64, 256, buffer("out", 1<<16)), nil)
}

func BenchmarkAtomics(b *testing.B) {
	benchmark(b, kernel(b, `
	mov.u32 %u, 0;
L:
	and.b32 %w, %i, 63;
	mad.wide.u32 %q, %w, 4, %x;
	atom.global.add.u32 %v, [%q], 1;
	add.u32 %u, %u, 1;
	setp.lt.u32 %c, %u, 50;
	@%c bra L;
	ret;`), config(64, 256, buffer("out", 4), buffer("x", 256)), &drop{})
}

func BenchmarkDivergence(b *testing.B) {
	benchmark(b, kernel(b, `
	mov.u32 %u, 0;
	mov.u32 %v, %i;
L:
	and.b32 %w, %v, 1;
	setp.eq.u32 %c, %w, 0;
	@%c bra EVEN;
	mad.lo.u32 %v, %v, 3, 1;
	bra NEXT;
EVEN:
	shr.u32 %v, %v, 1;
NEXT:
	add.u32 %u, %u, 1;
	setp.lt.u32 %c, %u, 100;
	@%c bra L;
	st.global.u32 [%p], %v;
	ret;`), config(64, 256, buffer("out", 1<<16)), nil)
}

// A million threads that do little: the cost of starting blocks.
func BenchmarkMillionThreads(b *testing.B) {
	benchmark(b, kernel(b, `
	st.global.u32 [%p], %i;
	ret;`), config(4096, 256, buffer("out", 4<<20)), nil)
}

// The kernel of BenchmarkMemory in the memory of a program with many allocations.
func BenchmarkArenaMemory(b *testing.B) { benchmarkArena(b, nil) }

// The same, when what it touches is collected.
func BenchmarkArenaTouched(b *testing.B) { benchmarkArena(b, new(order.Touched)) }

func benchmarkArena(b *testing.B, touched *order.Touched) {
	k, cfg := memoryKernel(b)
	a := NewArena(32<<40, make([]byte, 16<<20))
	var params []byte
	for i := range uint64(2) {
		at := allocateAt(b, a, "array", i<<20, 1<<20)
		params = binary.LittleEndian.AppendUint64(params, at)
	}
	for i := range uint64(1000) {
		allocateAt(b, a, "other", 4<<20+i*8192, 4096)
	}
	p, err := NewProgram(k, a, nil)
	if err != nil {
		b.Fatal(err)
	}
	m, err := p.Machine(cfg, params)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	lanes := uint64(0)
	for b.Loop() {
		if touched != nil {
			touched.Reset()
		}
		res, err := m.Run(context.Background(), Options{Workers: 1, Touched: touched}, nil)
		if err != nil || res.Status != Completed {
			b.Fatal(err, res.Status, res.Stop)
		}
		lanes += res.LaneInstrs
	}
	b.ReportMetric(float64(lanes)/b.Elapsed().Seconds()/1e6, "Mlane/s")
}

// The inner loop of a matrix product with blocks of 16 by 16 threads, without and with collecting.
func BenchmarkProduct(b *testing.B) {
	k := kernel(b, `
	mov.u32 %u, %tid.y;
	mov.u32 %v, 0;
	mad.wide.u32 %p, %u, 1024, %o;
	mad.wide.u32 %q, %t, 4, %x;
L:
	ld.global.u32 %z, [%p];
	ld.global.u32 %w, [%q];
	mad.lo.u32 %n, %z, %w, %n;
	add.u64 %p, %p, 4;
	add.u64 %q, %q, 1024;
	add.u32 %v, %v, 1;
	setp.lt.u32 %c, %v, 256;
	@%c bra L;
	st.global.u32 [%o], %n;
	ret;`)
	cfg := config(64, 16, buffer("out", 1<<20), buffer("x", 1<<20))
	cfg.Geometry.Block.Y = 16
	for _, touched := range []*order.Touched{nil, new(order.Touched)} {
		b.Run(fmt.Sprintf("collect=%v", touched != nil), func(b *testing.B) {
			m, err := New(k, cfg)
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				if touched != nil {
					touched.Reset()
				}
				opt := Options{Workers: 1, Touched: touched}
				if res, err := m.Run(context.Background(), opt, nil); err != nil || res.Status != Completed {
					b.Fatal(err, res.Status, res.Stop)
				}
			}
		})
	}
}
