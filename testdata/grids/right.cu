// Kernels that launch kernels, all of them right. The sections are those of the CUDA C++
// Programming Guide, "CUDA Dynamic Parallelism".

// part: the grids that the others launch
__global__ void fill(int *out, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = value;
}

// part: the grids that the others launch
__global__ void add(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] += in[i];
}

// part: the grids that the others launch
__global__ void count(int *total) { atomicAdd(total, 1); }

// part: the grids that the others launch
template <typename T> __global__ void store(T *out, T value) { out[threadIdx.x] = value; }

// clean: what the thread does before the launch is visible to the grid ("Memory Coherence and Consistency")
// heddle: grid=1 block=1
__global__ void writes_before(int *out, int *in) {
    in[0] = 5;
    in[1] = 6;
    add<<<1, 32>>>(out, in, 2);
}

// clean: the barrier puts the writes of the block before the launch by its thread 0 ("Global Memory")
// heddle: grid=1 block=128
__global__ void barrier_before(int *out, int *in) {
    in[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        add<<<1, 128>>>(out, in, 128);
}

// clean: the barrier puts the reads of the block before the grid that overwrites what they read
// heddle: grid=1 block=128
__global__ void reads_before(int *out, int *in) {
    out[threadIdx.x] = in[127 - threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0)
        fill<<<4, 32>>>(in, 128, 0);
}

// clean: launches of one block into its NULL stream are executed one after the other ("Streams")
// heddle: grid=1 block=64
__global__ void null_stream(int *out) { fill<<<1, 32>>>(out, 32, threadIdx.x); }

// clean: the second grid of the stream follows the first, whose results it reads
// heddle: grid=4 block=1
__global__ void chain(int *out, int *in) {
    int at = 32 * blockIdx.x;
    fill<<<1, 32>>>(in + at, 32, 1);
    add<<<1, 32>>>(out + at, in + at, 32);
}

// clean: the two grids are in one stream, which the thread has created
// heddle: grid=1 block=1
__global__ void created_stream(int *out, int *in) {
    cudaStream_t s;
    if (cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking) != cudaSuccess)
        __trap();
    fill<<<1, 32, 0, s>>>(in, 32, 1);
    add<<<1, 32, 0, s>>>(out, in, 32);
    cudaStreamDestroy(s);
}

// clean: nothing orders the grids, and each writes a part of its own ("Fire-and-Forget Launch")
// heddle: grid=2 block=4
__global__ void apart(int *out) {
    int part = blockIdx.x * blockDim.x + threadIdx.x;
    fill<<<1, 32, 0, cudaStreamFireAndForget>>>(out + 32 * part, 32, part);
}

// clean: atomic operations of device scope, of several grids and their parent, do not race
// heddle: grid=2 block=4
__global__ void atomics(int *total) {
    count<<<2, 32, 0, cudaStreamFireAndForget>>>(total);
    atomicAdd(total, 1);
}

// clean: a tail launch begins when the grid and all that it has launched have ended ("Tail Launch Stream")
// heddle: grid=2 block=1
__global__ void tail(int *out, int *in) {
    fill<<<1, 32, 0, cudaStreamFireAndForget>>>(in + 32 * blockIdx.x, 32, 1);
    out[32 * blockIdx.x] = 1;
    if (blockIdx.x == 0)
        add<<<2, 32, 0, cudaStreamTailLaunch>>>(out, in, 64);
}

// clean: tail launches of one grid follow each other in the order of their launches
// heddle: grid=1 block=1
__global__ void tails(int *out, int *in) {
    fill<<<1, 32, 0, cudaStreamTailLaunch>>>(in, 32, 1);
    add<<<1, 32, 0, cudaStreamTailLaunch>>>(out, in, 32);
}

// part: the grids that the others launch
__global__ void later(int *out) { fill<<<1, 32, 0, cudaStreamTailLaunch>>>(out, 32, 3); }

// clean: a grid is complete when its own tail launch is, and the next grid of the stream waits for that
// heddle: grid=1 block=1
__global__ void tail_of_child(int *out, int *in) {
    later<<<1, 1>>>(in);
    add<<<1, 32>>>(out, in, 32);
}

// clean: the halves are apart, and each grid adds them up when its children have ended
// heddle: grid=1 block=1 n=64
__global__ void total(int *data, int n) {
    if (n == 2) {
        data[0] += data[1];
    } else if (n > 2) {
        total<<<1, 1, 0, cudaStreamFireAndForget>>>(data, n / 2);
        total<<<1, 1, 0, cudaStreamFireAndForget>>>(data + n / 2, n / 2);
        add<<<1, 1, 0, cudaStreamTailLaunch>>>(data, data + n / 2, 1);
    }
}

// part: a function for both sides, called by the next kernel
__host__ __device__ void both(int *out) { fill<<<1, 32>>>(out, 32, 2); }

// clean: its launches write apart from each other, whatever names their kernels
// heddle: grid=1 block=1
__global__ void forms(int *out, float *other) {
    both(out);
    store<int><<<1, 32>>>(out + 32, 1);
    store<<<1, 32>>>(other, 2.0f);
    ::store<float><<<dim3(1),
                     dim3(8, 4)>>>(other + 32, 2); // an int for a float
}

// part: the grids that the others launch
__global__ void reversed(int *out) {
    extern __shared__ int copy[];
    copy[threadIdx.x] = out[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = copy[blockDim.x - 1 - threadIdx.x];
}

// clean: the grid has the shared memory that its launch gives it
// heddle: grid=1 block=1
__global__ void shared_memory(int *out) { reversed<<<1, 64, 64 * sizeof(int)>>>(out); }

// part: a check of the next kernel's grids
__global__ void unchanged(const int *out) {
    if (out[0] != 0)
        __trap();
}

// clean: a launch that the device rejects gives an error and has no effect ("Launch Setup and Errors")
// heddle: grid=1 block=1 out=zero:4
__global__ void errors(int *out) {
    fill<<<1, 2048>>>(out, 1, 1);
    if (cudaPeekAtLastError() != cudaErrorInvalidConfiguration)
        __trap();
    if (cudaGetLastError() != cudaErrorInvalidConfiguration || cudaGetLastError() != cudaSuccess)
        __trap();
    fill<<<0, 32>>>(out, 1, 1);
    if (cudaGetLastError() != cudaErrorInvalidConfiguration)
        __trap();
    fill<<<1, 32, 1 << 20>>>(out, 1, 1);
    if (cudaGetLastError() != cudaErrorInvalidValue)
        __trap();
    fill<<<1, 32, 0, (cudaStream_t)12345>>>(out, 1, 1);
    if (cudaGetLastError() != cudaErrorInvalidResourceHandle)
        __trap();
    unchanged<<<1, 1>>>(out);
}

// part: a check of the next kernel
__global__ void deepest(const int *out) {
    if (*out != 24)
        __trap();
}

// clean: 24 levels of grids are possible below that of the host ("Nesting Depth")
// heddle: grid=1 block=1 out=zero:4 depth=0
__global__ void deep(int *out, int depth) {
    deep<<<1, 1>>>(out, depth + 1);
    cudaError_t error = cudaGetLastError();
    if (error == cudaErrorLaunchMaxDepthExceeded)
        *out = depth;
    else if (error != cudaSuccess)
        __trap();
    if (depth == 0)
        deepest<<<1, 1, 0, cudaStreamTailLaunch>>>(out);
}

// clean: copies and sets are in the order of their stream, as grids are
// heddle: grid=1 block=1 out=zero:128 in=zero:128
__global__ void copies(int *out, int *in) {
    cudaMemsetAsync(in, 1, 128, 0);
    cudaMemcpyAsync(out, in, 128, cudaMemcpyDeviceToDevice, 0);
    add<<<1, 32>>>(out, in, 32);
}

// part: the grids that the next kernel launches
__global__ void reset(int *counter) { *counter = 0; }

// clean: the last atomic has observed all others, which precede whatever follows it (PTX ISA 8.9.5)
// heddle: grid=8 block=64
__global__ void last_resets(int *counter) {
    if (threadIdx.x == 0 && atomicAdd(counter, 1) == 7)
        reset<<<1, 1>>>(counter);
}

// part: the grids that the next kernel launches
__global__ void sum_up(int *out, const int *in, int n) {
    for (int i = 0; i < n; i++)
        *out += in[i];
}

// clean: with fences the last thread knows what all threads did ("Memory Fence Functions")
// heddle: grid=2 block=64
__global__ void last_with_fence(int *out, int *in, int *counter) {
    in[blockIdx.x * 64 + threadIdx.x] = 1;
    __threadfence();
    if (atomicAdd(counter, 1) == 127) {
        __threadfence();
        sum_up<<<1, 1>>>(out, in, 128);
    }
}

// clean: the second stream waits for the event, which is behind the first grid ("Events")
// heddle: grid=1 block=1
__global__ void event_between_streams(int *out, int *in) {
    cudaStream_t s, t;
    cudaEvent_t e;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    if (cudaEventCreateWithFlags(&e, cudaEventDisableTiming) != cudaSuccess)
        __trap();
    fill<<<1, 32, 0, s>>>(in, 32, 1);
    cudaEventRecord(e, s);
    cudaStreamWaitEvent(t, e, 0);
    add<<<1, 32, 0, t>>>(out, in, 32);
    if (cudaEventDestroy(e) != cudaSuccess || cudaEventDestroy(e) != cudaErrorInvalidResourceHandle)
        __trap();
    cudaStreamDestroy(s);
    cudaStreamDestroy(t);
}

// clean: as the kernel above, with the default arguments that the host's functions have in C++
// heddle: grid=1 block=1
__global__ void event_defaults(int *out, int *in) {
    cudaStream_t t;
    cudaEvent_t e;
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    fill<<<1, 32>>>(in, 32, 1);
    cudaEventRecord(e);
    cudaStreamWaitEvent(t, e);
    add<<<1, 32, 0, t>>>(out, in, 32);
    cudaEventRecordWithFlags(e);
}

// clean: barriers order the calls of the threads, and an event behind a wait stands for what that waits for
// heddle: grid=1 block=96
__global__ void events_of_threads(int *out, int *in) {
    __shared__ cudaStream_t s[3];
    __shared__ cudaEvent_t e[2];
    int t = threadIdx.x / 32;
    if (threadIdx.x % 32 == 0)
        cudaStreamCreateWithFlags(&s[t], cudaStreamNonBlocking);
    if (threadIdx.x < 2)
        cudaEventCreateWithFlags(&e[threadIdx.x], cudaEventDisableTiming);
    __syncthreads();
    if (threadIdx.x == 5) {
        fill<<<1, 32, 0, s[0]>>>(in, 32, 1);
        cudaEventRecord(e[0], s[0]);
    }
    __syncthreads();
    if (threadIdx.x == 40) {
        cudaStreamWaitEvent(s[1], e[0], 0);
        cudaEventRecord(e[1], s[1]);
    }
    __syncthreads();
    if (threadIdx.x == 70)
        cudaStreamWaitEvent(s[2], e[1], 0);
    __syncthreads();
    if (threadIdx.x == 90)
        add<<<1, 32, 0, s[2]>>>(out, in, 32);
}

// clean: a wait has no effect before a record; named streams have no events, and events no times
// heddle: grid=1 block=1
__global__ void event_errors(int *out) {
    cudaEvent_t e, other;
    if (cudaEventCreateWithFlags(&other, 0) != cudaErrorInvalidValue)
        __trap();
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    cudaStreamWaitEvent(0, e, 0);
    if (cudaEventRecord(e, cudaStreamTailLaunch) != cudaErrorInvalidValue ||
        cudaEventRecord(e, (cudaStream_t)12345) != cudaErrorInvalidResourceHandle)
        __trap();
    fill<<<1, 32>>>(out, 32, 1);
}
