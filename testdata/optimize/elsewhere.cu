// Code that the proof of one kernel does not see: other ways to execute a place or to launch a
// kernel, and the host that takes part by memory.

__device__ void put(int *s, int i, int v) {
    s[i] = v;
    __syncthreads(); // keep: another kernel calls this by a pointer, and reads what others wrote
}

typedef void (*Put)(int *, int, int);
__constant__ Put chosen = put;

__global__ void own(int *out) {
    __shared__ int s[128];
    put(s, threadIdx.x, threadIdx.x);
    out[blockIdx.x * 128 + threadIdx.x] = s[threadIdx.x];
}

__global__ void others(int *out) {
    __shared__ int s[128];
    chosen(s, threadIdx.x, threadIdx.x);
    out[blockIdx.x * 128 + threadIdx.x] = s[127 - threadIdx.x];
}

// The launch in the file has one warp; the pointer to the kernel may launch more.
__global__ void byPointer(int *out) {
    __shared__ int s[1024];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads(); // keep: the sizes of blocks are not all known
    out[blockIdx.x * 1024 + threadIdx.x] = s[blockDim.x - 1 - threadIdx.x];
}

// Threads may read different values, since the host changes what is volatile.
__global__ void stopped(volatile int *stop, int *out) {
    __shared__ int s[128];
    int t = threadIdx.x, now = *stop, v = 5;
    if (now)
        s[t] = 1;
    __syncthreads(); // keep: one thread may store where another one reads
    if (!now)
        v = s[t ^ 64];
    out[blockIdx.x * 128 + t] = v;
}

// The host fills the array before it sets the flag, for which one thread waits.
__global__ void waits(volatile int *go, int *out) {
    if (threadIdx.x == 0) {
        while (*go == 0) {
        }
        __threadfence_system(); // keep: it orders the flag and the array
    }
    __syncthreads(); // keep: all threads store after the host has stored
    out[blockIdx.x * 128 + threadIdx.x] = 1;
}

// The host uses the array again once the flag is set.
__global__ void releases(const int *in, volatile int *done, int *out) {
    int i = blockIdx.x * 128 + threadIdx.x, v = in[i];
    __threadfence_system(); // keep: the array is read before the flag is set
    __syncthreads(); // keep: by all threads
    if (threadIdx.x == 0)
        done[blockIdx.x] = 1;
    out[i] = v;
}

// Sums of numbers of different sizes depend on their order, which barriers decide and fences do not.
__global__ void rounded(float *out, const float *v) {
    __shared__ float sum;
    int t = threadIdx.x;
    if (t == 0)
        sum = 0;
    __syncthreads(); // keep: the sum begins with zero
    if (t == 96)
        atomicAdd(&sum, v[0]);
    __syncthreads(); // keep: the first of two numbers is added first
    if (t == 0)
        atomicAdd(&sum, v[1]);
    __syncthreads(); // offer: nothing: thread 0 reads after its own addition
    if (t == 0)
        out[blockIdx.x] = sum;
}

int main() {
    int *a, *b, *flag;
    float *f, *g;
    cudaMalloc(&a, 1 << 20);
    cudaMalloc(&b, 1 << 20);
    cudaMalloc(&f, 1 << 20);
    cudaMalloc(&g, 1 << 20);
    cudaHostAlloc(&flag, 4096, cudaHostAllocMapped);
    own<<<8, 128>>>(a);
    others<<<8, 128>>>(a);
    void (*again)(int *) = byPointer;
    byPointer<<<8, 32>>>(a);
    again<<<8, 256>>>(a);
    stopped<<<8, 128>>>(flag, a);
    waits<<<8, 128>>>(flag, b);
    releases<<<8, 128>>>(a, flag, b);
    rounded<<<8, 128>>>(f, g);
}
