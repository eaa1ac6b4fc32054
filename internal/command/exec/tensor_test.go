package exec_test

import (
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/testing/long"
	"heddle/internal/testing/program"
)

// tensorPrologue begins the programs of these tests: load copies a box into shared memory and
// returns when it is there, store copies one out of it. p shows what a box has, as 16-bit numbers.
const tensorPrologue = `#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>
#include <cuda.h>
#define MAP const __grid_constant__ CUtensorMap
__device__ uint32_t at(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
#define LOAD(DIM, COORDS, N, ...) LOAD_BY(DIM, "tile", COORDS, N, ##__VA_ARGS__)
#define LOAD_BY(DIM, MODE, COORDS, N, ...) LOAD_WITH(DIM, MODE, COORDS, "", N, ##__VA_ARGS__)
#define LOAD_WITH(DIM, MODE, COORDS, OFFSETS, N, ...)                                                       \
  do {                                                                                                      \
    __shared__ uint64_t bar;                                                                                \
    if (threadIdx.x == 0) {                                                                                 \
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");                    \
      asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                          \
    }                                                                                                       \
    __syncthreads();                                                                                        \
    if (threadIdx.x == 0) {                                                                                 \
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"(N) : "memory"); \
      asm volatile("cp.async.bulk.tensor." DIM ".shared::cluster.global." MODE ".mbarrier::complete_tx::bytes [%0], [%1, " COORDS "], [%2]" OFFSETS ";" \
                   ::"r"(at(s)), "l"(map), "r"(at(&bar)), ##__VA_ARGS__ : "memory");                        \
    }                                                                                                       \
    int done = 0;                                                                                           \
    while (!done)                                                                                           \
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }" \
                   : "=r"(done) : "r"(at(&bar)) : "memory");                                                \
  } while (0)
#define STORE(DIM, COORDS, ...)                                                                             \
  do {                                                                                                      \
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");                                            \
    __syncthreads();                                                                                        \
    if (threadIdx.x == 0) {                                                                                 \
      asm volatile("cp.async.bulk.tensor." DIM ".global.shared::cta.bulk_group [%0, " COORDS "], [%1];"     \
                   ::"l"(map), "r"(at(s)), ##__VA_ARGS__ : "memory");                                       \
      asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");                 \
    }                                                                                                       \
  } while (0)
#define TYPE(T) CU_TENSOR_MAP_DATA_TYPE_##T
#define SWIZZLE(N) CU_TENSOR_MAP_SWIZZLE_##N
static CUtensorMap make(CUtensorMapDataType t, void *p, std::vector<cuuint64_t> size, std::vector<cuuint64_t> stride,
                        std::vector<cuuint32_t> box, CUtensorMapSwizzle s = SWIZZLE(NONE),
                        std::vector<cuuint32_t> step = {}, int fill = 0, int interleave = 0) {
  CUtensorMap m = {};
  if (step.empty()) step.assign(size.size(), 1);
  CUresult r = cuTensorMapEncodeTiled(&m, t, size.size(), p, size.data(), stride.data(), box.data(), step.data(),
                                      (CUtensorMapInterleave)interleave, s, CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)fill);
  if (r) printf("encode %d ", r);
  return m;
}
static CUtensorMap column(CUtensorMapDataType t, void *p, std::vector<cuuint64_t> size, std::vector<cuuint64_t> stride,
                          std::vector<int> lower, std::vector<int> upper, cuuint32_t channels, cuuint32_t pixels,
                          std::vector<cuuint32_t> step = {}, CUtensorMapSwizzle s = SWIZZLE(NONE), int fill = 0) {
  CUtensorMap m = {};
  if (step.empty()) step.assign(size.size(), 1);
  CUresult r = cuTensorMapEncodeIm2col(&m, t, size.size(), p, size.data(), stride.data(), lower.data(), upper.data(), channels, pixels,
                                       step.data(), CU_TENSOR_MAP_INTERLEAVE_NONE, s, CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)fill);
  if (r) printf("encode %d ", r);
  return m;
}
static CUtensorMap wide(CUtensorMapDataType t, void *p, std::vector<cuuint64_t> size, std::vector<cuuint64_t> stride,
                        int lower, int upper, cuuint32_t channels, cuuint32_t pixels, int w128 = 0, cuuint32_t stepW = 1,
                        CUtensorMapSwizzle s = SWIZZLE(64B)) {
  CUtensorMap m = {};
  std::vector<cuuint32_t> step(size.size(), 1);
  step[1] = stepW;
  CUresult r = cuTensorMapEncodeIm2colWide(&m, t, size.size(), p, size.data(), stride.data(), lower, upper, channels, pixels, step.data(),
                                           CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapIm2ColWideMode)w128, s, CU_TENSOR_MAP_L2_PROMOTION_NONE,
                                           CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (r) printf("encode %d ", r);
  return m;
}
template <class T> static T *device(int n, T first = 0) {
  std::vector<T> v(n); for (int i = 0; i < n; i++) v[i] = first + (T)i;
  T *p; cudaMalloc(&p, n * sizeof(T)); cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  return p;
}
template <class T> static void show(T *p, int n, int step = 1) {
  std::vector<T> v(n); cudaError_t e = cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
  if (e) printf("%s", cudaGetErrorName(e)); else for (int i = 0; i < n; i += step) printf("%g ", (double)v[i]);
  printf("\n");
}
`

// tensorProgram is a program that copies tensors, with what the PTX ISA says of it.
type tensorProgram struct {
	name, kernels, body string
	want                string // the output, with spaces for line ends
	unsupported         []string
	findings            []string
	reason              string // of the verdict that a launch is unsupported; empty: none is
}

var tensorPrograms = []tensorProgram{
	// CUDA Driver API, cuTensorMapEncodeTiled: strides are multiples of 16, boxes have at most 256
	// elements in a dimension and rows of a multiple of 16 bytes, which a swizzle must not exceed.
	{name: "mistakes", body: `float *p = device<float>(64); make(TYPE(FLOAT32), p, {8, 8}, {20}, {4, 4}); make(TYPE(FLOAT32), p, {8, 8}, {32}, {3, 4});
			make(TYPE(FLOAT32), p, {8, 8}, {32}, {260, 4}); make(TYPE(FLOAT32), p + 1, {8, 8}, {32}, {4, 4});
			make(TYPE(FLOAT32), p, {64}, {}, {16}, SWIZZLE(32B)); make(TYPE(FLOAT32), p, {64}, {}, {8}, SWIZZLE(32B));
			make(TYPE(FLOAT32), p, {0}, {}, {8}); make(TYPE(FLOAT32), p, {64}, {}, {8}, SWIZZLE(NONE), {9});`,
		want: "encode 1 encode 1 encode 1 encode 1 encode 1 encode 1 encode 1"},
	{name: "not supported", body: `float *p = device<float>(64); make(TYPE(FLOAT16), p, {16, 4, 4}, {32, 128}, {1, 4, 4}, SWIZZLE(NONE), {}, 0, 1);`,
		want: "encode 801", unsupported: []string{"cuTensorMapEncodeTiled of an interleaved layout"}},
	// PTX ISA 5.5.6: elements outside of the array are 0; coordinates may be negative.
	{name: "outside", kernels: `__global__ void k(MAP m, int *out, int x, int y) { alignas(128) __shared__ int s[16]; const CUtensorMap *map = &m;
			LOAD("2d", "{%3, %4}", 64, "r"(x), "r"(y)); if (threadIdx.x < 16) out[threadIdx.x] = s[threadIdx.x]; }`,
		body: `int *p = device<int>(32, 1), *q = device<int>(16); CUtensorMap m = make(TYPE(INT32), p, {5, 3}, {32}, {4, 4});
			k<<<1, 32>>>(m, q, -1, -1); show(q, 16); k<<<1, 32>>>(m, q, 3, 1); show(q, 16);`,
		want: "0 0 0 0 0 1 2 3 0 9 10 11 0 17 18 19 12 13 0 0 20 21 0 0 0 0 0 0 0 0 0 0"},
	// CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA: they are NaN.
	{name: "outside is NaN", kernels: `__global__ void k(MAP m, float *out) { alignas(128) __shared__ float s[4]; const CUtensorMap *map = &m;
			LOAD("1d", "{%3}", 16, "r"(6)); if (threadIdx.x < 4) out[threadIdx.x] = s[threadIdx.x]; }`,
		body: `float *p = device<float>(8, 1), *q = device<float>(4); k<<<1, 32>>>(make(TYPE(FLOAT32), p, {8}, {}, {4}, SWIZZLE(NONE), {}, 1), q); show(q, 4);`,
		want: "7 8 nan nan"},
	// Each second element of a dimension with an element stride of 2 (cuTensorMapEncodeTiled:
	// ceil(boxDim / elementStride) elements are copied). Without an interleaved layout the first
	// stride is ignored ("TMA doesn't support the stride for dimension zero").
	{name: "element strides", kernels: `__global__ void k(MAP m, int *out) { alignas(128) __shared__ int s[16]; const CUtensorMap *map = &m;
			LOAD("2d", "{%3, %4}", 64, "r"(1), "r"(0)); if (threadIdx.x < 16) out[threadIdx.x] = s[threadIdx.x]; }`,
		body: `int *p = device<int>(64), *q = device<int>(16); k<<<1, 32>>>(make(TYPE(INT32), p, {8, 8}, {32}, {8, 3}, SWIZZLE(NONE), {2, 2}), q); show(q, 16);`,
		want: "1 2 3 4 5 6 7 0 17 18 19 20 21 22 23 0"},
	// 5.5.7: with a swizzle of 32 bytes, the two pieces of 16 bytes of a row change places in each
	// second group of 128 bytes.
	{name: "swizzle", kernels: `__global__ void k(MAP m, uint16_t *out) { alignas(1024) __shared__ uint16_t s[128]; const CUtensorMap *map = &m;
			LOAD("2d", "{%3, %4}", 256, "r"(0), "r"(0)); for (int i = threadIdx.x; i < 128; i += 32) out[i] = s[i]; }`,
		body: `uint16_t *p = device<uint16_t>(128), *q = device<uint16_t>(128); k<<<1, 32>>>(make(TYPE(UINT16), p, {16, 8}, {32}, {16, 8}, SWIZZLE(32B)), q);
			show(q, 128, 8);`, want: "0 8 16 24 32 40 48 56 72 64 88 80 104 96 120 112"},
	// A store writes what is inside of the array and nothing else, out of the places of the swizzle.
	{name: "store", kernels: `__global__ void k(MAP m) { alignas(1024) __shared__ int s[64]; const CUtensorMap *map = &m;
			for (int i = threadIdx.x; i < 64; i += 32) s[i] = 100 + i; STORE("2d", "{%2, %3}", "r"(4), "r"(1)); }`,
		body: `int *p = device<int>(64); k<<<1, 32>>>(make(TYPE(INT32), p, {7, 3}, {64}, {8, 8}, SWIZZLE(32B))); show(p, 40);`,
		want: "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 100 101 102 23 24 25 26 27 28 29 30 31 32 33 34 35 108 109 110 39"},
	// Three dimensions; the map is in global memory, where a copy of the host has put it.
	{name: "three dimensions", kernels: `__global__ void k(const CUtensorMap *map, int *out) { alignas(128) __shared__ int s[16];
			LOAD("3d", "{%3, %4, %5}", 64, "r"(0), "r"(1), "r"(1)); if (threadIdx.x < 16) out[threadIdx.x] = s[threadIdx.x]; }`,
		body: `int *p = device<int>(64), *q = device<int>(16); CUtensorMap m = make(TYPE(INT32), p, {4, 4, 4}, {16, 64}, {4, 2, 2}), *d;
			cudaMalloc(&d, sizeof m); cudaMemcpy(d, &m, sizeof m, cudaMemcpyHostToDevice); k<<<1, 32>>>(d, q); show(q, 16);
			cuTensorMapReplaceAddress(&m, p + 16); cudaMemcpy(d, &m, sizeof m, cudaMemcpyHostToDevice); k<<<1, 32>>>(d, q); show(q, 4);`,
		want: "20 21 22 23 24 25 26 27 36 37 38 39 40 41 42 43 36 37 38 39"},
	// 5.5.3.4.1: four rows by their numbers, here of a matrix with 4 of them.
	{name: "gather", kernels: `__global__ void k(MAP m, int *out) { alignas(128) __shared__ int s[16]; const CUtensorMap *map = &m;
			LOAD_BY("2d", "tile::gather4", "{%3, %4, %5, %6, %7}", 64, "r"(0), "r"(3), "r"(0), "r"(9), "r"(1)); if (threadIdx.x < 16) out[threadIdx.x] = s[threadIdx.x]; }`,
		body: `int *p = device<int>(16, 1), *q = device<int>(16); k<<<1, 32>>>(make(TYPE(INT32), p, {4, 4}, {16}, {4, 1}), q); show(q, 16);`,
		want: "13 14 15 16 1 2 3 4 0 0 0 0 5 6 7 8"},
	// 9.7.9.27.1.3: reductions of several blocks are atomic for each element and no race with each
	// other; with a copy to the same place they are one. What is outside of the array is dropped.
	{name: "reduction", kernels: `#define REDUCE(OP, X) do { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads(); if (threadIdx.x == 0) { \
			asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta." OP ".tile.bulk_group [%0, {%1}], [%2];" ::"l"(map), "r"(X), "r"(at(s)) : "memory"); \
			asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"); } } while (0)
			__global__ void add(MAP m, float v) { alignas(128) __shared__ float s[8]; const CUtensorMap *map = &m;
			if (threadIdx.x < 8) s[threadIdx.x] = v * threadIdx.x; REDUCE("add", 2); }
			__global__ void most(MAP m) { alignas(128) __shared__ int s[8]; const CUtensorMap *map = &m;
			if (threadIdx.x < 8) s[threadIdx.x] = 4 - (int)threadIdx.x * (int)blockIdx.x; REDUCE("max", 0); }`,
		body: `float *p = device<float>(12); add<<<3, 32>>>(make(TYPE(FLOAT32), p, {8}, {}, {8}), 2); show(p, 12);
			int *q = device<int>(8); most<<<2, 32>>>(make(TYPE(INT32), q, {8}, {}, {8})); show(q, 8);`,
		want: "0 1 2 9 16 23 30 37 8 9 10 11 4 4 4 4 4 5 6 7"},
	{name: "reduction and copy", kernels: `__global__ void k(MAP m) { alignas(128) __shared__ float s[8]; const CUtensorMap *map = &m; if (threadIdx.x < 8) s[threadIdx.x] = 1;
			asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads(); if (threadIdx.x == 0) {
			if (blockIdx.x) asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%0, {%1}], [%2];" ::"l"(map), "r"(0), "r"(at(s)) : "memory");
			else asm volatile("cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%0, {%1}], [%2];" ::"l"(map), "r"(0), "r"(at(s)) : "memory");
			asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"); } }`,
		body:     `float *p = device<float>(8); k<<<2, 32>>>(make(TYPE(FLOAT32), p, {8}, {}, {8})); cudaDeviceSynchronize();`,
		findings: []string{"race-async-copy"}},
	// The bytes that the mbarrier counts are those of the whole box.
	{name: "expects too little", kernels: `__global__ void k(MAP m) { alignas(128) __shared__ int s[16]; const CUtensorMap *map = &m;
			LOAD("1d", "{%3}", 32, "r"(0)); }`,
		body: `int *p = device<int>(16); k<<<1, 32>>>(make(TYPE(INT32), p, {16}, {}, {16})); show(p, 1);`,
		want: "cudaErrorLaunchFailure", findings: []string{"mbarrier-tx-mismatch"}},
	// The array of the map ends behind its allocation.
	{name: "beyond memory", kernels: `__global__ void k(MAP m) { alignas(128) __shared__ int s[16]; const CUtensorMap *map = &m;
			LOAD("1d", "{%3}", 64, "r"(16)); }`,
		body: `int *p = device<int>(16); k<<<1, 32>>>(make(TYPE(INT32), p, {32}, {}, {16})); show(p, 1);`,
		want: "cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	{name: "no map", kernels: `__global__ void k(MAP m) { alignas(128) __shared__ int s[16]; const CUtensorMap *map = &m; LOAD("1d", "{%3}", 64, "r"(0)); }`,
		body: `int *p = device<int>(16); k<<<1, 32>>>(CUtensorMap{}); show(p, 1);`,
		want: "cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	// Without __grid_constant__ the parameter is copied to local memory, whose addresses no copy of a
	// tensor can use (CUDA C++ Programming Guide, "Tensor Memory Accelerator").
	{name: "map in local memory", kernels: `__global__ void k(CUtensorMap m) { alignas(128) __shared__ int s[16]; const CUtensorMap *map = &m; LOAD("1d", "{%3}", 64, "r"(0)); }`,
		body: `int *p = device<int>(16); k<<<1, 32>>>(make(TYPE(INT32), p, {16}, {}, {16})); show(p, 1);`,
		want: "cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	// Two blocks store tiles that overlap: a race, though each is a copy.
	{name: "tiles that overlap", kernels: `__global__ void k(MAP m, int step) { alignas(128) __shared__ int s[16]; const CUtensorMap *map = &m;
			if (threadIdx.x < 16) s[threadIdx.x] = blockIdx.x; STORE("1d", "{%2}", "r"(step * (int)blockIdx.x)); }`,
		body:     `int *p = device<int>(64); CUtensorMap m = make(TYPE(INT32), p, {64}, {}, {16}); k<<<2, 32>>>(m, 16); k<<<2, 32>>>(m, 12); cudaDeviceSynchronize();`,
		findings: []string{"race-async-copy"}},
	// What another block writes while a tile is loaded; a row that the tile does not have is none of
	// it.
	{name: "tile and writes", kernels: `__global__ void k(MAP m, int *p, int row) { alignas(128) __shared__ int s[16]; const CUtensorMap *map = &m;
			if (blockIdx.x == 1) p[row * 8 + threadIdx.x % 8] = 1; else { LOAD("2d", "{%3, %4}", 64, "r"(0), "r"(0)); } }`,
		body: `int *p = device<int>(64); CUtensorMap m = make(TYPE(INT32), p, {8, 8}, {32}, {4, 4}); k<<<2, 4>>>(m, p + 4, 1); k<<<2, 8>>>(m, p, 4);
			k<<<2, 8>>>(m, p, 3); cudaDeviceSynchronize();`, findings: []string{"race-async-copy"}},
}

// TestTensors runs copies of tensors by the maps that a program has made.
func TestTensors(t *testing.T) { runTensors(t, tensorPrograms) }

func runTensors(t *testing.T, programs []tensorProgram) {
	for _, c := range programs {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 3)
			got := start(t, []string{program.OfText(t, tensorPrologue+c.kernels+"\nint main() {\n"+c.body+"\n}\n")}, nil)
			if out := strings.Join(strings.Fields(got.stdout), " "); out != c.want {
				t.Errorf("output %q, want %q; messages %q", out, c.want, got.stderr)
			}
			got.expect(t, c.unsupported, c.findings)
			said := c.reason == ""
			for _, v := range got.Verdicts {
				if v.Kind != diag.Unsupported {
					continue
				}
				if c.reason == "" || !strings.Contains(v.Reason, c.reason) {
					t.Errorf("unsupported: %s; want %q", v.Reason, c.reason)
				}
				said = true
			}
			if !said {
				t.Errorf("no verdict of %q", c.reason)
			}
		})
	}
}
