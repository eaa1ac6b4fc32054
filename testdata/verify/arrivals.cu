// The last block to arrive at a counter continues with the parts of all blocks. Each kernel has its
// expected verdict with the reason, and its launch. Where a verdict rests on a counter that is 0 at
// the start ("done is 0"), the proof has used that the last arrival observes all others
// (PTX ISA 8.8, 8.9.4); "unknown" marks right kernels that this rule does not cover.
#include <cuda/atomic>

__device__ int part[64];
__device__ int wide[64 * 64];
__device__ unsigned done;

// The leader publishes its part, arrives, and tells its block whether it is the last.
#define ARRIVE(BEFORE, ADD, LAST, AFTER)                                                           \
    __shared__ bool last;                                                                          \
    if (threadIdx.x == 0) {                                                                        \
        part[blockIdx.x] = blockIdx.x;                                                             \
        BEFORE;                                                                                    \
        last = ADD == LAST;                                                                        \
        AFTER;                                                                                     \
    }                                                                                              \
    __syncthreads();

// verified, done: fences on both sides of the atomic, and a barrier behind
// heddle: grid=4 block=64
__global__ void fenced(int *out) {
    ARRIVE(__threadfence(), atomicAdd(&done, 1), gridDim.x - 1, __threadfence());
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// verified, done: the number that the atomic wraps at is larger than any that it returns
// heddle: grid=4 block=64
__global__ void increments(int *out) {
    ARRIVE(__threadfence(), atomicInc(&done, gridDim.x), gridDim.x - 1, __threadfence());
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// verified, done: the counter wraps to 0 by the last arrival, and not before
// heddle: grid=4 block=64
__global__ void wraps(int *out) {
    ARRIVE(__threadfence(), atomicInc(&done, gridDim.x - 1), gridDim.x - 1, __threadfence());
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// verified, done: only the last arriver resets the counter, behind all additions; of these it
// has observed each (8.9.5, second rule)
// heddle: grid=4 block=64
__global__ void resets(int *out) {
    ARRIVE(__threadfence(), atomicAdd(&done, 1), gridDim.x - 1, __threadfence());
    if (last && threadIdx.x == 40) {
        out[0] = part[1];
        done = 0;
    }
}

// verified, done: an atomic that acquires and releases needs no fence
// heddle: grid=4 block=64
__global__ void acquires_and_releases(int *out) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> counter(done);
    ARRIVE(, counter.fetch_add(1, cuda::memory_order_acq_rel), gridDim.x - 1, );
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// verified, done: the barrier orders the writes of the block before the fence of its leader
// heddle: grid=4 block=64
__global__ void all_write(int *out) {
    __shared__ bool last;
    wide[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(&done, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        int sum = 0;
        for (int i = threadIdx.x; i < 4 * 64; i += 64)
            sum += wide[i];
        out[threadIdx.x] = sum;
    }
}

// verified, done: the leader continues alone, behind its own fence
// heddle: grid=4 block=64
__global__ void leader_continues(int *out) {
    if (threadIdx.x > 0)
        return;
    part[blockIdx.x] = 1;
    __threadfence();
    if (atomicAdd(&done, 1) != gridDim.x - 1)
        return;
    __threadfence();
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++)
        sum += part[i];
    *out = sum;
}

// verified, done: six blocks in two dimensions
// heddle: grid=3,2 block=32
__global__ void two_dimensions(int *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.y * gridDim.x + blockIdx.x] = 1;
        __threadfence();
        last = atomicAdd(&done, 1) == gridDim.x * gridDim.y - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x < 6)
        out[threadIdx.x] = part[threadIdx.x];
}

// verified, done: sums in shared memory before and after the arrival, each with its barriers
// heddle: grid=4 block=64
__global__ void reduction(const int *in, int *out) {
    __shared__ int s[64];
    __shared__ bool last;
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * 64 + t];
    for (int d = 32; d > 0; d /= 2) {
        __syncthreads();
        if (t < d)
            s[t] += s[t + d];
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(&done, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last) {
        s[t] = t < gridDim.x ? part[t] : 0;
        for (int d = 32; d > 0; d /= 2) {
            __syncthreads();
            if (t < d)
                s[t] += s[t + d];
        }
        if (t == 0)
            *out = s[0];
    }
}

// bug race-global: nothing releases the part
// heddle: grid=4 block=64
__global__ void no_release(int *out) {
    ARRIVE(, atomicAdd(&done, 1), gridDim.x - 1, __threadfence());
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// bug race-global: the last arriver does not acquire
// heddle: grid=4 block=64
__global__ void no_acquire(int *out) {
    ARRIVE(__threadfence(), atomicAdd(&done, 1), gridDim.x - 1, );
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// verified, done: a fence of the threads that read is no acquire pattern, since another thread has
// read the counter (8.8 wants a read and a fence of one thread), but the leader's fence.sc precedes
// it in Fence-SC order: otherwise the last addition would precede one that it observes (8.9.3, 8.9.4)
// heddle: grid=4 block=64
__global__ void readers_fence(int *out) {
    ARRIVE(__threadfence(), atomicAdd(&done, 1), gridDim.x - 1, );
    if (last && threadIdx.x < gridDim.x) {
        __threadfence();
        out[threadIdx.x] = part[threadIdx.x];
    }
}

#define WEAK_FENCE()                                                                               \
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device)

// bug race-global: the same with fences that are not in Fence-SC order
// heddle: grid=4 block=64
__global__ void readers_fence_weakly(int *out) {
    ARRIVE(WEAK_FENCE(), atomicAdd(&done, 1), gridDim.x - 1, );
    if (last && threadIdx.x < gridDim.x) {
        WEAK_FENCE();
        out[threadIdx.x] = part[threadIdx.x];
    }
}

// bug race-global: all threads execute the fence, and behind what they read
// heddle: grid=4 block=64
__global__ void acquires_too_late(int *out) {
    ARRIVE(WEAK_FENCE(), atomicAdd(&done, 1), gridDim.x - 1, );
    int x = last && threadIdx.x < gridDim.x ? part[threadIdx.x] : 0;
    WEAK_FENCE();
    out[blockIdx.x * 64 + threadIdx.x] = x;
}

// bug race-global: a fence that only releases acquires nothing from the others
// heddle: grid=4 block=64
__global__ void releases_twice(int *out) {
    ARRIVE(__threadfence(), atomicAdd(&done, 1), gridDim.x - 1,
           cuda::atomic_thread_fence(cuda::memory_order_release, cuda::thread_scope_device));
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// bug race-global: a fence that only acquires releases nothing to the last one
// heddle: grid=4 block=64
__global__ void acquires_twice(int *out) {
    ARRIVE(cuda::atomic_thread_fence(cuda::memory_order_acquire, cuda::thread_scope_device),
           atomicAdd(&done, 1), gridDim.x - 1, __threadfence());
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// bug race-global: the scope of the fence is the block
// heddle: grid=4 block=64
__global__ void fence_of_the_block(int *out) {
    ARRIVE(__threadfence_block(), atomicAdd(&done, 1), gridDim.x - 1, __threadfence());
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// bug race-global: the atomics of two blocks are not morally strong
// heddle: grid=4 block=64
__global__ void atomic_of_the_block(int *out) {
    ARRIVE(__threadfence(), atomicAdd_block(&done, 1), gridDim.x - 1, __threadfence());
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// bug race-global: one block has not arrived yet
// heddle: grid=4 block=64
__global__ void one_too_early(int *out) {
    ARRIVE(__threadfence(), atomicAdd(&done, 1), gridDim.x - 2, __threadfence());
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// bug race-global: with 2 for each block, the number is reached when half of them have arrived
// heddle: grid=5 block=64
__global__ void counts_by_two(int *out) {
    ARRIVE(__threadfence(), atomicAdd(&done, 2), gridDim.x - 1, __threadfence());
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// bug race-global: two threads of each block arrive
// heddle: grid=4 block=64
__global__ void two_arrive(int *out) {
    if (threadIdx.x > 1)
        return;
    part[2 * blockIdx.x + threadIdx.x] = 1;
    __threadfence();
    if (atomicAdd(&done, 1) == gridDim.x - 1) {
        __threadfence();
        for (int i = 0; i < 2 * gridDim.x; i++)
            out[i] = part[i];
    }
}

// bug race-global: the other threads of the block write without a barrier before the fence
// heddle: grid=4 block=64
__global__ void no_barrier_before(int *out) {
    __shared__ bool last;
    wide[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) {
        __threadfence();
        last = atomicAdd(&done, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last)
        for (int i = threadIdx.x; i < 4 * 64; i += 64)
            out[i] = wide[i];
}

// verified, done: the barrier comes after the fence, so that the leader's fence does not release the
// writes of other threads, but their own fence.sc precede that of the last leader (8.9.3, 8.9.4)
// heddle: grid=4 block=64
__global__ void fence_before_the_barrier(int *out) {
    __shared__ bool last;
    wide[blockIdx.x * 64 + threadIdx.x] = threadIdx.x;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0) {
        last = atomicAdd(&done, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last)
        for (int i = threadIdx.x; i < 4 * 64; i += 64)
            out[i] = wide[i];
}

// bug race-global: the part is written after the arrival
// heddle: grid=4 block=64
__global__ void writes_later(int *out) {
    ARRIVE(__threadfence(), atomicAdd(&done, 1), gridDim.x - 1, __threadfence());
    if (threadIdx.x == 0)
        part[blockIdx.x] = 2;
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// bug race-global: every block resets the counter
// heddle: grid=4 block=64
__global__ void all_reset(int *out) {
    ARRIVE(__threadfence(), atomicAdd(&done, 1), gridDim.x - 1, __threadfence());
    if (threadIdx.x == 0)
        done = 0;
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// bug race-global: block 0 does not arrive, and its part is read
// heddle: grid=4 block=64
__global__ void one_does_not_arrive(int *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = 1;
        last = false;
        if (blockIdx.x > 0) {
            __threadfence();
            last = atomicAdd(&done, 1) == gridDim.x - 2;
            __threadfence();
        }
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// bug race-global: two counters, each for half of the blocks
// heddle: grid=4 block=64
__global__ void half_of_the_blocks(unsigned *half, int *out) {
    ARRIVE(__threadfence(), atomicAdd(&half[blockIdx.x & 1], 1), gridDim.x / 2 - 1, __threadfence());
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// bug race-global: the last block resets the slots, without a race, and takes slot 0 once more; block
// 0 may still write it
// heddle: grid=4 block=64
__global__ void resets_slots(unsigned *next, int *out) {
    if (threadIdx.x > 0)
        return;
    unsigned slot = atomicAdd(next, 1);
    __threadfence();
    bool last = atomicAdd(&done, 1) == gridDim.x - 1;
    __threadfence();
    if (last) {
        *next = 0;
        slot = atomicAdd(next, 1);
    }
    out[slot] = blockIdx.x;
}

// bug race-global: the last block sets the counter back and adds again: it receives 0, as the first
// block did, which may still write out[0]
// heddle: grid=4 block=64
__global__ void adds_again(int *out) {
    if (threadIdx.x > 0)
        return;
    unsigned place = atomicAdd(&done, 1);
    __threadfence();
    if (place == gridDim.x - 1) {
        done = 0;
        place = atomicAdd(&done, 1);
    }
    out[place] = blockIdx.x;
}

// unknown: thread 63 arrives; the rule is about thread 0
// heddle: grid=4 block=64
__global__ void last_thread_arrives(int *out) {
    __shared__ bool last;
    if (threadIdx.x == 63) {
        part[blockIdx.x] = 1;
        __threadfence();
        last = atomicAdd(&done, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}

// unknown: blocks arrive in each of two rounds; the rule is about one
// heddle: grid=4 block=64
__global__ void two_rounds(int *out) {
    __shared__ bool last;
    for (int round = 1; round <= 2; round++) {
        if (threadIdx.x == 0) {
            part[4 * round + blockIdx.x] = 1;
            __threadfence();
            last = atomicAdd(&done, 1) == round * gridDim.x - 1;
            __threadfence();
        }
        __syncthreads();
        if (round == 2 && last && threadIdx.x < 12)
            out[threadIdx.x] = part[threadIdx.x];
        __syncthreads();
    }
}

// verified, done: every thread fences before the barrier and behind the answer; the two fences.sc
// synchronize, since the atomics say which of them is first (PTX ISA 8.9.3, 8.9.4)
// heddle: grid=4 block=64
__global__ void all_fence(int *out) {
    __shared__ bool last;
    wide[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(&done, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        __threadfence();
        for (int b = 0; b < gridDim.x; b++)
            out[b * blockDim.x + threadIdx.x] = wide[b * blockDim.x + threadIdx.x];
    }
}

// bug race-global: the same with fences that are not in Fence-SC order
// heddle: grid=4 block=64
__global__ void all_fence_weakly(int *out) {
    __shared__ bool last;
    wide[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    WEAK_FENCE();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(&done, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        WEAK_FENCE();
        for (int b = 0; b < gridDim.x; b++)
            out[b * blockDim.x + threadIdx.x] = wide[b * blockDim.x + threadIdx.x];
    }
}

// bug race-global: no fence behind the answer
// heddle: grid=4 block=64
__global__ void all_fence_first(int *out) {
    __shared__ bool last;
    wide[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(&done, 1) == gridDim.x - 1;
    __syncthreads();
    if (last)
        for (int b = 0; b < gridDim.x; b++)
            out[b * blockDim.x + threadIdx.x] = wide[b * blockDim.x + threadIdx.x];
}

// bug race-global: only some threads fence before the barrier
// heddle: grid=4 block=64
__global__ void some_fence(int *out) {
    __shared__ bool last;
    wide[blockIdx.x * blockDim.x + threadIdx.x] = 1;
    if (threadIdx.x < 32)
        __threadfence();
    __syncthreads();
    if (threadIdx.x == 0)
        last = atomicAdd(&done, 1) == gridDim.x - 1;
    __syncthreads();
    if (last) {
        __threadfence();
        for (int b = 0; b < gridDim.x; b++)
            out[b * blockDim.x + threadIdx.x] = wide[b * blockDim.x + threadIdx.x];
    }
}

__device__ unsigned started = 3;

// bug race-global: the counter does not start at 0
// heddle: grid=4 block=64
__global__ void starts_at_three(int *out) {
    __shared__ bool last;
    if (threadIdx.x == 0) {
        part[blockIdx.x] = 1;
        __threadfence();
        last = atomicAdd(&started, 1) == gridDim.x - 1;
        __threadfence();
    }
    __syncthreads();
    if (last && threadIdx.x < gridDim.x)
        out[threadIdx.x] = part[threadIdx.x];
}
