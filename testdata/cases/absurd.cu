// expect: square clean|verified|unknown; guide clean|verified|unknown; tail clean|verified|unknown
// Counterexamples that no host passes: sizes that contradict each other, 0xfffffffd columns, a count near 2^64.
struct Size { unsigned w, h, columns, rows; };
__global__ void square(int *a, int width, int side) {
  int y = blockIdx.x / side, x = blockIdx.x % side;
  a[(32 * y + threadIdx.x / 32) * width + 32 * x + threadIdx.x % 32] += 1;
}
__global__ void guide(const uchar3 *from, uchar3 *to, Size s) {
  if (blockIdx.x >= s.columns || blockIdx.y >= s.rows) return;
  if (threadIdx.x == 0) to[blockIdx.y * s.columns + blockIdx.x] = from[blockIdx.y * s.w + blockIdx.x];
}
__global__ void tail(float *to, const float *from, unsigned long long n) {
  unsigned long long i = blockIdx.x * blockDim.x + threadIdx.x, fours = n / 4;
  if (i < fours)
    for (int c = 0; c < 4; c++) to[4 * i + c] = from[4 * i + c];
  for (unsigned long long j = 4 * fours + i; j < n; j += blockDim.x) to[j] = from[j];
}
void host(int *a, int n, const uchar3 *from, uchar3 *to, Size s) {
  int side = (n + 31) / 32;
  square<<<side * side, 1024>>>(a, 32 * side, side);
  guide<<<dim3(s.columns, s.rows), 32>>>(from, to, s);
}
