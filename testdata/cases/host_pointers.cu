// expect: lookup clean|verified|unknown; blur clean|verified|unknown
// A pointer variable that the host sets is not null, and a pointer into the middle of a buffer has memory before it.
__device__ float *table;
__global__ void lookup(float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = table[i];
}
__global__ void blur(float *out, const float *image, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float sum = 0;
  for (int d = -4; d <= 4; d++) sum += image[i + d];
  if (i < n) out[i] = sum;
}
void host(float *out, float *values, float *padded, int n) {
  cudaMemcpyToSymbol(table, &values, sizeof values);
  lookup<<<4, 64>>>(out, n);
  blur<<<(n + 255) / 256, 256>>>(out, padded + 4, n);
}
