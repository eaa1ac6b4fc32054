// expect: inline_tail bug race-unordered-strong; called_tail bug race-unordered-strong
// The warp reduction of devices before sm_70: volatile accesses are no data race, but lanes no longer run in lock step.
__device__ void tail(volatile int *v, int t) {
  for (int d = 32; d; d /= 2) v[t] = max(v[t], v[t + d]);
}
// heddle: grid=1 block=64
__global__ void inline_tail(const int *in, int *out) {
  __shared__ int s[64];
  int t = threadIdx.x;
  s[t] = in[t];
  __syncthreads();
  if (t < 32) {
    volatile int *v = s;
    v[t] += v[t + 32];
    v[t] += v[t + 16];
    v[t] += v[t + 8];
  }
  if (t == 0) *out = s[0];
}
__global__ void called_tail(const int *in, int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = in[64 * blockIdx.x + threadIdx.x];
  __syncthreads();
  if (threadIdx.x < 32) tail(s, threadIdx.x);
  if (threadIdx.x == 0) out[blockIdx.x] = s[0];
}
void host(int *out, const int *in) { called_tail<<<4, 64>>>(in, out); }
