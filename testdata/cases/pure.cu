// expect: dropped bug race-shared; branch bug race-shared; twice bug race-shared; plain bug race-shared; store bug race-shared
// A call that is marked pure and whose result is unused is dropped by clang, with its access.
__attribute__((pure, noinline)) __device__ int peek(const int *p) { return *p; }
__attribute__((pure, noinline)) __device__ int poke(int *p, int v) { return *p = v; }
__device__ int read(const int *p) { return *p; }
__global__ void dropped() {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  peek(s + (threadIdx.x ^ 1));
}
__global__ void branch() {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  if (peek(s + (threadIdx.x ^ 1)) == 3) {
  }
}
__global__ void twice(int *out) { // the second call may not be replaced by the first
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  __syncthreads();
  int a = peek(s + (threadIdx.x ^ 1));
  __syncthreads();
  s[threadIdx.x] = 2;
  peek(s + (threadIdx.x ^ 1));
  out[64 * blockIdx.x + threadIdx.x] = a;
}
__global__ void plain(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = 1;
  out[64 * blockIdx.x + threadIdx.x] = read(s + (threadIdx.x ^ 1));
}
__global__ void store() {
  __shared__ int s[64];
  poke(s + threadIdx.x / 2, threadIdx.x);
}
