// Barriers of which only the first warps of the block need a part.

// The tree of a reduction: after the first step only the first half takes part.
__global__ void tree(int *out, const int *in) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 256 + t];
    __syncthreads(); // keep: the first half reads what the second half wrote
    if (t < 128)
        s[t] += s[t + 128];
    __syncthreads(); // offer: bar.sync 1, 128: threads below 128 wrote, threads below 64 read
    if (t < 64)
        s[t] += s[t + 64];
    __syncthreads(); // offer: bar.sync 2, 64: threads below 64 wrote, thread 0 reads
    if (t == 0) {
        int sum = 0;
        for (int i = 0; i < 64; i++)
            sum += s[i];
        out[blockIdx.x] = sum;
    }
}

// The same as a loop: what the second half wrote is read before the loop has a barrier.
__global__ void loop(int *out, const int *in) {
    __shared__ int s[512];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads(); // keep: threads below 256 read what the others wrote
    for (int d = 256; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads(); // offer: bar.sync 1, 256: in the loop only threads below 256 access s
    }
    if (t == 0)
        out[0] = s[0];
}

// The first 96 of 256 threads exchange among themselves.
__global__ void front(int *out) {
    __shared__ int s[96];
    int t = threadIdx.x;
    if (t < 96)
        s[t] = t;
    __syncthreads(); // offer: bar.sync 1, 96: only threads below 96 access s
    if (t < 96)
        out[t] = s[95 - t];
}

// In two launches: the count has to fit the smaller block.
__global__ void twoLaunches(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64)
        s[t] = t;
    __syncthreads(); // offer: bar.sync 1, 64: both launches have at least 64 threads
    if (t < 64)
        out[blockIdx.x * 64 + t] = s[63 - t];
}

// The last warp publishes: a naive tool looks at the code before the barrier only.
__global__ void lastWrites(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64)
        s[t] = t;
    __syncthreads(); // keep: thread 255 reads what threads below 64 wrote
    if (t == 255)
        out[0] = s[0] + s[63];
}

// The last threads write global memory that the first ones read.
__global__ void globalTail(int *data, int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64)
        s[t] = t;
    if (t >= 192)
        data[t - 192] = t;
    __syncthreads(); // keep: thread 0 reads data[0], which thread 192 wrote
    if (t < 64)
        out[t] = s[63 - t] + data[t];
}

// The end of one iteration meets the beginning of the next one.
__global__ void acrossIterations(int *out, const int *in) {
    __shared__ int s[128];
    int t = threadIdx.x;
    for (int i = 0; i < 4; i++) {
        s[t] = in[i * 128 + t];
        __syncthreads(); // keep: threads below 64 read what the others wrote
        if (t < 64)
            out[i * 64 + t] = s[t] + s[127 - t];
        __syncthreads(); // keep: threads from 64 on overwrite s in the next iteration
    }
}

// The block has two dimensions: threadIdx.x does not number its threads.
__global__ void plane(int *out) {
    __shared__ int s[64];
    int t = threadIdx.y * 32 + threadIdx.x;
    if (t < 64)
        s[t] = t;
    __syncthreads(); // keep: not expressed by threadIdx.x
    if (t < 64)
        out[t] = s[63 - t];
}

// Threads of both rows have an index below 64 in x: more than the barrier would count.
__global__ void rows(int *out) {
    __shared__ int s[64];
    int t = threadIdx.y * 128 + threadIdx.x;
    if (t < 64)
        s[t] = t;
    __syncthreads(); // keep: not expressed by threadIdx.x
    if (t < 64)
        out[t] = s[63 - t];
}

// Which thread writes depends on shared data that the first warps change in between: in the text
// without the barrier, the two reads of `turn` would seem to be equal.
__global__ void turns(int *out) {
    __shared__ int turn, s[256];
    int t = threadIdx.x;
    if (t == 0)
        turn = 0;
    __syncthreads(); // keep: all threads read turn
    int before = turn;
    __syncthreads(); // keep: thread 0 overwrites what all threads have read
    if (t == 0)
        turn = 1;
    __syncthreads(); // keep: all threads read turn again
    if (turn != before)
        s[255 - t] = t;
    __syncthreads(); // keep: s is read by other warps
    out[t] = s[t];
}

// Without both barriers, thread 0 would seem to read the same value twice, and its store would seem
// not to happen: what is read is taken to be anything.
__global__ void twice(int *out) {
    __shared__ int turn, s[256];
    int t = threadIdx.x, before = 0;
    if (t == 0) {
        turn = 0;
        before = turn;
    }
    if (t >= 128)
        s[t] = t;
    __syncthreads(); // offer: bar.sync 1, 64: turn is stored by threads 0 and 32
    if (t == 32)
        turn = 1;
    __syncthreads(); // offer: bar.sync 2, 160: thread 0 stores to s[128] behind it, as thread 128 before it
    if (t == 0 && turn != before)
        s[128] = 0;
    __syncthreads(); // offer: bar.sync 3, 160: thread 128 reads s[128]
    out[t] = t < 128 ? 0 : s[t];
}

// A launch of 32 threads would wait for 64 forever.
__global__ void smallLaunch(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    if (t < 64)
        s[t] = t;
    __syncthreads(); // keep: launched with 32 threads, too
    if (t < 64)
        out[t] = s[blockDim.x < 64 ? 31 - t : 63 - t];
}

int main() {
    int *a, *b;
    cudaMalloc(&a, 1 << 20);
    cudaMalloc(&b, 1 << 20);
    tree<<<64, 256>>>(a, b);
    loop<<<1, 512>>>(a, b);
    front<<<1, 256>>>(a);
    twoLaunches<<<4, 256>>>(a);
    twoLaunches<<<4, 128>>>(a);
    lastWrites<<<1, 256>>>(a);
    globalTail<<<1, 256>>>(a, b);
    acrossIterations<<<1, 128>>>(a, b);
    plane<<<1, dim3(32, 8)>>>(a);
    rows<<<1, dim3(128, 2)>>>(a);
    turns<<<1, 256>>>(a);
    twice<<<1, 256>>>(a);
    smallLaunch<<<1, 256>>>(a);
    smallLaunch<<<1, 32>>>(a);
}
