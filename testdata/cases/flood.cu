// expect: bodies bug race-shared, 1 cause
// One barrier is missing at the end of the loop. The six fields and their readers are one cause.
struct Body { float x, y, z, r, g, b; };
__global__ void bodies(float *out, const Body *all, int n) {
  __shared__ Body s[64];
  float sum = 0;
  for (int from = 0; from < n; from += 64) {
    s[threadIdx.x] = all[from + threadIdx.x];
    __syncthreads();
    for (int i = 0; i < 64; i++) sum += s[i].x * s[i].y + s[i].z * s[i].r + s[i].g * s[i].b;
  }
  out[64 * blockIdx.x + threadIdx.x] = sum;
}
void host(float *out, const Body *all) { bodies<<<4, 64>>>(out, all, 256); }
