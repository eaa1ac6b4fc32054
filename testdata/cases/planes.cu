// expect: planes clean|verified|unknown; stripes clean|verified|unknown
// The grid is computed from the sizes that are arguments too. Right for every pitch >= w; guesses that break the relation
// must not be a bug.
__global__ void planes(float *to, const float *from, int w, int h, int pitch, int plane) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  int at = blockIdx.z * plane + y * pitch + x;
  if (x < w && y < h) to[at] = from[at];
}
__global__ void stripes(float *to, const float *from, int pitch) {
  int x = 128 * blockIdx.x + threadIdx.x, y = 4 * blockIdx.y + threadIdx.y;
  for (int i = 0; i < 128; i += 16) to[y * pitch + x + i] = from[y * pitch + x + i];
}
void host(float *to, const float *from, int w, int h, int pitch, int n) {
  dim3 block(16, 16), grid((w + 15) / 16, (h + 15) / 16, n);
  planes<<<grid, block>>>(to, from, w, h, pitch, pitch * h);
  stripes<<<dim3(w / 128, h / 4), dim3(16, 4)>>>(to, from, w);
}
