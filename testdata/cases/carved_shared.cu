// expect: filter bug race-shared
// The size of the dynamic shared memory is computed from arguments: a guess that breaks the relation ends in an access
// out of bounds, which must not hide the race of out[t - 1].
__global__ void filter(float *x, int sections, int samples, int width) {
  extern __shared__ float memory[];
  float *out = memory, *state = memory + sections;
  int t = threadIdx.x;
  out[t] = 0;
  for (int i = 0; i < width; i++) state[t * width + i] = x[t * width + i];
  __syncthreads();
  for (int n = 0; n < samples; n++) {
    float v = t ? out[t - 1] : x[n];
    out[t] = v + state[t * width];
    __syncthreads();
  }
}
void host(float *x, int sections, int samples, int width) {
  int threads = 64;
  filter<<<8, threads, (sections + sections * width) * sizeof(float)>>>(x, sections, samples, width);
}
