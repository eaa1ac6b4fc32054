// expect: bias clean|verified
// A grid-stride loop over a product of three guessed sizes must neither take 1e9 steps nor be cut off.
__global__ void bias(float *x, const float *b, int batch, int time, int channels) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < batch * time * channels; i += gridDim.x * blockDim.x)
    x[i] += b[i % channels];
}
void host(float *x, const float *b, int batch, int time, int channels) {
  int blocks = (batch * time * channels + 255) / 256;
  bias<<<blocks, 256>>>(x, b, batch, time, channels);
}
