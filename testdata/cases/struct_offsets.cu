// expect: workspace bug|unknown; tagged bug|unknown; pointers verified; address verified|clean
// Only the pointers of a struct are arrays of their own; its integers are numbers.
struct parts { char *base; size_t first, second; };
struct arrays { int *in, *out; long n; };
struct handle { unsigned long long address; };

__device__ char *aligned(char *p) { return (char *)(((size_t)p + 255) & ~(size_t)255); }

// heddle: grid=1 block=64
__global__ void workspace(parts w) { // the offsets may be equal
  char *p = aligned(w.base);
  p[w.first + threadIdx.x] = 1;
  p[w.second + 63 - threadIdx.x] = 2;
}

// heddle: grid=1 block=64
__global__ void tagged(parts w) {
  char *p = (char *)((size_t)w.base & 0x0000ffffffffffff);
  p[w.first + threadIdx.x] = 1;
  p[w.second + 63 - threadIdx.x] = 2;
}

// heddle: grid=1 block=64
__global__ void pointers(arrays a) {
  if (threadIdx.x < a.n)
    a.out[threadIdx.x] = a.in[63 - threadIdx.x];
}

// heddle: grid=1 block=64
__global__ void address(handle h) { // an integer that is cast to a pointer
  ((int *)h.address)[threadIdx.x] = 1;
}
