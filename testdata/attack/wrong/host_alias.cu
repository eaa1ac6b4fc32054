// expect: not verified; pingpong verified alias; conditional verified alias; by_pointer verified alias; by_lambda verified alias; by_member verified alias; by_vector verified alias; do_condition verified alias; sets_step verified block 1
// Kernels that are right for arrays that are apart, and host code of the same file that lets them overlap.

__global__ void same(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x ^ 1]; }
void launch_same(int *p, int *q) { same<<<1, 64>>>(p, q); }
// The same pointer reaches the launch through a function of the host.
void main_same() { int *d; cudaMalloc(&d, 4096); launch_same(d, d); }

// Interior pointers, as far apart as half of what is used.
__global__ void interior(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x]; }
void main_interior() { int *d; cudaMalloc(&d, 4096); interior<<<1, 64>>>(d, d + 32); }

// Ping-pong in a loop: the pointers are swapped, except for the last round.
__global__ void pingpong(int *to, const int *from) { to[threadIdx.x] = from[(threadIdx.x + 1) & 63]; }
void main_pingpong() {
  int *d[2];
  cudaMalloc(&d[0], 4096); cudaMalloc(&d[1], 4096);
  for (int i = 0; i < 4; i++) pingpong<<<1, 64>>>(d[i & 1], d[(i + 1) / 2 & 1]);
}
// A struct of views, two of which are one.
struct Views { int *to; const int *from; };
__global__ void views(Views v) { v.to[threadIdx.x] = v.from[threadIdx.x ^ 1]; }
void main_views() { int *d; cudaMalloc(&d, 4096); Views v; v.to = d; v.from = d; views<<<1, 64>>>(v); }

// A reference to the same variable.
__global__ void by_reference(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x ^ 1]; }
void main_reference() { int *d; cudaMalloc(&d, 4096); int *&e = d; by_reference<<<1, 64>>>(d, e); }

// A conditional operator whose both sides are the target.
__global__ void conditional(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x ^ 1]; }
void main_conditional(int n) { int *d; cudaMalloc(&d, 4096); conditional<<<1, 64>>>(d, n > 3 ? d : d + 1); }

// A device variable's address is passed, and the kernel uses the variable by its name as well.
__device__ int table[64];
__global__ void symbol(int *to) { to[threadIdx.x] = table[threadIdx.x ^ 1]; }
void main_symbol() { int *p; cudaGetSymbolAddress((void **)&p, table); symbol<<<1, 64>>>(p); }

// Carved from one allocation, with the sizes in elements of the wrong type.
__global__ void carved(int *a, double *b) { a[threadIdx.x] = 1; b[threadIdx.x] = 2; }
void main_carved() { char *d; cudaMalloc(&d, 4096); carved<<<1, 64>>>((int *)d, (double *)(d + 64)); }

// cudaLaunchKernel with an array of arguments.
__global__ void by_array(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x ^ 1]; }
void main_array() { int *d; cudaMalloc(&d, 4096); void *args[] = {&d, &d}; cudaLaunchKernel((void *)by_array, dim3(1), dim3(64), args, 0, 0); }

// A macro that launches.
__global__ void by_macro(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x ^ 1]; }
#define RUN(k, p) k<<<1, 64>>>(p, p)
void main_macro() { int *d; cudaMalloc(&d, 4096); RUN(by_macro, d); }

// The second launch is right for one block and wrong for two.
__global__ void second(int *a) { a[threadIdx.x] = blockIdx.x; }
void main_second(int *a, bool big) { if (big) second<<<2, 64>>>(a); else second<<<1, 64>>>(a); }

// A default argument chooses the number of blocks.
__global__ void defaulted(int *a) { a[threadIdx.x] = blockIdx.x; }
void run_defaulted(int *a, int blocks = 4) { defaulted<<<blocks, 64>>>(a); }
void main_defaulted() { int *d; cudaMalloc(&d, 4096); run_defaulted(d); }

// A dim3 with a second dimension that the kernel ignores.
__global__ void flat(int *a) { a[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.y; }
void main_flat(int *a) { dim3 b(32, 2); flat<<<4, b>>>(a); }

// The stride that the host passes is smaller than the row.
__global__ void strided(int *a, int pitch) { a[threadIdx.y * pitch + threadIdx.x] = threadIdx.y; }
void main_strided(int *a) { strided<<<1, dim3(16, 4)>>>(a, 15); }

// The stride is 0: all rows are one.
__global__ void stride_zero(int *a, int pitch) { a[blockIdx.x * pitch + threadIdx.x] = blockIdx.x; }
void main_zero(int *a) { const int pitch = 3 / 4; stride_zero<<<4, 64>>>(a, pitch); }

// Dynamic shared memory for half of the threads.
__global__ void half_shared(int *a) { extern __shared__ int s[]; s[threadIdx.x] = 1; __syncthreads(); a[threadIdx.x] = s[63 - threadIdx.x]; }
void main_shared(int *a) { half_shared<<<1, 64, 32 * sizeof(int)>>>(a); }

// A template argument from the host: a tile of 32 for a block of 64.
template <int N> __global__ void tile(int *a) { __shared__ int s[N]; s[threadIdx.x % N] = threadIdx.x; __syncthreads(); a[threadIdx.x] = s[threadIdx.x % N]; }
void main_tile(int *a) { tile<32><<<1, 64>>>(a); }

// The index array is filled by the host with the same number twice.
__global__ void scatter(int *a, const int *at) { a[at[threadIdx.x]] = threadIdx.x; }
void main_scatter() {
  int h[64], *d, *a;
  for (int i = 0; i < 64; i++) h[i] = i / 2;
  cudaMalloc(&d, sizeof h); cudaMalloc(&a, 4096);
  cudaMemcpy(d, h, sizeof h, cudaMemcpyHostToDevice);
  scatter<<<1, 64>>>(a, d);
}
// A constant is overwritten by the host: the stride becomes 0.
__constant__ int stride = 1;
__global__ void constant_stride(int *a) { a[threadIdx.x * stride] = threadIdx.x; }
void main_constant(int *a) { int none = 0; cudaMemcpyToSymbol(stride, &none, sizeof none); constant_stride<<<1, 64>>>(a); }

// A variable of the device is overwritten by another kernel.
__device__ int step = 1;
__global__ void sets_step() { step = 0; }
__global__ void uses_step(int *a) { a[threadIdx.x * step] = threadIdx.x; }
void main_step(int *a) { sets_step<<<1, 1>>>(); uses_step<<<1, 64>>>(a); }

// Managed memory that the host has changed.
__managed__ int managed_step = 1;
__global__ void uses_managed(int *a) { a[threadIdx.x * managed_step] = threadIdx.x; }
void main_managed(int *a) { managed_step = 0; uses_managed<<<1, 64>>>(a); }

// A launch through a pointer to the kernel.
__global__ void by_pointer(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x ^ 1]; }
void main_pointer() { int *d; cudaMalloc(&d, 4096); auto f = by_pointer; f<<<1, 64>>>(d, d); }

// A lambda of the host launches.
__global__ void by_lambda(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x ^ 1]; }
void main_lambda() { int *d; cudaMalloc(&d, 4096); auto go = [](int *p, int *q) { by_lambda<<<1, 64>>>(p, q); }; go(d, d); }

// A member of a class holds the buffer.
__global__ void by_member(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x ^ 1]; }
struct Solver { int *x, *y; void swap() { int *z = x; x = y; y = z; y = x; } void run() { swap(); by_member<<<1, 64>>>(x, y); } };
void main_member() { Solver s; cudaMalloc(&s.x, 4096); cudaMalloc(&s.y, 4096); s.run(); }

// Two pointers into one array of the device, in a vector of the host.
#include <vector>
__global__ void by_vector(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x ^ 1]; }
void main_vector() { std::vector<int *> d(2); cudaMalloc(&d[0], 4096); d[1] = d[0]; by_vector<<<1, 64>>>(d[0], d[1]); }

// Pitched memory whose pitch is taken for the width in elements.
__global__ void pitched(char *a, size_t pitch) { *(int *)(a + threadIdx.y * pitch + threadIdx.x * 4) = threadIdx.y; }
void main_pitched() { char *d; size_t p; cudaMallocPitch((void **)&d, &p, 64, 4); pitched<<<1, dim3(16, 4)>>>(d, 16); }

// The condition of a do loop makes the two buffers one for the second launch.
__global__ void do_condition(int *to, const int *from) { to[threadIdx.x] = from[threadIdx.x ^ 1]; }
void main_do() {
  int *p, *q;
  cudaMalloc(&p, 4096); cudaMalloc(&q, 4096);
  do do_condition<<<1, 64>>>(p, q); while ((q = p, false));
  do_condition<<<1, 64>>>(p, q);
}
// And counts the pitch down, to one less than a row.
__global__ void counted_pitch(int *a, int pitch) { a[threadIdx.y * pitch + threadIdx.x] = threadIdx.y; }
void main_counted(int *a) { int pitch = 16; do {} while (--pitch > 15); counted_pitch<<<1, dim3(16, 4)>>>(a, pitch); }
