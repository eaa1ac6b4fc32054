// expect: push unknown
// The loop bounds and the neighbours come from memory: random contents send a lane through 2^31 edges. The runs must
// stay within their memory, and what they show rests on guessed contents.
// heddle: grid=4 block=64 n=8
__global__ void push(const int *begin, const int *to, int *least, const int *mine, int n) {
  int v = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (v >= n) return;
  for (int e = begin[v + 1] - 1 - threadIdx.x % 32; e >= begin[v]; e -= 32)
    if (v < to[e]) least[to[e]] = min(least[to[e]], mine[v]);
}
