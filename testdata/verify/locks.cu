// Critical sections. Each kernel has its expected verdict with the reason, and its launch;
// "unknown" marks kernels that the rule for locks does not cover, or whose race a replay does not
// show. A lock is free if it is 0.
#include <cuda/atomic>

__device__ int lock, locks[16];
__device__ int count, counts[16], sum;
__device__ int lists[16][64];

#define TAKE(LOCK) while (atomicCAS(LOCK, 0, 1) != 0)

// verified, inputs: compare-and-swap, fence, fence, exchange (PTX ISA 8.8)
// heddle: grid=4 block=32
__global__ void spins() {
    TAKE(&lock);
    __threadfence();
    count = count + 1;
    __threadfence();
    atomicExch(&lock, 0);
}

// verified, inputs: an exchange takes the lock as well
// heddle: grid=4 block=32
__global__ void exchanges() {
    while (atomicExch(&lock, 1) != 0)
        ;
    __threadfence();
    count = count + 1;
    __threadfence();
    *(volatile int *)&lock = 0;
}

// verified, inputs: orders of the atomics replace the fences
// heddle: grid=4 block=32
__global__ void acquires_and_releases() {
    cuda::atomic_ref<int, cuda::thread_scope_device> l(lock);
    while (l.exchange(1, cuda::memory_order_acquire) != 0)
        ;
    count = count + 1;
    l.store(0, cuda::memory_order_release);
}

// verified, inputs: a lock for each of 16 lists, of at most 64 elements
// heddle: grid=4 block=32
__global__ void lists_with_locks(const int *in) {
    int x = in[blockIdx.x * blockDim.x + threadIdx.x], b = x & 15;
    TAKE(&locks[b]);
    __threadfence();
    unsigned n = counts[b];
    if (n < 64) {
        lists[b][n] = x;
        counts[b] = n + 1;
    }
    __threadfence();
    atomicExch(&locks[b], 0);
}

// verified, inputs: whoever finds the lock taken tries again, with both in one loop
// heddle: grid=4 block=32
__global__ void tries() {
    for (bool done = false; !done;)
        if (atomicCAS(&lock, 0, 1) == 0) {
            __threadfence();
            count = count + 1;
            __threadfence();
            atomicExch(&lock, 0);
            done = true;
        }
}

// verified, inputs: each thread takes the lock n times, one time after the other
// heddle: grid=4 block=32
__global__ void several_times(int n) {
    for (int i = 0; i < n; i++) {
        TAKE(&lock);
        __threadfence();
        count = count + i;
        __threadfence();
        atomicExch(&lock, 0);
    }
}

// verified, inputs: whoever does not get the lock does nothing
// heddle: grid=4 block=32
__global__ void tries_once(int *out) {
    if (atomicCAS(&lock, 0, 1) != 0)
        return;
    __threadfence();
    *out = threadIdx.x;
    __threadfence();
    atomicExch(&lock, 0);
}

#define WEAK_FENCE()                                                                               \
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device)

// bug race-global: block 1 reads what the holder before it has stored, and stores what the next one
// reads, with no pattern of its own: nothing leads from the former to the latter (PTX ISA 8.9.2)
// heddle: grid=4 block=1
__global__ void some_fence_weakly() {
    TAKE(&lock);
    if (blockIdx.x != 1) {
        WEAK_FENCE();
        count = count + 1;
        WEAK_FENCE();
    }
    *(volatile int *)&lock = 0;
}

// verified, inputs: an exchange continues the chain of atomics past a holder without fences (8.9.2)
// heddle: grid=4 block=32
__global__ void some_fence_and_exchange() {
    TAKE(&lock);
    if (blockIdx.x != 1) {
        WEAK_FENCE();
        count = count + 1;
        WEAK_FENCE();
    }
    atomicExch(&lock, 0);
}

// verified, inputs: every holder has both patterns, whatever it does between them
// heddle: grid=4 block=32
__global__ void all_fence_weakly() {
    TAKE(&lock);
    WEAK_FENCE();
    if (blockIdx.x != 1)
        count = count + 1;
    WEAK_FENCE();
    *(volatile int *)&lock = 0;
}

// bug race-global: block 1 acquires, but releases nothing to the next holder
// heddle: grid=4 block=1
__global__ void some_release() {
    cuda::atomic_ref<int, cuda::thread_scope_device> l(lock);
    while (l.exchange(1, cuda::memory_order_acquire) != 0)
        ;
    if (blockIdx.x != 1) {
        count = count + 1;
        WEAK_FENCE();
    }
    l.store(0, cuda::memory_order_relaxed);
}

// bug race-global: no acquire pattern
// heddle: grid=4 block=32
__global__ void no_acquire() {
    TAKE(&lock);
    count = count + 1;
    __threadfence();
    atomicExch(&lock, 0);
}

// bug race-global: no release pattern
// heddle: grid=4 block=32
__global__ void no_release() {
    TAKE(&lock);
    __threadfence();
    count = count + 1;
    atomicExch(&lock, 0);
}

// bug race-global: one access is behind the release
// heddle: grid=4 block=32
__global__ void too_late() {
    TAKE(&lock);
    __threadfence();
    count = count + 1;
    __threadfence();
    atomicExch(&lock, 0);
    count = 0;
}

// bug race-global: 16 locks for one counter
// heddle: grid=4 block=32
__global__ void different_locks() {
    int *l = &locks[threadIdx.x & 15];
    TAKE(l);
    __threadfence();
    count = count + 1;
    __threadfence();
    atomicExch(l, 0);
}

// bug race-global: the lock of one list, the elements of another
// heddle: grid=4 block=32
__global__ void wrong_lock(const int *in) {
    int x = in[blockIdx.x * blockDim.x + threadIdx.x], b = x & 15;
    TAKE(&locks[b]);
    __threadfence();
    counts[b & 7] = x;
    __threadfence();
    atomicExch(&locks[b], 0);
}

// bug race-global: the result of the attempt is not looked at
// heddle: grid=4 block=32
__global__ void ignores_the_result() {
    atomicCAS(&lock, 0, 1);
    __threadfence();
    count = count + 1;
    __threadfence();
    atomicExch(&lock, 0);
}

// bug race-global: everybody frees the lock, whoever holds it
// heddle: grid=4 block=32
__global__ void frees_what_others_hold() {
    if (atomicCAS(&lock, 0, 1) == 0) {
        __threadfence();
        count = count + 1;
        __threadfence();
    }
    atomicExch(&lock, 0);
}

// unknown: freed twice, so that the second time frees the lock of the next holder; few schedules of
// a replay show the race
// heddle: grid=4 block=32
__global__ void frees_twice() {
    TAKE(&lock);
    __threadfence();
    count = count + 1;
    __threadfence();
    atomicExch(&lock, 0);
    __threadfence();
    atomicExch(&lock, 0);
}

// bug race-global: the compare-and-swap stores the value of a free lock
// heddle: grid=4 block=32
__global__ void takes_nothing() {
    while (atomicCAS(&lock, 0, 0) != 0)
        ;
    __threadfence();
    count = count + 1;
    __threadfence();
    atomicExch(&lock, 0);
}

// bug race-global: the lock counts as free when it is 1, the value that also takes it, so all
// threads but the first enter
// heddle: grid=4 block=32
__global__ void frees_as_it_takes() {
    while (atomicExch(&lock, 1) != 1)
        ;
    __threadfence();
    count = count + 1;
    __threadfence();
    *(volatile int *)&lock = 1;
}

// bug race-global: the scope of the atomics is the block
// heddle: grid=4 block=32
__global__ void locks_of_the_block() {
    while (atomicCAS_block(&lock, 0, 1) != 0)
        ;
    __threadfence();
    count = count + 1;
    __threadfence();
    atomicExch_block(&lock, 0);
}

// bug race-global: one of the two sums is read without the lock
// heddle: grid=4 block=32
__global__ void reads_without(int *out) {
    TAKE(&lock);
    __threadfence();
    count = count + 1;
    sum = sum + count;
    __threadfence();
    atomicExch(&lock, 0);
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// unknown: the leader holds the lock for its block; the rule is about what the holder itself does
// heddle: grid=4 block=32
__global__ void for_the_block(int *data) {
    if (threadIdx.x == 0) {
        TAKE(&lock);
        __threadfence();
    }
    __syncthreads();
    data[threadIdx.x] += 1;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        atomicExch(&lock, 0);
    }
}

// bug race-async-copy: a copy that is not waited for may read the count when the lock is another
// thread's (PTX ISA 9.7.9.25.3.1: cp.async is not ordered before a wait)
// heddle: grid=4 block=32
__global__ void copies(int *out) {
    __shared__ int s[32];
    TAKE(&lock);
    __threadfence();
    if (threadIdx.x == 0)
        count = count + 1;
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                     :
                     : "r"((unsigned)__cvta_generic_to_shared(&s[threadIdx.x])), "l"(&count)
                     : "memory");
    __threadfence();
    atomicExch(&lock, 0);
    asm volatile("cp.async.wait_all;" ::: "memory");
    if (threadIdx.x != 0)
        out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}

// bug race-global: whoever gets place 40 sets the counter back, ordered by the lock with the
// additions of the others, so that places come twice; they are used behind the lock
// heddle: grid=4 block=32
__global__ void sets_places_back(int *out) {
    TAKE(&lock);
    __threadfence();
    int place = atomicAdd(&count, 1);
    if (place == 40)
        count = 0;
    __threadfence();
    atomicExch(&lock, 0);
    out[place] = blockIdx.x;
}
