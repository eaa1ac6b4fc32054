// expect: scatter unknown
// The host fills the array with distinct offsets, which this file does not show. With zeros all blocks meet: that rests
// on a guess.
__global__ void scatter(float *sum, const int *start, int n) {
  int i = start[blockIdx.x] + threadIdx.x;
  if (i < n) sum[i] += 1;
}
void host(float *sum, const int *start, int blocks, int n) { scatter<<<blocks, 64>>>(sum, start, n); }
