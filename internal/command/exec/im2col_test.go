package exec_test

import "testing"

// convolution multiplies columns of an image with a filter of 3 by 3 pixels of 4 channels: a column
// for each pixel of the filter (PTX ISA 5.5.4). A thread has a position of the filter. late reads
// the last column before it is complete.
const convolution = `
__global__ void conv(MAP m, const float *w, float *out, int x, int y, int n, bool late) {
  alignas(128) __shared__ float s[64][4];
  __shared__ uint64_t bar;
  int t = threadIdx.x;
  if (t == 0) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  float sum = 0;
  for (int i = 0; i < 9; i++) {
    if (t == 0) {
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"((int)sizeof s) : "memory");
      asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3, %4, %5}], [%6], {%7, %8};"
                   ::"r"(at(s)), "l"(&m), "r"(0), "r"(x), "r"(y), "r"(n), "r"(at(&bar)), "h"((short)(i % 3)), "h"((short)(i / 3)) : "memory");
    }
    auto multiply = [&] { for (int c = 0; c < 4; c++) sum += s[t][c] * w[4 * i + c]; };
    if (late && i == 8) multiply();
    int done = 0;
    while (!done)
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                   : "=r"(done) : "r"(at(&bar)), "r"(i & 1) : "memory");
    if (!late || i < 8) multiply();
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
  }
  out[t] = sum;
}`

// convolve runs a convolution with a padding and a stride of an image of 2 x H x W pixels, and
// compares it with the definition.
const convolve = `
static int convolve(int W, int H, int padding, int stride, bool late) {
  const int C = 4, N = 2;
  std::vector<float> image(N * H * W * C), filter(9 * C);
  for (size_t i = 0; i < image.size(); i++) image[i] = (float)(i * 7 % 11) - 5;
  for (size_t i = 0; i < filter.size(); i++) filter[i] = (float)(i * 5 % 7) - 3;
  float *p, *w, *q;
  cudaMalloc(&p, image.size() * 4), cudaMalloc(&w, filter.size() * 4), cudaMalloc(&q, 64 * 4);
  cudaMemcpy(p, image.data(), image.size() * 4, cudaMemcpyHostToDevice);
  cudaMemcpy(w, filter.data(), filter.size() * 4, cudaMemcpyHostToDevice);
  int P = (H + 2 * padding - 3) / stride + 1, Q = (W + 2 * padding - 3) / stride + 1, wrong = 0;
  cuuint64_t row = W * C * 4, plane = H * row;
  CUtensorMap m = column(TYPE(FLOAT32), p, {C, (cuuint64_t)W, (cuuint64_t)H, N}, {C * 4, row, plane}, {-padding, -padding},
                         {padding - 2, padding - 2}, C, 64, {1, (cuuint32_t)stride, (cuuint32_t)stride, 1});
  for (int first = 0; first < N * P * Q; first += 64) {
    conv<<<1, 64>>>(m, w, q, first % Q * stride - padding, first / Q % P * stride - padding, first / Q / P, late);
    std::vector<float> got(64);
    if (cudaMemcpy(got.data(), q, 64 * 4, cudaMemcpyDeviceToHost)) return -1;
    for (int i = 0; i < 64; i++) {
      int o = first + i, n = o / Q / P, y0 = o / Q % P * stride - padding, x0 = o % Q * stride - padding;
      float want = 0;
      for (int r = 0; r < 3; r++) for (int s = 0; s < 3; s++) for (int c = 0; c < C; c++)
        if (n < N && y0 + r >= 0 && y0 + r < H && x0 + s >= 0 && x0 + s < W)
          want += image[((n * H + y0 + r) * W + x0 + s) * C + c] * filter[(3 * r + s) * C + c];
      wrong += want != got[i];
    }
  }
  return wrong;
}`

// columnPrograms are copies in mode im2col.
var columnPrograms = []tensorProgram{
	{name: "convolution", kernels: convolution + convolve,
		body: `printf("%d %d %d %d", convolve(6, 5, 1, 1, false), convolve(7, 8, 1, 2, false), convolve(9, 7, 0, 1, false), convolve(8, 8, 2, 3, false));`,
		want: "0 0 0 0"},
	{name: "convolution without the wait", kernels: convolution + convolve,
		body: `convolve(6, 5, 1, 1, true);`, findings: []string{"race-async-copy"}},
	// CUDA Driver API, cuTensorMapEncodeIm2col: 3 to 5 dimensions, corners of 16, 8 or 5 bits, a box
	// that is not empty, at most 256 channels and 1024 pixels, and channels within the swizzle.
	{name: "mistakes of im2col", body: `float *p = device<float>(4096); column(TYPE(FLOAT32), p, {4, 8}, {16}, {}, {}, 4, 8);
			column(TYPE(FLOAT32), p, {4, 8, 8, 2}, {16, 128, 1024}, {-129, 0}, {0, 0}, 4, 8); column(TYPE(FLOAT32), p, {4, 8, 8, 2}, {16, 128, 1024}, {0, 0}, {0, 128}, 4, 8);
			column(TYPE(FLOAT32), p, {4, 8, 8, 2, 1}, {16, 128, 1024, 2048}, {0, 0, -17}, {0, 0, 0}, 4, 8); column(TYPE(FLOAT32), p, {4, 8, 2}, {16, 128}, {0}, {-8}, 4, 8);
			column(TYPE(FLOAT32), p, {4, 8, 2}, {16, 128}, {0}, {0}, 257, 8); column(TYPE(FLOAT32), p, {4, 8, 2}, {16, 128}, {0}, {0}, 4, 1025);
			column(TYPE(FLOAT32), p, {64, 8, 2}, {256, 2048}, {0}, {0}, 16, 8, {}, SWIZZLE(32B)); column(TYPE(INT32), p, {4, 8, 2}, {16, 128}, {0}, {0}, 4, 8, {}, SWIZZLE(NONE), 1);
			column(TYPE(FLOAT32), p, {4, 8, 2}, {16, 128}, {-32768}, {32767}, 4, 8); column(TYPE(FLOAT32), p, {4, 8, 8, 2, 1}, {16, 128, 1024, 2048}, {-16, 15, 0}, {15, 15, 0}, 4, 8);
			column(TYPE(16U6_ALIGN16B), p, {128, 8, 2}, {256, 2048}, {0}, {0}, 64, 8); column(TYPE(16U6_ALIGN16B), p, {128, 8, 2}, {256, 2048}, {0}, {0}, 128, 8);
			wide(TYPE(FLOAT32), p, {16, 8, 2}, {64, 512}, 0, -8, 16, 8); wide(TYPE(FLOAT32), p, {16, 8, 2}, {64, 512}, 0, 0, 16, 0);
			wide(TYPE(FLOAT32), p, {16, 8, 2}, {64, 512}, 0, 0, 16, 8, 0, 1, SWIZZLE(32B)); wide(TYPE(FLOAT32), p, {16, 8, 2}, {64, 512}, 0, 0, 16, 8, 0, 1, SWIZZLE(128B_ATOM_32B));`,
		want:        "encode 1 encode 1 encode 1 encode 1 encode 1 encode 1 encode 1 encode 1 encode 1 encode 1 encode 1 encode 1 encode 1 encode 801",
		unsupported: []string{"cuTensorMapEncodeIm2colWide of a swizzle with atoms of 32 bytes"}},
	// 5.5.4.3: NaN for pixels outside of the tensor, and behind the last image. Two images of 3
	// pixels; the filter's positions are -1 to 2, and the pixels are one further.
	{name: "three dimensions, NaN", kernels: `__global__ void k(MAP m, float *out) { alignas(128) __shared__ float s[32]; const CUtensorMap *map = &m;
			LOAD_WITH("3d", "im2col", "{%3, %4, %5}", ", {%6}", 128, "r"(0), "r"(1), "r"(0), "h"((short)1)); out[threadIdx.x] = s[threadIdx.x]; }`,
		body: `float *p = device<float>(24), *q = device<float>(32); k<<<1, 32>>>(column(TYPE(FLOAT32), p, {4, 3, 2}, {16, 48}, {-1}, {0}, 4, 8, {}, SWIZZLE(NONE), 1), q); show(q, 32, 4);`,
		want: "8 nan 12 16 20 nan nan nan"},
	// Channels from the second half on, with the swizzle of 32 bytes: the halves of a pixel change
	// places in each second group of 128 bytes, as in tile mode (5.5.7).
	{name: "channels and swizzle", kernels: `__global__ void k(MAP m, int *out) { alignas(1024) __shared__ int s[64]; const CUtensorMap *map = &m;
			LOAD_WITH("3d", "im2col", "{%3, %4, %5}", ", {%6}", 256, "r"(8), "r"(0), "r"(0), "h"((short)0)); for (int i = threadIdx.x; i < 64; i += 32) out[i] = s[i]; }`,
		body: `int *p = device<int>(128), *q = device<int>(64); k<<<1, 32>>>(column(TYPE(INT32), p, {16, 8, 1}, {64, 512}, {0}, {0}, 8, 8, {}, SWIZZLE(32B)), q); show(q, 64, 4);`,
		want: "8 12 24 28 40 44 56 60 76 72 92 88 108 104 124 120"},
	// Five dimensions: W, H and D of 2, of which D is traversed by 2. The second image follows after
	// 4 pixels.
	{name: "five dimensions", kernels: `__global__ void k(MAP m, int *out) { alignas(128) __shared__ int s[32]; const CUtensorMap *map = &m;
			LOAD_WITH("5d", "im2col", "{%3, %4, %5, %6, %7}", ", {%8, %9, %10}", 128, "r"(0), "r"(0), "r"(0), "r"(0), "r"(0), "h"((short)0), "h"((short)0), "h"((short)1));
			out[threadIdx.x] = s[threadIdx.x]; }`,
		body: `int *p = device<int>(64), *q = device<int>(32); k<<<1, 32>>>(column(TYPE(INT32), p, {4, 2, 2, 2, 2}, {16, 32, 64, 128}, {0, 0, 0}, {0, 0, 0}, 4, 8, {1, 1, 1, 2, 1}), q); show(q, 32, 4);`,
		want: "16 20 24 28 48 52 56 60"},
	// 9.7.9.27.1.2, .im2col_no_offs: a store has no offsets. Each second of 5 pixels, of two images;
	// the last two of 8 pixels are behind the last image, and are dropped. A reduction adds.
	{name: "store of a column", kernels: `#define COLUMN(OP, MODE) do { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads(); if (threadIdx.x == 0) { \
			asm volatile(OP ".async.bulk.tensor.3d.global.shared::cta." MODE ".bulk_group [%0, {%1, %2, %3}], [%4];" ::"l"(&m), "r"(0), "r"(0), "r"(0), "r"(at(s)) : "memory"); \
			asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"); } } while (0)
			__global__ void k(MAP m, bool add) { alignas(128) __shared__ int s[32]; s[threadIdx.x] = 100 + threadIdx.x;
			if (add) COLUMN("cp.reduce", "add.im2col_no_offs"); else COLUMN("cp", "im2col_no_offs"); }`,
		body: `int *p = device<int>(48); CUtensorMap m = column(TYPE(INT32), p, {4, 5, 2}, {16, 80}, {0}, {0}, 4, 8, {1, 2, 1});
			k<<<1, 32>>>(m, false); show(p, 48, 4); k<<<1, 32>>>(m, true); show(p, 48, 4);`,
		want: "100 4 104 12 108 112 24 116 32 120 40 44 200 4 208 12 216 224 24 232 32 240 40 44"},
	// The copy's mode must be that of its map; with offsets beyond their range (5.5.4.1) the copy is
	// wrong as well.
	{name: "tile of a column", kernels: `__global__ void k(MAP m) { alignas(128) __shared__ int s[32]; const CUtensorMap *map = &m; LOAD("3d", "{%3, %4, %5}", 128, "r"(0), "r"(0), "r"(0)); }`,
		body: `int *p = device<int>(40); k<<<1, 32>>>(column(TYPE(INT32), p, {4, 5, 2}, {16, 80}, {0}, {0}, 4, 8)); show(p, 1);`,
		want: "cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	{name: "column of a tile", kernels: `__global__ void k(MAP m) { alignas(128) __shared__ int s[32]; const CUtensorMap *map = &m;
			LOAD_WITH("3d", "im2col", "{%3, %4, %5}", ", {%6}", 128, "r"(0), "r"(0), "r"(0), "h"((short)0)); }`,
		body: `int *p = device<int>(40); k<<<1, 32>>>(make(TYPE(INT32), p, {4, 5, 2}, {16, 80}, {4, 4, 2})); show(p, 1);`,
		want: "cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	{name: "offset too large", kernels: `__global__ void k(MAP m) { alignas(128) __shared__ int s[32]; const CUtensorMap *map = &m;
			LOAD_WITH("4d", "im2col", "{%3, %4, %5, %6}", ", {%7, %8}", 128, "r"(0), "r"(0), "r"(0), "r"(0), "h"((short)256), "h"((short)0)); }`,
		body: `int *p = device<int>(80); k<<<1, 32>>>(column(TYPE(INT32), p, {4, 5, 2, 2}, {16, 80, 160}, {0, 0}, {0, 0}, 4, 8)); show(p, 1);`,
		want: "cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	// "The filter corner location must be within the bounding box", but two of the three examples of
	// the ISA have one that is not.
	{name: "outside of the bounding box", kernels: `__global__ void k(MAP m) { alignas(128) __shared__ int s[32]; const CUtensorMap *map = &m;
			LOAD_WITH("3d", "im2col", "{%3, %4, %5}", ", {%6}", 128, "r"(0), "r"(4), "r"(0), "h"((short)0)); }`,
		body:   `int *p = device<int>(40); k<<<1, 32>>>(column(TYPE(INT32), p, {4, 5, 2}, {16, 80}, {0}, {-1}, 4, 8)); cudaDeviceSynchronize();`,
		reason: "a filter that begins at 4 in dimension 1, outside of the bounding box from 0 to 3"},
	// 5.5.5: pixels of one row of an image, between the corners in W, then of the same row of the next
	// image; an offset moves the corners and the first pixel. An array of 16 channels of 16 bits, 5 by
	// 3 pixels, 6 images: each element has its number. With a swizzle of 64 bytes,
	// bits 7 and 8 of an address change bits 4 and 5 (5.5.7).
	{name: "im2col::w", kernels: wideKernels, body: wideBody, want: "0 wrong"},
	{name: "another mode than the map", kernels: `__global__ void k(MAP m) { alignas(1024) __shared__ int s[128]; const CUtensorMap *map = &m;
			LOAD_WITH("3d", "im2col::w", "{%3, %4, %5}", ", {%6, %7}", 512, "r"(0), "r"(0), "r"(0), "h"((short)0), "h"((short)0)); }`,
		body: `int *p = device<int>(160); k<<<1, 32>>>(column(TYPE(INT32), p, {16, 5, 2}, {64, 320}, {0}, {0}, 16, 8)); show(p, 1);`,
		want: "cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	{name: "halo pixels", kernels: `__global__ void k(MAP m) { alignas(1024) __shared__ int s[128]; const CUtensorMap *map = &m;
			LOAD_WITH("3d", "im2col::w", "{%3, %4, %5}", ", {%6, %7}", 512, "r"(0), "r"(0), "r"(0), "h"((short)2), "h"((short)0)); }`,
		body:   `int *p = device<int>(160); k<<<1, 32>>>(wide(TYPE(INT32), p, {16, 5, 2}, {64, 320}, 0, 0, 16, 8)); cudaDeviceSynchronize();`,
		reason: "halo pixels, of which PTX ISA 5.5.5.3 does not say which they are"},
	// A read of the column before it is complete.
	{name: "im2col::w without the wait", kernels: `__global__ void k(MAP m, int *out) { alignas(1024) __shared__ int s[128]; __shared__ uint64_t bar; if (threadIdx.x == 0) {
			asm volatile("mbarrier.init.shared::cta.b64 [%0], 1; fence.proxy.async.shared::cta; mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 512;" ::"r"(at(&bar)) : "memory");
			asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.im2col::w.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2, %2}], [%3], {%4, %4};"
			::"r"(at(s)), "l"(&m), "r"(0), "r"(at(&bar)), "h"((short)0) : "memory"); out[0] = s[1]; int done = 0; while (!done)
			asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.b32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(&bar)) : "memory"); } }`,
		body:     `int *p = device<int>(160), *q = device<int>(32); k<<<1, 32>>>(wide(TYPE(INT32), p, {16, 5, 2}, {64, 320}, 0, 0, 16, 8), q); cudaDeviceSynchronize();`,
		findings: []string{"race-async-copy"}},
	// 5.5.1.1.1: two elements of .b4x16 are a byte, and 16 of them are copied as they are. From element
	// 48 on, the array has 16 elements, and the rest of the box is 0.
	{name: "4 bits", kernels: `__global__ void k(MAP m, uint8_t *out, int x) { alignas(128) __shared__ uint8_t s[16]; const CUtensorMap *map = &m;
			LOAD("1d", "{%3}", 16, "r"(x)); if (threadIdx.x < 16) out[threadIdx.x] = s[threadIdx.x]; }`,
		body: `uint8_t *p = device<uint8_t>(32), *q = device<uint8_t>(16); CUtensorMap m = make(TYPE(16U4_ALIGN8B), p, {64}, {}, {32});
			k<<<1, 32>>>(m, q, 18); show(q, 16); k<<<1, 32>>>(m, q, 48); show(q, 16);`,
		want: "9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 24 25 26 27 28 29 30 31 0 0 0 0 0 0 0 0"},
	// .b4x16_p64 and .b6x16_p32: 8 and 12 bytes of each 16 of shared memory come from the array, and the
	// mbarrier counts those. A row of 128 elements has 64 and 96 bytes.
	{name: "padding", kernels: `template <int BYTES, int PART> __global__ void k(MAP m, uint8_t *out) { alignas(128) __shared__ uint8_t s[128]; const CUtensorMap *map = &m;
			LOAD("2d", "{%3, %4}", BYTES, "r"(0), "r"(1)); if (threadIdx.x < 16) out[threadIdx.x] = s[threadIdx.x / 2 * 16 + threadIdx.x % 2 * (PART - 1)]; }`,
		body: `uint8_t *p = device<uint8_t>(192), *q = device<uint8_t>(16); k<64, 8><<<1, 32>>>(make(TYPE(16U4_ALIGN16B), p, {128, 3}, {64}, {128, 1}), q); show(q, 16);
			k<96, 12><<<1, 32>>>(make(TYPE(16U6_ALIGN16B), p, {128, 2}, {96}, {128, 1}), q); show(q, 16);`,
		want: "64 71 72 79 80 87 88 95 96 103 104 111 112 119 120 127 96 107 108 119 120 131 132 143 144 155 156 167 168 179 180 191"},
	{name: "expects the padding too", kernels: `__global__ void k(MAP m) { alignas(128) __shared__ uint8_t s[128]; const CUtensorMap *map = &m; LOAD("1d", "{%3}", 128, "r"(0)); }`,
		body: `uint8_t *p = device<uint8_t>(64); k<<<1, 32>>>(make(TYPE(16U4_ALIGN16B), p, {128}, {}, {128})); show(p, 1);`,
		want: "cudaErrorLaunchFailure", findings: []string{"mbarrier-tx-mismatch"}},
	// .b6p2x16: a store packs the lower six bits of each byte. 16 elements are 12 bytes; what is behind
	// the row stays.
	{name: "6 bits stored", kernels: `__global__ void k(MAP m) { alignas(128) __shared__ uint8_t s[128]; const CUtensorMap *map = &m;
			for (int i = threadIdx.x; i < 128; i += 32) s[i] = i * 7; STORE("1d", "{%2}", "r"(128)); }`,
		body: `uint8_t *p = device<uint8_t>(224); k<<<1, 32>>>(make(TYPE(16U6_ALIGN16B), p, {256}, {}, {128}));
			std::vector<uint8_t> got(224); cudaMemcpy(got.data(), p, 224, cudaMemcpyDeviceToHost); int wrong = 0;
			for (int i = 0; i < 224; i++) { int want = i; if (i >= 96 && i < 192) { want = 0; for (int b = 0; b < 8; b++) { int bit = (i - 96) * 8 + b, e = bit / 6;
			want |= ((e * 7 & 0x3f) >> bit % 6 & 1) << b; } } wrong += got[i] != want; } printf("%d wrong", wrong);`, want: "0 wrong"},
	// 9.7.9.27.1.1: no stores of .b4x16_p64, no reductions of these types, and first coordinates that
	// are multiples of 128.
	{name: "padded 4 bits stored", kernels: `__global__ void k(MAP m) { alignas(128) __shared__ uint8_t s[128]; const CUtensorMap *map = &m; STORE("1d", "{%2}", "r"(0)); }`,
		body: `uint8_t *p = device<uint8_t>(64); k<<<1, 32>>>(make(TYPE(16U4_ALIGN16B), p, {128}, {}, {128})); show(p, 1);`,
		want: "cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	{name: "first coordinate", kernels: `__global__ void k(MAP m) { alignas(128) __shared__ uint8_t s[128]; const CUtensorMap *map = &m; LOAD("1d", "{%3}", 96, "r"(64)); }`,
		body: `uint8_t *p = device<uint8_t>(192); k<<<1, 32>>>(make(TYPE(16U6_ALIGN16B), p, {256}, {}, {128})); show(p, 1);`,
		want: "cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	{name: "reduction of 4 bits", kernels: `__global__ void k(MAP m) { alignas(128) __shared__ uint8_t s[16]; if (threadIdx.x == 0)
			asm volatile("cp.reduce.async.bulk.tensor.1d.global.shared::cta.add.tile.bulk_group [%0, {%1}], [%2];" ::"l"(&m), "r"(0), "r"(at(s)) : "memory"); }`,
		body:   `uint8_t *p = device<uint8_t>(32); k<<<1, 32>>>(make(TYPE(16U4_ALIGN8B), p, {64}, {}, {32})); cudaDeviceSynchronize();`,
		reason: "of elements of the type 13 of a tensor map is not supported"},
	// 9.7.9.27.1.4: a prefetch changes nothing, but reads its map.
	{name: "prefetch", kernels: `__global__ void k(MAP m, MAP c, MAP r) { if (threadIdx.x) return;
			asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(&m), "r"(0), "r"(9) : "memory");
			asm volatile("cp.async.bulk.prefetch.tensor.3d.L2.global.im2col [%0, {%1, %2, %3}], {%4};" ::"l"(&c), "r"(0), "r"(0), "r"(0), "h"((short)1) : "memory");
			asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile::gather4 [%0, {%1, %2, %3, %4, %5}];" ::"l"(&r), "r"(0), "r"(0), "r"(1), "r"(7), "r"(2) : "memory"); }`,
		body: `int *p = device<int>(64); CUtensorMap m = make(TYPE(INT32), p, {8, 8}, {32}, {4, 4}), r = make(TYPE(INT32), p, {8, 8}, {32}, {4, 1});
			k<<<1, 32>>>(m, column(TYPE(INT32), p, {4, 8, 2}, {16, 128}, {0}, {0}, 4, 8), r); show(p, 4); k<<<1, 32>>>(m, m, r); show(p, 1);`,
		want: "0 1 2 3 cudaErrorIllegalAddress", findings: []string{"out-of-bounds"}},
	// 5.5.3.4: rows by their numbers, as often as they come, and none for those outside; a store drops
	// them.
	{name: "gather and scatter", kernels: `__global__ void gather(MAP m, int *out, int c, int4 r) { alignas(128) __shared__ int s[32]; const CUtensorMap *map = &m;
			LOAD_BY("2d", "tile::gather4", "{%3, %4, %5, %6, %7}", 128, "r"(c), "r"(r.x), "r"(r.y), "r"(r.z), "r"(r.w)); out[threadIdx.x] = s[threadIdx.x]; }
			__global__ void scatter(MAP m, int c, int4 r) { alignas(128) __shared__ int s[32]; s[threadIdx.x] = 1000 + threadIdx.x;
			asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads(); if (threadIdx.x == 0) {
			asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%0, {%1, %2, %3, %4, %5}], [%6];"
			::"l"(&m), "r"(c), "r"(r.x), "r"(r.y), "r"(r.z), "r"(r.w), "r"(at(s)) : "memory");
			asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"); } }`,
		body: `const int W = 20, H = 9; unsigned seed = 1; auto random = [&](int n) { seed = seed * 1103515245u + 12345u; return (int)(seed >> 16) % n; };
			int *p = device<int>(W * H), *q = device<int>(32), wrong = 0; std::vector<int> now(W * H), got(W * H); for (int i = 0; i < W * H; i++) now[i] = i;
			CUtensorMap m = make(TYPE(INT32), p, {18, H}, {W * 4}, {8, 1});
			for (int k = 0; k < 12; k++) {
			int c = random(26) - 6, r[4]; for (int i = 0; i < 4; i++) { r[i] = random(13) - 2; for (int j = 0; j < i; j++) if (k % 2 && r[i] == r[j]) r[i] = -1 - i; }
			if (k % 2) {
			scatter<<<1, 32>>>(m, c, int4{r[0], r[1], r[2], r[3]});
			for (int i = 0; i < 32; i++) if (r[i / 8] >= 0 && r[i / 8] < H && c + i % 8 >= 0 && c + i % 8 < 18) now[r[i / 8] * W + c + i % 8] = 1000 + i;
			cudaMemcpy(got.data(), p, W * H * 4, cudaMemcpyDeviceToHost); wrong += got != now;
			} else {
			gather<<<1, 32>>>(m, q, c, int4{r[0], r[1], r[2], r[3]}); cudaMemcpy(got.data(), q, 32 * 4, cudaMemcpyDeviceToHost);
			for (int i = 0; i < 32; i++) wrong += got[i] != (r[i / 8] >= 0 && r[i / 8] < H && c + i % 8 >= 0 && c + i % 8 < 18 ? now[r[i / 8] * W + c + i % 8] : 0); } }
			printf("%d wrong", wrong);`, want: "0 wrong"},
	// Two rows of a scatter with one number: the order of the two writes is not defined, but they are
	// of one operation.
	{name: "scatter races with a row", kernels: `__global__ void k(MAP m, int *p) { alignas(128) __shared__ int s[32]; s[threadIdx.x] = 7;
			asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); __syncthreads(); if (blockIdx.x) { if (threadIdx.x < 8) p[5 * 8 + threadIdx.x] = 1; } else if (threadIdx.x == 0) {
			asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group [%0, {%1, %2, %3, %4, %5}], [%6];"
			::"l"(&m), "r"(0), "r"(1), "r"(3), "r"(5), "r"(7), "r"(at(s)) : "memory");
			asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory"); } }`,
		body:     `int *p = device<int>(64); k<<<2, 32>>>(make(TYPE(INT32), p, {8, 8}, {32}, {8, 1}), p); cudaDeviceSynchronize();`,
		findings: []string{"race-async-copy"}},
}

// wideKernels copy columns of one row in both wide modes.
const wideKernels = `
template <int N> __global__ void k(MAP m, uint16_t *out, int c, int x, int y, int n, int offset) {
  alignas(1024) __shared__ uint16_t s[N * 16];
  const CUtensorMap *map = &m;
  if (N == 128)
    LOAD_WITH("4d", "im2col::w::128", "{%3, %4, %5, %6}", ", {%7, %8}", N * 32, "r"(c), "r"(x), "r"(y), "r"(n), "h"((short)0), "h"((short)offset));
  else
    LOAD_WITH("4d", "im2col::w", "{%3, %4, %5, %6}", ", {%7, %8}", N * 32, "r"(c), "r"(x), "r"(y), "r"(n), "h"((short)0), "h"((short)offset));
  for (int i = threadIdx.x; i < N * 16; i += 32) {
    int byte = 2 * i; // that it would be at without a swizzle
    out[i] = s[(byte ^ (byte >> 7 & 3) << 4) / 2];
  }
}`

// wideBody compares columns with loops over the pixels that PTX ISA 5.5.5 names.
const wideBody = `const int C = 16, W = 5, H = 3, N = 6; unsigned seed = 5; auto random = [&](int n) { seed = seed * 1103515245u + 12345u; return (int)(seed >> 16) % n; };
	uint16_t *p = device<uint16_t>(C * W * H * N, 1), *q = device<uint16_t>(128 * C); int wrong = 0;
	for (int k = 0; k < 14; k++) {
		int lower = random(4) - 2, upper = random(3) - 1, step = 1 + random(3), offset = random(3), w128 = k % 2, pixels = w128 ? 128 : 16;
		if (W - 1 + upper < lower) continue;
		int last = W - 1 + upper + offset, x = lower - random(2) + random(last - offset - lower + 1), y = random(5) - 1, n = random(3), c = random(3) * 8 - 8;
		CUtensorMap m = wide(TYPE(UINT16), p, {C, W, H, N}, {C * 2, C * W * 2, C * W * H * 2}, lower, upper, C, 16, w128, step);
		if (w128) ::k<128><<<1, 32>>>(m, q, c, x, y, n, offset); else ::k<16><<<1, 32>>>(m, q, c, x, y, n, offset);
		std::vector<uint16_t> got(pixels * C); cudaMemcpy(got.data(), q, pixels * C * 2, cudaMemcpyDeviceToHost);
		int w = x + offset, image = n;
		for (int i = 0; i < pixels; i++) {
			for (int e = 0; e < C; e++) {
				bool in = w >= 0 && w < W && y >= 0 && y < H && image < N && c + e >= 0 && c + e < C;
				wrong += got[i * C + e] != (in ? (uint16_t)(1 + c + e + C * (w + W * (y + H * image))) : 0);
			}
			if ((w += step) > last) { w = lower + offset; image++; }
		}
	}
	printf("%d wrong", wrong);`

// TestColumns runs copies of tensors in mode im2col, of rows, and prefetches.
func TestColumns(t *testing.T) { runTensors(t, columnPrograms) }
