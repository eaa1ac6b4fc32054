// Kernels that launch kernels, each with one mistake. The sections are those of the CUDA C++
// Programming Guide, "CUDA Dynamic Parallelism". Marks after @ name the lines of the finding.

// part: the grids that the others launch
__global__ void fill(int *out, int n, int value) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = value; // @fill
}

// part: the grids that the others launch
__global__ void add(int *out, const int *in, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] += in[i]; // @add
}

// race-grid @fill @reads1 @launch1: nothing in a kernel waits for a grid that it has launched
// heddle: grid=1 block=1
__global__ void reads_result(int *out, int *in) {
    fill<<<1, 32>>>(in, 32, 1); // @launch1
    out[0] = in[5]; // @reads1
}

// race-grid @fill @reads2 @launch2: a barrier waits for the threads of its block and not for their grids
// heddle: grid=1 block=64
__global__ void barrier_is_no_wait(int *out, int *in) {
    if (threadIdx.x == 0)
        fill<<<2, 32>>>(in, 64, 1); // @launch2
    __syncthreads();
    out[threadIdx.x] = in[threadIdx.x]; // @reads2
}

// race-grid @add @writes3 @launch3: the grid may read before or after the write behind the launch
// heddle: grid=1 block=1
__global__ void writes_after(int *out, int *in) {
    add<<<1, 32>>>(out, in, 32); // @launch3
    in[3] = 1; // @writes3
}

// race-grid @add @writes4 @launch4: nothing puts the writes of the other threads before the launch
// heddle: grid=1 block=64
__global__ void no_barrier(int *out, int *in) {
    in[threadIdx.x] = 1; // @writes4
    if (threadIdx.x == 0)
        add<<<2, 32>>>(out, in, 64); // @launch4
}

// race-grid @fill @launch5: each block has a NULL stream of its own ("Streams")
// heddle: grid=2 block=1
__global__ void two_blocks(int *out) {
    fill<<<1, 32>>>(out, 32, blockIdx.x); // @launch5
}

// race-grid @fill @launch6a @launch6b: fire-and-forget launches are in no order
// heddle: grid=1 block=1
__global__ void fire_and_forget(int *out) {
    fill<<<1, 32, 0, cudaStreamFireAndForget>>>(out, 32, 1); // @launch6a
    fill<<<1, 32, 0, cudaStreamFireAndForget>>>(out, 32, 2); // @launch6b
}

// race-grid @fill @add @launch7a @launch7b: two streams are in no order
// heddle: grid=1 block=1
__global__ void two_streams(int *out, int *in) {
    cudaStream_t s, t;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    fill<<<1, 32, 0, s>>>(in, 32, 1); // @launch7a
    add<<<1, 32, 0, t>>>(out, in, 32); // @launch7b
}

// race-grid @fill @add @launch8a @launch8b: a created stream does not wait for the NULL stream
// heddle: grid=1 block=1
__global__ void null_and_created(int *out, int *in) {
    cudaStream_t s;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    fill<<<1, 32>>>(in, 32, 1); // @launch8a
    add<<<1, 32, 0, s>>>(out, in, 32); // @launch8b
}

// part: the grids that the next kernel launches
__global__ void between(int *out) { fill<<<1, 32>>>(out, 32, 1); }

// race-grid @fill @reads9 @launch9: a grid below the launched one has written it
// heddle: grid=1 block=1
__global__ void grandchild(int *out, int *in) {
    between<<<1, 1>>>(in); // @launch9
    out[0] = in[31]; // @reads9
}

// part: the grids that the next kernel launches
__global__ void count(int *total) {
    atomicAdd(total, 1); // @count
}

// race-grid @count @reads10 @launch10: a plain read races with an atomic operation
// heddle: grid=1 block=1
__global__ void plain_read(int *out, int *total) {
    count<<<1, 32>>>(total); // @launch10
    out[0] = *total; // @reads10
}

// race-grid @fill @writes11 @launch11: the barrier is behind the launch
// heddle: grid=1 block=64
__global__ void barrier_behind(int *out) {
    out[threadIdx.x] = 1; // @writes11
    if (threadIdx.x == 0)
        fill<<<2, 32>>>(out, 64, 0); // @launch11
    __syncthreads();
}

// part: the grids that the next kernel launches, with a race
__global__ void all_write(int *out) {
    *out = threadIdx.x; // @all
}

// race-global @all @launch12: the threads of the launched grid race with each other
// heddle: grid=1 block=1
__global__ void race_in_child(int *out) {
    all_write<<<1, 32>>>(out); // @launch12
}

// out-of-bounds @fill @launch13: the launched grid writes 33 elements of 32
// heddle: grid=1 block=1 out=zero:128
__global__ void child_out_of_bounds(int *out) {
    fill<<<2, 32>>>(out, 33, 1); // @launch13
}

// part: the grids that the next kernel launches, with a barrier that some threads miss
__global__ void diverges(int *out) {
    if (threadIdx.x % 32 < 16)
        __syncthreads(); // @barrier
    out[threadIdx.x] = 1;
}

// barrier-divergence @barrier @launch14: half of each warp of the launched grid misses the barrier
// heddle: grid=1 block=1
__global__ void child_diverges(int *out) {
    diverges<<<1, 64>>>(out); // @launch14
}

// race-grid @halves @launch15a @launch15b: the parts have an element in common
// heddle: grid=1 block=1 n=16
__global__ void halves(int *data, int n) {
    if (n <= 4) {
        for (int i = 0; i <= n; i++)
            data[i] = n; // @halves
        return;
    }
    halves<<<1, 1, 0, cudaStreamFireAndForget>>>(data, n / 2); // @launch15a
    halves<<<1, 1, 0, cudaStreamFireAndForget>>>(data + n / 2, n / 2); // @launch15b
}

// race-grid @copy16 @reads16: nothing waits for a copy that a kernel enqueues
// heddle: grid=1 block=1 out=zero:128 in=zero:128
__global__ void reads_copied(int *out, int *in) {
    cudaMemcpyAsync(out, in, 128, cudaMemcpyDeviceToDevice, cudaStreamFireAndForget); // @copy16
    in[0] = out[3]; // @reads16
}

// out-of-bounds @set17: 128 bytes of 64
// heddle: grid=1 block=1 out=zero:64
__global__ void sets_too_much(int *out) {
    cudaMemsetAsync(out, 0, 128, 0); // @set17
}

// out-of-bounds @launch18: a grid cannot access local memory of its parent ("Shared and Local Memory")
// heddle: grid=1 block=1
__global__ void local_memory(int *out) {
    int mine[32];
    mine[out[0] & 31] = 0;
    fill<<<1, 32>>>(mine, 32, 1); // @launch18
    out[0] = mine[out[1] & 31];
}

// out-of-bounds @launch19: nor shared memory
// heddle: grid=1 block=1
__global__ void shared_memory(int *out) {
    __shared__ int ours[32];
    fill<<<1, 32>>>(ours, 32, 1); // @launch19
    out[0] = ours[1];
}

// part: the grids that the next kernel launches
__global__ void sum_up(int *out, const int *in, int n) {
    for (int i = 0; i < n; i++)
        *out += in[i]; // @sum
}

// race-grid @sum @writes20 @launch20: the atomics order themselves, and not what their threads did before
// heddle: grid=2 block=64
__global__ void last_without_fence(int *out, int *in, int *counter) {
    in[blockIdx.x * 64 + threadIdx.x] = 1; // @writes20
    if (atomicAdd(counter, 1) == 127)
        sum_up<<<1, 1>>>(out, in, 128); // @launch20
}

// race-grid @fill @add @launch21a @launch21b: the event is recorded in front of the first grid, and stands for nothing ("Events")
// heddle: grid=1 block=1
__global__ void event_too_early(int *out, int *in) {
    cudaStream_t s, t;
    cudaEvent_t e;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    cudaEventRecord(e, s);
    fill<<<1, 32, 0, s>>>(in, 32, 1); // @launch21a
    cudaStreamWaitEvent(t, e, 0);
    add<<<1, 32, 0, t>>>(out, in, 32); // @launch21b
}

// race-grid @fill @add @launch22a @launch22b: the wait is in front of the record, and waits for nothing
// heddle: grid=1 block=1
__global__ void wait_too_early(int *out, int *in) {
    cudaStream_t s, t;
    cudaEvent_t e;
    cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
    cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    fill<<<1, 32, 0, s>>>(in, 32, 1); // @launch22a
    cudaStreamWaitEvent(t, e, 0);
    cudaEventRecord(e, s);
    add<<<1, 32, 0, t>>>(out, in, 32); // @launch22b
}

// race-grid @fill @reads23 @launch23: an event holds back streams, and not the thread
// heddle: grid=1 block=1
__global__ void event_is_no_wait(int *out, int *in) {
    cudaEvent_t e;
    cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    fill<<<1, 32>>>(in, 32, 1); // @launch23
    cudaEventRecord(e, 0);
    cudaStreamWaitEvent(0, e, 0);
    out[0] = in[5]; // @reads23
}

// race-grid @fill @add @launch24a @launch24b: no barrier orders the wait with the record, which may come later
// heddle: grid=1 block=64
__global__ void record_by_other_thread(int *out, int *in) {
    __shared__ cudaStream_t s, t;
    __shared__ cudaEvent_t e;
    if (threadIdx.x == 0) {
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        fill<<<1, 32, 0, s>>>(in, 32, 1); // @launch24a
        cudaEventRecord(e, s);
    }
    if (threadIdx.x == 32) {
        cudaStreamWaitEvent(t, e, 0);
        add<<<1, 32, 0, t>>>(out, in, 32); // @launch24b
    }
}

// race-grid @fill @add @launch25a @launch25b: no barrier orders the record with the launch, which may come later
// heddle: grid=1 block=64
__global__ void launch_by_other_thread(int *out, int *in) {
    __shared__ cudaStream_t s, t;
    __shared__ cudaEvent_t e;
    if (threadIdx.x == 0) {
        cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&e, cudaEventDisableTiming);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        fill<<<1, 32, 0, s>>>(in, 32, 1); // @launch25a
    if (threadIdx.x == 32)
        cudaEventRecord(e, s);
    __syncthreads();
    if (threadIdx.x == 32) {
        cudaStreamWaitEvent(t, e, 0);
        add<<<1, 32, 0, t>>>(out, in, 32); // @launch25b
    }
}
