// Accesses beyond the end of an array of known size. Hardware checks only some of them, and an
// access outside of its array may change another one, so a proof that assumes that there are none
// must say so. Each kernel has its expected verdict with the reason, and its launch.

// bug out-of-bounds: thread 0 reads in front of the array
// heddle: grid=1 block=32
__global__ void before(int *g) {
    __shared__ int s[32];
    s[threadIdx.x] = 1;
    __syncthreads();
    g[threadIdx.x] = s[(int)threadIdx.x - 1];
}

// verified: thread 0 is kept from it
// heddle: grid=1 block=32
__global__ void before_guarded(int *g) {
    __shared__ int s[32];
    s[threadIdx.x] = 1;
    __syncthreads();
    g[threadIdx.x] = threadIdx.x > 0 ? s[(int)threadIdx.x - 1] : 0;
}

// bug out-of-bounds: a constant index in front of the array
// heddle: grid=1 block=32
__global__ void constant(int *g) {
    __shared__ int s[32];
    s[threadIdx.x] = 1;
    __syncthreads();
    g[threadIdx.x] = s[-1];
}

// bug out-of-bounds: the last iteration writes one element behind the array
// heddle: grid=1 block=8
__global__ void behind(int *g) {
    __shared__ int s[64];
    for (int i = threadIdx.x; i <= 64; i += 8)
        s[i] = i;
    __syncthreads();
    g[threadIdx.x] = s[threadIdx.x];
}

// verified: the bound of the loop is the size of the array
// heddle: grid=1 block=8
__global__ void within(int *g) {
    __shared__ int s[64];
    for (int i = threadIdx.x; i < 64; i += 8)
        s[i] = i;
    __syncthreads();
    g[threadIdx.x] = s[threadIdx.x];
}

// unknown: the index is an argument; n = 64 is beyond the array, but no launch is known to pass it
// heddle: grid=1 block=32
__global__ void argument(int *g, int n) {
    __shared__ int s[64];
    s[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x == 0)
        g[0] = s[n];
}

// verified, stays: the index is data, of which the line says what it assumes
// heddle: grid=1 block=32
__global__ void data(int *g, const int *in) {
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    g[threadIdx.x] = s[in[threadIdx.x]];
}

__device__ int table[16];
__constant__ int weights[16];

// bug out-of-bounds: threads 16 and up read behind a variable
// heddle: grid=1 block=32
__global__ void variable(int *g) { g[threadIdx.x] = table[threadIdx.x]; }

// bug out-of-bounds: threads 16 and up read behind constant memory
// heddle: grid=1 block=32
__global__ void constants(int *g) { g[threadIdx.x] = weights[threadIdx.x]; }

// verified: 16 threads, 16 elements of each
// heddle: grid=1 block=16
__global__ void variables(int *g) {
    g[threadIdx.x] = table[threadIdx.x] + weights[threadIdx.x];
}

// bug out-of-bounds: the thread's own array has 8 elements
// heddle: grid=1 block=16
__global__ void own(int *g, int k) {
    int a[8];
    for (int i = 0; i < 8; i++)
        a[i] = g[i + k];
    g[threadIdx.x] = a[threadIdx.x];
}

// verified: indices are taken modulo the size
// heddle: grid=1 block=16
__global__ void own_masked(int *g, const int *in) {
    int a[8];
    for (int i = 0; i < 8; i++)
        a[i] = in[i];
    g[threadIdx.x] = a[threadIdx.x & 7];
}

// bug out-of-bounds: a null pointer, whatever the index
// heddle: grid=1 block=32
__global__ void null_array(int *g) {
    int *a = nullptr;
    g[threadIdx.x] = a[threadIdx.x];
}

// bug out-of-bounds: thread 31 follows a null pointer
// heddle: grid=1 block=32
__global__ void null_of_one(int *g) {
    int *a = nullptr;
    if (threadIdx.x > 30)
        *a = 1;
    g[threadIdx.x] = 0;
}

// verified: no thread follows the null pointer
// heddle: grid=1 block=32
__global__ void null_of_none(int *g) {
    int *a = nullptr;
    if (threadIdx.x > 31)
        *a = 1;
    g[threadIdx.x] = 0;
}

// verified: which address an argument is, is not known
// heddle: grid=1 block=32
__global__ void null_argument(long long at) { ((int *)at)[threadIdx.x] = 1; }
