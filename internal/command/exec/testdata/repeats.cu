// Each block of main launches a kernel ten times or more; repeat_test.go has what the program must
// print and how many of the launches repeat others.
#include <cstdio>
#include <cstring>
__constant__ int factor = 1;
__device__ int offset;
__managed__ int shared_offset;
__global__ void twice(const int *in, int *out) { out[threadIdx.x] = 2 * in[threadIdx.x]; }
__global__ void more(int *p) { p[threadIdx.x]++; }
__global__ void sum(const int *in, int *to) { atomicAdd(to, in[threadIdx.x]); }
__global__ void scaled(const int *in, int *out) { out[threadIdx.x] = factor * in[threadIdx.x]; }
__global__ void moved(const int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] + offset; }
__global__ void managed(const int *in, int *out) {
  out[threadIdx.x] = in[threadIdx.x] + shared_offset;
}
__global__ void print(const int *in) { if (threadIdx.x == 0) printf("%d ", in[0]); }
__global__ void timed(long long *out) { out[threadIdx.x] = clock64(); }
__global__ void heap(int *out) {
  int *p = (int *)malloc(4);
  *p = threadIdx.x, out[threadIdx.x] = *p;
  free(p);
}
__global__ void chase(int **in, int *out) { out[threadIdx.x] = in[0][threadIdx.x]; }
__global__ void fetch(cudaTextureObject_t t, int *out) {
  out[threadIdx.x] = tex1Dfetch<int>(t, threadIdx.x);
}
__global__ void scratch(const int *in, int *tmp, int *out) {
  tmp[threadIdx.x] = in[threadIdx.x] + 1; __syncthreads(); out[threadIdx.x] = tmp[31 - threadIdx.x];
}
static int value(const int *p) { int v; cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost); return v; }
template <class F> void rounds(F f) { for (int i = 0; i < 10; i++) f(i); }
int main(int argc, char **argv) {
  int *a, *b, *c, h[32], n[32];
  cudaMalloc(&a, 128), cudaMalloc(&b, 128), cudaMalloc(&c, 128);
  for (int i = 0; i < 32; i++) h[i] = 7, n[i] = i;
  cudaMemcpy(a, h, 128, cudaMemcpyHostToDevice), cudaMemset(b, 0, 128), cudaMemset(c, 0, 128);
  if (!strcmp(argv[1], "same")) {
    rounds([&](int) { twice<<<1, 32>>>(a, b); }); printf("%d", value(b));
  }
  if (!strcmp(argv[1], "other input")) {
    rounds([&](int i) { h[0] = i; cudaMemcpy(a, h, 128, cudaMemcpyHostToDevice);
    twice<<<1, 32>>>(a, b); printf("%d ", value(b)); });
  }
  if (!strcmp(argv[1], "input again")) {
    rounds([&](int i) { if (i == 5) h[3] = 1;
    cudaMemcpy(a, h, 128, cudaMemcpyHostToDevice); twice<<<1, 32>>>(a, b);
    printf("%d ", value(b + 3)); });
  }
  if (!strcmp(argv[1], "output overwritten")) {
    rounds([&](int i) { cudaMemset(b, 0, 128); twice<<<1, 32>>>(a, b);
    printf("%d ", value(b + i)); });
  }
  if (!strcmp(argv[1], "in place")) {
    rounds([&](int) { more<<<1, 32>>>(a); printf("%d ", value(a)); });
  }
  if (!strcmp(argv[1], "in place, input again")) {
    rounds([&](int) { cudaMemcpy(a, n, 128, cudaMemcpyHostToDevice);
    more<<<1, 32>>>(a); printf("%d ", value(a + 3)); });
  }
  if (!strcmp(argv[1], "atomics")) {
    rounds([&](int) { cudaMemset(b, 0, 4); sum<<<1, 32>>>(a, b); printf("%d ", value(b)); });
  }
  if (!strcmp(argv[1], "atomics, not reset")) {
    rounds([&](int) { sum<<<1, 32>>>(a, b); }); printf("%d", value(b));
  }
  if (!strcmp(argv[1], "scratch")) {
    rounds([&](int) { scratch<<<1, 32>>>(a, b, c); }); printf("%d", value(c));
  }
  if (!strcmp(argv[1], "constant memory")) {
    rounds([&](int i) { if (i % 3 == 0) cudaMemcpyToSymbol(factor, &i, 4);
    scaled<<<1, 32>>>(a, b); printf("%d ", value(b)); });
  }
  if (!strcmp(argv[1], "variable")) {
    rounds([&](int i) { i /= 9; cudaMemcpyToSymbol(offset, &i, 4); moved<<<1, 32>>>(a, b);
    printf("%d ", value(b)); });
  }
  // The host may change these while the kernel runs.
  if (!strcmp(argv[1], "managed variable")) {
    rounds([&](int i) { shared_offset = i / 9; managed<<<1, 32>>>(a, b);
    printf("%d ", value(b)); });
  }
  if (!strcmp(argv[1], "managed memory")) {
    int *m; cudaMallocManaged(&m, 128); memcpy(m, h, 128);
    rounds([&](int i) { twice<<<1, 32>>>(m, b); }); printf("%d", value(b));
  }
  if (!strcmp(argv[1], "pinned memory")) {
    int *m; cudaMallocHost(&m, 128); rounds([&](int i) { twice<<<1, 32>>>(a, m); });
    cudaDeviceSynchronize(); printf("%d", m[0]);
  }
  if (!strcmp(argv[1], "printf")) {
    rounds([&](int) { print<<<1, 32>>>(a); });
  }
  if (!strcmp(argv[1], "clock")) {
    rounds([&](int) { timed<<<1, 16>>>((long long *)b); });
  }
  if (!strcmp(argv[1], "heap")) {
    rounds([&](int) { heap<<<1, 32>>>(b); }); printf("%d", value(b + 9));
  }
  if (!strcmp(argv[1], "pointers")) {
    int *p[2] = {a, c}; cudaMemcpy(b, p, 8, cudaMemcpyHostToDevice); int *to = b + 8;
    cudaMemcpy(c, n, 96, cudaMemcpyHostToDevice);
    rounds([&](int i) { if (i == 4) cudaMemcpy(b, p + 1, 8, cudaMemcpyHostToDevice);
    if (i == 8) cudaMemset(c + 2, 0, 4);
    chase<<<1, 24>>>((int **)b, to); printf("%d ", value(to + 2)); });
  }
  // The object may get another meaning under the same handle.
  if (!strncmp(argv[1], "texture", 7)) {
    cudaResourceDesc r = {}; cudaTextureDesc d = {}; cudaTextureObject_t t;
    r.resType = cudaResourceTypeLinear; r.res.linear.devPtr = a; r.res.linear.sizeInBytes = 128;
    r.res.linear.desc = cudaCreateChannelDesc<int>(); cudaCreateTextureObject(&t, &r, &d, NULL);
    rounds([&](int) { fetch<<<1, 32>>>(t, b); }); printf("%d", value(b + 3));
    if (argv[1][7]) {
      cudaMemset(a, 0, 128), fetch<<<1, 32>>>(t, b); printf(" %d", value(b + 3));
      cudaMemcpy(c, n, 128, cudaMemcpyHostToDevice), cudaDestroyTextureObject(t);
      r.res.linear.devPtr = c, cudaCreateTextureObject(&t, &r, &d, NULL);
      rounds([&](int) { fetch<<<1, 32>>>(t, b); }); printf(" %d", value(b + 3));
    }
  }
  if (!strcmp(argv[1], "freed")) {
    rounds([&](int i) { if (i == 5) cudaFree(b); twice<<<1, 32>>>(a, b); });
  }
  if (!strcmp(argv[1], "other shape")) {
    rounds([&](int i) { twice<<<1, 16 + i>>>(a, b); }); printf("%d", value(b));
  }
  if (!strcmp(argv[1], "other arguments")) {
    rounds([&](int i) { twice<<<1, 16>>>(a + i, b); }); printf("%d", value(b));
  }
  // A repeat takes part in the order between streams.
  if (!strcmp(argv[1], "streams")) {
    cudaStream_t s, t; cudaStreamCreate(&s), cudaStreamCreate(&t);
    rounds([&](int) { twice<<<1, 32, 0, s>>>(a, b); }); cudaDeviceSynchronize();
    twice<<<1, 32, 0, s>>>(a, b), more<<<1, 32, 0, t>>>(b);
  }
  if (!strcmp(argv[1], "streams, in order")) {
    cudaStream_t s, t; cudaStreamCreate(&s), cudaStreamCreate(&t);
    rounds([&](int) { twice<<<1, 32, 0, s>>>(a, b); }); cudaDeviceSynchronize();
    more<<<1, 32, 0, t>>>(b);
  }
  if (!strcmp(argv[1], "reset")) {
    rounds([&](int i) { if (i == 5) { cudaDeviceReset(); cudaMalloc(&a, 128), cudaMalloc(&b, 128);
    cudaMemset(a, 0, 128); } twice<<<1, 32>>>(a, b); printf("%d ", value(b)); });
  }
  return 0;
}
