// Barriers of the block that a barrier of the warp may replace, and barriers that it may not. Every
// kernel is right as it is. "offer: X" says what is expected in place of the call in that line, and
// "keep" that nothing is; the reason follows.

// Each lane reads what its neighbour in the warp wrote: thread t ^ 1 is in the warp of t.
__global__ void exchange(int *out, const int *in) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * blockDim.x + t];
    __syncthreads(); // offer: __syncwarp(): t and t ^ 1 differ in the lowest bit only
    out[blockIdx.x * blockDim.x + t] = s[t ^ 1];
}

// A tree over the lanes of each warp.
__global__ void warpSums(int *out, const int *in) {
    __shared__ int s[128];
    int t = threadIdx.x, lane = t & 31;
    s[t] = in[blockIdx.x * 128 + t];
    __syncthreads(); // offer: __syncwarp(): the first step reads t + 16 in the same warp
    for (int d = 16; d > 0; d >>= 1) {
        int v = lane < d ? s[t + d] : 0;
        __syncthreads(); // offer: nothing: lanes from d on are read, and those below d are written
        if (lane < d)
            s[t] += v;
        __syncthreads(); // offer: __syncwarp(): orders these writes before the next reads
    }
    if (lane == 0)
        out[blockIdx.x * 4 + t / 32] = s[t];
}

// The last warp has 16 threads: lanes that do not exist are not waited for.
__global__ void shortWarp(int *out) {
    __shared__ int s[48];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads(); // offer: __syncwarp(): 48 threads; t ^ 1 is in the same warp
    out[t] = s[t ^ 1];
}

// Nothing is shared before the first barrier that another thread reads.
__global__ void useless(int *out, const int *in) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads(); // offer: nothing: each thread reads its own element
    out[t] = s[t];
}

// Sums of which nobody reads the result on the way do not depend on the barrier.
__global__ void sums(int *total, const int *in) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads(); // offer: __syncwarp(): only the neighbour's element is read
    atomicAdd(total, s[t ^ 3]);
}

// The barrier orders global memory between warps.
__global__ void globalRow(int *row, int *out) {
    int t = threadIdx.x;
    row[t] = 2 * t;
    __syncthreads(); // keep: thread 0 reads what thread 255 wrote, in global memory
    out[t] = row[255 - t];
}

// In blocks of 32 threads a barrier of the warp would do; in those of 64 it would not.
__global__ void twoSizes(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads(); // keep: launched with 64 threads as well, which are two warps
    out[t] = s[blockDim.x - 1 - t];
}

// The last warp is not full, and its neighbour is in another warp.
__global__ void odd(int *out) {
    __shared__ int s[48];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads(); // keep: thread 31 reads what thread 16 wrote, and thread 0 what 47 wrote
    out[t] = s[47 - t];
}

// The barrier decides which threads take the first tickets: those of an even index.
__global__ void tickets(int *order) {
    __shared__ int next;
    int t = threadIdx.x;
    if (t == 0)
        next = 0;
    __syncthreads(); // keep: without it a ticket may be taken before the counter is reset
    if (t % 2 == 0)
        order[atomicAdd(&next, 1)] = t;
    __syncthreads(); // keep: no race needs it, but it decides that odd threads come last
    if (t % 2 == 1)
        order[atomicAdd(&next, 1)] = t;
}

// Volatile accesses that conflict are no race, but the barrier makes them meet in order.
__global__ void volatiles(volatile int *v, int *out) {
    int t = threadIdx.x;
    v[t] = t;
    __syncthreads(); // keep: out[t] is the value of another warp
    out[t] = v[127 - t];
}

// Lanes of a warp take different branches: they do not run in lock step since sm_70.
__global__ void lanes(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t & 1)
        s[t] = t;
    else
        s[t] = -t;
    __syncthreads(); // offer: __syncwarp(): removing it would be wrong, lanes are independent
    out[t] = s[t ^ 1];
}

// One thread announces to code outside the kernel what all have stored.
__global__ void publish(int *data, int *done, const int *in) {
    int i = blockIdx.x * 64 + threadIdx.x;
    data[i] = in[i];
    __syncthreads(); // keep: the store of each thread has to precede the announcement
    if (threadIdx.x == 0) {
        __threadfence(); // keep: as above
        atomicAdd(done, 1);
    }
}

// One thread waits for code outside the kernel before all read.
__global__ void await(int *out, const int *data, volatile int *flag) {
    int i = blockIdx.x * 64 + threadIdx.x;
    if (threadIdx.x == 0)
        while (*flag == 0) {
        }
    __syncthreads(); // keep: all threads read after thread 0 has seen the flag
    out[i] = data[i];
}

// The pairs that two barriers separate: each could go alone, not both.
__global__ void either(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads(); // offer: nothing: the other one is left
    __syncthreads(); // keep: now it alone separates the warps
    out[t] = s[63 - t];
}

int main() {
    int *a, *b, *c;
    cudaMalloc(&a, 1 << 20);
    cudaMalloc(&b, 1 << 20);
    cudaMalloc(&c, 1 << 20);
    exchange<<<16, 256>>>(a, b);
    exchange<<<16, 128>>>(a, b);
    warpSums<<<16, 128>>>(a, b);
    shortWarp<<<1, 48>>>(a);
    useless<<<1, 64>>>(a, b);
    sums<<<1, 256>>>(a, b);
    globalRow<<<1, 256>>>(a, b);
    twoSizes<<<1, 32>>>(a);
    twoSizes<<<1, 64>>>(a);
    odd<<<1, 48>>>(a);
    tickets<<<1, 64>>>(a);
    volatiles<<<1, 128>>>(a, b);
    lanes<<<1, 64>>>(a);
    either<<<1, 64>>>(a);
    publish<<<16, 64>>>(a, b, c);
    await<<<16, 64>>>(a, b, c);
}
