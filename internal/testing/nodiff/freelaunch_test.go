package nodiff

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"

	"heddle/internal/engine/prove"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
)

// The memory of the launches of freeCases: three allocations of 4096 bytes, and the variables of
// the module behind them.
const (
	memA, memB, memC = 1 << 40, 2 << 40, 3 << 40
	memVar           = 4 << 40
	memSize          = 4096
)

// freeLaunch is a launch, and whether the assumptions hold for it.
type freeLaunch struct {
	grid, block uint32
	args        []uint64 // of 8 bytes each
	holds       bool
}

// freeCases are kernels with the number of their accesses that are free, and launches.
var freeCases = []struct {
	name, source string
	free         int
	all          bool
	launches     []freeLaunch
}{
	{"a buffer for input and one for output", `__global__ void k(const int *a, int *b) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	b[i] = a[i + 1]; }`, 2, true, []freeLaunch{
		{4, 32, []uint64{memA, memB}, true},
		{4, 32, []uint64{memA, memA}, false},
		{4, 32, []uint64{memA, memA + 64}, false},     // into the middle of the other
		{4, 32, []uint64{memA, memA + 512}, false},    // the last access to a is the first element of b
		{4, 32, []uint64{memA, memA + 516}, true},     // they follow each other
		{4, 32, []uint64{memA + 512, memA}, true},     // the other way
		{4, 32, []uint64{memA + 508, memA}, false},    // only a[0], which is not accessed, is in b
		{64, 32, []uint64{memA, memB}, false},         // beyond the end
		{31, 32, []uint64{memA, memB}, true},          // just not
		{4, 32, []uint64{memA, 0}, false},             // no memory
		{4, 32, []uint64{memA, memA - 4}, false},      // none either
		{4, 1025, []uint64{memA, memB}, false},        // no block has as many threads
		{1, 1024, []uint64{memA + 4096, memB}, false}, // at the end of an allocation
	}},
	{"two buffers that are read", `__global__ void k(const int *a, const int *b, int *c) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	c[i] = a[i] + b[i]; }`, 3, true, []freeLaunch{
		{4, 32, []uint64{memA, memA, memB}, true},
		{4, 32, []uint64{memA, memA + 4, memB}, true},
		{4, 32, []uint64{memA, memB, memB}, false},
		{4, 32, []uint64{memA + 4, memB, memA}, false},
	}},
	{"pointers in a struct", `struct S { int *a; int *b; };
__global__ void k(S s) { int i = threadIdx.x; s.a[i] = 1; s.b[i] = 2; }`, 2, true, []freeLaunch{
		{1, 32, []uint64{memA, memB}, true},
		{1, 32, []uint64{memA, memA}, false},
		{1, 32, []uint64{memA, memA + 4}, false},
		{1, 32, []uint64{memB + 4, memB}, false},
	}},
	{"pointers in memory", `__global__ void k(int **t, int *b) {
	int i = threadIdx.x; t[0][i] = 1; b[i] = 2; }`, 0, false, nil},
	{"pointers in memory that are read", `__global__ void k(int **t, int *b) {
	int i = threadIdx.x; b[i] = *t[i]; }`, 1, false, []freeLaunch{ // the load of t[i]
		{1, 32, []uint64{memA, memB}, true},
		{1, 32, []uint64{memA, memA + 8}, false}}},
	{"pointers in constant memory", `__constant__ int *table[2];
__global__ void k(int *b) { int i = threadIdx.x; table[1][0] = i; b[i] = 2; }`, 0, false, nil},
	{"a variable", `__device__ int g[32];
__global__ void k(int *b) { int i = threadIdx.x; g[i] = 1; b[i] = 2; }`, 2, true, []freeLaunch{
		{1, 32, []uint64{memA}, true},
		{1, 32, []uint64{memVar}, false},
		{1, 32, []uint64{memVar + 8}, false},
		{1, 64, []uint64{memA}, false}, // beyond the variable
	}},
	{"a generic address", `__global__ void k(int **t, int *b) {
	__shared__ int s[32];
	int i = threadIdx.x; *t = s; s[i] = 1; __syncthreads(); **t = 2; b[i] = s[0]; }`, 1, false,
		nil}, // the store to s[i], which a barrier orders before what may go anywhere
	{"an index from memory", `__global__ void k(const int *x, int *b, int *c) {
	int i = threadIdx.x; b[x[i]] = 1; c[i] = 2; }`, 2, false, []freeLaunch{
		{1, 32, []uint64{memA, memB, memC}, false}}}, // b may be left, and c reached
	{"a missing barrier", `__global__ void k(int *b) {
	__shared__ int s[64];
	int i = threadIdx.x; s[i] = b[i]; b[i] = s[i ^ 1]; }`, 2, false, []freeLaunch{
		{1, 64, []uint64{memA}, true}}},
	{"a barrier", `__global__ void k(int *b) {
	__shared__ int s[64];
	int i = threadIdx.x; s[i] = b[i]; __syncthreads(); b[i] = s[i ^ 1]; }`, 4, true, []freeLaunch{
		{1, 64, []uint64{memA}, true},
		{1, 65, []uint64{memA}, false}, // beyond s
	}},
	// Without the race for s each thread would read back its own index.
	{"an index that a race changes", `__global__ void k(int *b, int n) {
	__shared__ int s[1024];
	int i = threadIdx.x;
	if (i == 0) s[n] = n;
	s[i] = i; asm volatile("" ::: "memory"); b[s[i]] = 1; }`, 0, false, nil},
	{"a branch on memory", `__global__ void k(int *b, const int *x) {
	__shared__ int s[64];
	int i = threadIdx.x; s[i] = i; if (*x) __syncthreads(); b[i] = s[i]; }`, 0, false, nil},
	{"equal values", `__global__ void k(int *b) { *b = 1; }`, 1, true, []freeLaunch{
		{1, 1, []uint64{memA}, true},
		{1, 32, []uint64{memA}, false},
		{2, 1, []uint64{memA}, false},
	}},
	{"lines of threads", `__global__ void k(int *b) { b[threadIdx.x] = 1; }`, 1, true, []freeLaunch{
		{1, 32, []uint64{memA}, true}, {2, 32, []uint64{memA}, false}}},
	{"a stride", `__global__ void k(int *b, long n) { b[n * threadIdx.x] = 1; }`, 0, false, nil},
	{"a flag between blocks", `__device__ volatile int f;
__global__ void k(int *b) {
	if (blockIdx.x == 0) { b[0] = 1; __threadfence(); f = 1; }
	else { while (!f); __threadfence(); b[1] = b[0]; } }`, 0, false, nil},
	{"atomics", `__global__ void k(int *b, int *n) {
	b[atomicAdd(n, 1)] = blockIdx.x + threadIdx.x; }`, 0, false, nil},
	{"places from a counter", `__global__ void k(int *b) {
	__shared__ int n, s[1024];
	int i = threadIdx.x; if (i == 0) n = 0; __syncthreads();
	s[atomicAdd(&n, 1)] = i; __syncthreads(); b[i] = s[i]; }`, 3, false, nil}, // not the store to s
	{"equal values of a warp", `__global__ void k(int *b) {
	b[threadIdx.x >> 5] = 1; }`, 0, false, nil}, // a race, unless they are tolerated
	{"lanes in step", `__global__ void k(int *b) {
	__shared__ int s[32];
	int i = threadIdx.x; s[i] = i; b[i] = s[31 - i]; }`, 1, false, []freeLaunch{
		{1, 32, []uint64{memA}, true}}},
	{"annotations", `#include "heddle.h"
__global__ void k(int *b, int n) { __requires(n == 1); b[n * threadIdx.x] = 1; }`, 0, false, nil},
}

// TestFreeLaunches: which accesses of kernels are free, and of which launches that is so. Each
// launch for which it is not would have a race that the log of the others does not show, or an
// access beyond its array, but for those whose memory is unknown.
func TestFreeLaunches(t *testing.T) {
	for _, c := range freeCases {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "k.cu")
			if err := os.WriteFile(path, []byte(c.source), 0o644); err != nil {
				t.Fatal(err)
			}
			low, err := lower.File(t.Context(), path, lower.Options{})
			if err != nil {
				t.Fatal(err)
			}
			k := load(t, low.PTX, path).mod.Funcs[0]
			f, err := prove.Free(t.Context(), k, prove.FreeOptions{})
			if err != nil {
				t.Fatal(err)
			}
			free := 0
			for _, ok := range f.Instrs {
				if ok {
					free++
				}
			}
			if free != c.free || f.All != c.all || f.Some() != (free > 0) {
				t.Errorf("%d accesses free, all %v, %q; want %d, %v", free, f.All, f.Reason, c.free, c.all)
			}
			for _, l := range c.launches {
				if ok, why := f.Holds(t.Context(), l.launch()); ok != l.holds {
					t.Errorf("grid %d, block %d, arguments %x: %v %s, want %v", l.grid, l.block, l.args, ok,
						why, l.holds)
				}
			}
			if ok, _ := f.Holds(t.Context(), &prove.Launch{Geometry: line(1, 1)}); ok && len(k.Params) > 0 {
				t.Error("a launch without arguments")
			}
		})
	}
}

// line is a launch in one dimension.
func line(grid, block uint32) event.Geometry {
	dim := func(n uint32) event.Dim3 { return event.Dim3{X: n, Y: 1, Z: 1} }
	return event.Geometry{Grid: dim(grid), Block: dim(block), Cluster: dim(1)}
}

func (l *freeLaunch) launch() *prove.Launch {
	var params []byte
	for _, a := range l.args {
		params = binary.LittleEndian.AppendUint64(params, a)
	}
	return &prove.Launch{Geometry: line(l.grid, l.block), Params: params,
		Find: func(addr uint64) *launch.Memory {
			for _, at := range []uint64{memA, memB, memC, memVar} {
				if addr-at < memSize {
					return &launch.Memory{Addr: at, Size: memSize}
				}
			}
			return nil
		},
		Var: func(v *ir.Var) *launch.Memory {
			return &launch.Memory{Addr: memVar, Size: uint64(v.Size)}
		}}
}

// TestFreeForBlock: a proof for blocks of one shape holds for no other.
func TestFreeForBlock(t *testing.T) {
	mod := loadText(t, `.version 7.8
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p)
{
	.reg .b32 %r<6>;
	.reg .b64 %a<3>;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mad.lo.u32 %r3, %r2, 64, %r1;
	ld.param.u64 %a1, [p];
	mad.wide.u32 %a2, %r3, 4, %a1;
	st.global.u32 [%a2], %r1;
	ret;
}
`).mod
	f, err := prove.Free(t.Context(), mod.Funcs[0],
		prove.FreeOptions{Block: event.Dim3{X: 64, Y: 1, Z: 1}})
	if err != nil || !f.All {
		t.Fatal(f, err)
	}
	for _, block := range []uint32{32, 63, 64, 65, 96} {
		l := freeLaunch{grid: 4, block: block, args: []uint64{memA}}
		if ok, why := f.Holds(t.Context(), l.launch()); ok != (block == 64) {
			t.Errorf("block %d: %v %s", block, ok, why)
		}
	}
	for _, g := range []event.Geometry{
		{Grid: event.Dim3{X: 1, Y: 2, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1}},
		{Grid: event.Dim3{X: 1, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 2}},
		{Grid: event.Dim3{X: 2, Y: 1, Z: 1}, Block: event.Dim3{X: 64, Y: 1, Z: 1},
			Cluster: event.Dim3{X: 2, Y: 1, Z: 1}},
		{},
	} {
		l := (&freeLaunch{args: []uint64{memA}}).launch()
		l.Geometry = g
		if ok, _ := f.Holds(t.Context(), l); ok {
			t.Errorf("a launch of %v", g)
		}
	}
}
