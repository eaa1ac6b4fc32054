// Ticket locks. Each kernel has its expected verdict with the reason, and its launch; "unknown"
// marks kernels that the rule for ticket locks does not cover, or whose race a replay does not
// show. Counters are 0 at the start.
#include <cuda/atomic>

struct ticket_lock {
    unsigned next, serving;
};

__device__ unsigned next, nexts[16], next2;
__device__ volatile unsigned serving, servings[16], serving2;
__device__ unsigned turn, turns[16];
__device__ ticket_lock locks[16];
__device__ int count, counts[16], sum;

#define WAIT(S, T)                                                                                 \
    while ((S) != (T))                                                                             \
        ;
#define WEAK_FENCE()                                                                               \
    cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device)

using counter = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
using counter_of_block = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;

// verified: a ticket, a wait, fences around the section, and the next number (PTX ISA 8.8)
// heddle: grid=4 block=32
__global__ void spins() {
    unsigned t = atomicAdd(&next, 1);
    WAIT(serving, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    serving = t + 1;
}

// verified: an acquire load and a release store replace the fences
// heddle: grid=4 block=32
__global__ void acquires_and_releases() {
    unsigned t = counter(next).fetch_add(1, cuda::memory_order_relaxed);
    WAIT(counter(turn).load(cuda::memory_order_acquire), t)
    count = count + 1;
    counter(turn).store(t + 1, cuda::memory_order_release);
}

// verified: an addition calls the next number
// heddle: grid=4 block=32
__global__ void adds() {
    unsigned t = atomicAdd(&next, 1);
    WAIT(*(volatile unsigned *)&turn, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    atomicAdd(&turn, 1);
}

// verified: an addition of 0 reads the number
// heddle: grid=4 block=32
__global__ void adds_nothing() {
    unsigned t = atomicAdd(&next, 1);
    WAIT(atomicAdd(&turn, 0), t)
    __threadfence();
    count = count + 1;
    __threadfence();
    atomicExch(&turn, t + 1);
}

// verified: a lock for each of 16 bins
// heddle: grid=4 block=32
__global__ void bins(const int *in) {
    int b = in[blockIdx.x * blockDim.x + threadIdx.x] & 15;
    unsigned t = atomicAdd(&nexts[b], 1);
    WAIT(servings[b], t)
    __threadfence();
    counts[b] = counts[b] + 1;
    __threadfence();
    servings[b] = t + 1;
}

// verified: the two counters of a lock lie side by side
// heddle: grid=4 block=32
__global__ void structs(const int *in) {
    int b = in[blockIdx.x * blockDim.x + threadIdx.x] & 15;
    unsigned t = atomicAdd(&locks[b].next, 1);
    WAIT(*(volatile unsigned *)&locks[b].serving, t)
    __threadfence();
    counts[b] = counts[b] + 1;
    __threadfence();
    *(volatile unsigned *)&locks[b].serving = t + 1;
}

// verified: two locks, which all threads take in one order
// heddle: grid=4 block=32
__global__ void two_in_order() {
    unsigned t = atomicAdd(&next, 1);
    WAIT(serving, t)
    __threadfence();
    count = count + 1;
    unsigned u = atomicAdd(&next2, 1);
    WAIT(serving2, u)
    __threadfence();
    sum = sum + 1;
    __threadfence();
    serving2 = u + 1;
    count = count + 1;
    __threadfence();
    serving = t + 1;
}

// verified: each thread takes a ticket n times; that the counter does not wrap is an assumption
// heddle: grid=4 block=32
__global__ void several_times(int n) {
    for (int i = 0; i < n; i++) {
        unsigned t = atomicAdd(&next, 1);
        WAIT(serving, t)
        __threadfence();
        count = count + i;
        __threadfence();
        serving = t + 1;
    }
}

// verified: one thread of each block takes the lock for its own accesses
// heddle: grid=4 block=32
__global__ void leaders(int *out) {
    if (threadIdx.x == 0) {
        unsigned t = atomicAdd(&next, 1);
        WAIT(serving, t)
        __threadfence();
        *out = *out + 1;
        __threadfence();
        serving = t + 1;
    }
}

// verified: atomicInc that wraps at 2^32 only, and an exchange
// heddle: grid=4 block=32
__global__ void increments() {
    unsigned t = atomicInc(&next, 0xffffffff);
    WAIT(*(volatile unsigned *)&turn, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    atomicExch(&turn, t + 1);
}

// verified: the holder reads the number that it was called by, which nobody else changes
// heddle: grid=4 block=32
__global__ void reads_the_number() {
    unsigned t = atomicAdd(&next, 1);
    WAIT(serving, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    serving = serving + 1;
}

// verified: the same, and the tickets come from the same array
// heddle: grid=4 block=32
__global__ void reads_the_number_of_a_struct() {
    unsigned t = atomicAdd(&locks[3].next, 1);
    volatile unsigned *now = &locks[3].serving;
    WAIT(*now, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    *now = *now + 1;
}

// unknown: the holder reads the number again after its call, and calls a second one, so that two
// threads hold the lock; few schedules show it
// heddle: grid=4 block=32
__global__ void calls_twice() {
    unsigned t = atomicAdd(&next, 1);
    WAIT(serving, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    serving = serving + 1;
    serving = serving + 1;
}

// verified: one lock, taken at two places
// heddle: grid=4 block=32
__global__ void two_places() {
    if (blockIdx.x & 1) {
        unsigned t = atomicAdd(&next, 1);
        WAIT(serving, t)
        __threadfence();
        count = count + 1;
        __threadfence();
        serving = t + 1;
    } else {
        unsigned t = atomicAdd(&next, 1);
        WAIT(serving, t)
        __threadfence();
        count = 0;
        __threadfence();
        serving = t + 1;
    }
}

// verified: an exchange continues the chain of atomics past a holder without fences (8.9.2)
// heddle: grid=4 block=32
__global__ void some_fence_and_exchange() {
    unsigned t = atomicAdd(&next, 1);
    WAIT(*(volatile unsigned *)&turn, t)
    if (blockIdx.x != 1) {
        WEAK_FENCE();
        count = count + 1;
        WEAK_FENCE();
    }
    atomicExch(&turn, t + 1);
}

// verified: some threads take no ticket, and some holders do nothing
// heddle: grid=4 block=32
__global__ void some_take_none(int *out) {
    if (threadIdx.x > 7)
        return;
    unsigned t = atomicAdd(&next, 1);
    if (threadIdx.x & 1)
        out[threadIdx.x + blockIdx.x * 8] = t;
    WAIT(serving, t)
    __threadfence();
    if (threadIdx.x != 3)
        count = count + t;
    __threadfence();
    serving = t + 1;
}

// bug race-global: nothing releases what the holder has done
// heddle: grid=4 block=32
__global__ void no_release() {
    unsigned t = atomicAdd(&next, 1);
    WAIT(serving, t)
    __threadfence();
    count = count + 1;
    serving = t + 1;
}

// bug race-global: nothing acquires what the last holder has done
// heddle: grid=4 block=32
__global__ void no_acquire() {
    unsigned t = atomicAdd(&next, 1);
    WAIT(serving, t)
    count = count + 1;
    __threadfence();
    serving = t + 1;
}

// bug race-global: the store that calls the next number does not release
// heddle: grid=4 block=32
__global__ void relaxed_store() {
    unsigned t = counter(next).fetch_add(1, cuda::memory_order_relaxed);
    WAIT(counter(turn).load(cuda::memory_order_acquire), t)
    count = count + 1;
    counter(turn).store(t + 1, cuda::memory_order_relaxed);
}

// bug race-global: the load that waits does not acquire
// heddle: grid=4 block=32
__global__ void relaxed_load() {
    unsigned t = counter(next).fetch_add(1, cuda::memory_order_acq_rel);
    WAIT(counter(turn).load(cuda::memory_order_relaxed), t)
    count = count + 1;
    counter(turn).store(t + 1, cuda::memory_order_release);
}

// unknown: two numbers are called at once, so that two threads are in; no run shows it
// heddle: grid=4 block=32
__global__ void calls_two() {
    unsigned t = atomicAdd(&next, 1);
    WAIT(serving, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    serving = t + 1;
    serving = t + 2;
}

// bug race-global: two counters give tickets for one lock, so that two threads have one ticket
// heddle: grid=4 block=32
__global__ void two_counters() {
    unsigned t = atomicAdd(&nexts[blockIdx.x & 1], 1);
    WAIT(serving, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    serving = t + 1;
}

// bug race-global: the access comes behind the call of the next number
// heddle: grid=4 block=32
__global__ void access_behind() {
    unsigned t = atomicAdd(&next, 1);
    WAIT(serving, t)
    __threadfence();
    sum = sum + 1;
    __threadfence();
    serving = t + 1;
    count = count + 1;
}

// bug race-global: the access comes before the wait
// heddle: grid=4 block=32
__global__ void access_before() {
    unsigned t = atomicAdd(&next, 1);
    count = count + 1;
    WAIT(serving, t)
    __threadfence();
    sum = sum + 1;
    __threadfence();
    serving = t + 1;
}

// bug race-global: a counter that is reset gives a ticket twice
// heddle: grid=4 block=32
__global__ void resets() {
    unsigned t = atomicAdd(&next, 1);
    if (t == 2)
        atomicExch(&next, 0);
    WAIT(serving, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    serving = t + 1;
}

// bug race-global: atomicInc starts again behind 7
// heddle: grid=4 block=32
__global__ void wraps() {
    unsigned t = atomicInc(&next, 7);
    WAIT(serving, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    serving = t + 1;
}

// bug race-global: four tickets for 128 threads
// heddle: grid=4 block=32
__global__ void four_tickets() {
    unsigned t = atomicAdd(&next, 1) & 3;
    WAIT(serving, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    serving = (t + 1) & 3;
}

// bug race-global: atomics of block scope are not morally strong between blocks (8.7)
// heddle: grid=4 block=1
__global__ void scope_of_block() {
    unsigned t = counter(next).fetch_add(1, cuda::memory_order_relaxed);
    WAIT(counter_of_block(turn).load(cuda::memory_order_acquire), t)
    count = count + 1;
    counter_of_block(turn).store(t + 1, cuda::memory_order_release);
}

// bug race-global: fences of block scope order nothing between blocks
// heddle: grid=4 block=1
__global__ void fences_of_block() {
    unsigned t = atomicAdd(&next, 1);
    WAIT(serving, t)
    __threadfence_block();
    count = count + 1;
    __threadfence_block();
    serving = t + 1;
}

// bug race-global: a weak store calls the next number
// heddle: grid=4 block=32
__global__ void weak_store() {
    unsigned t = atomicAdd(&next, 1);
    WAIT(*(volatile unsigned *)&turn, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    turn = t + 1;
}

// bug race-global: the ticket is taken by a load and a store, so that two threads may have one
// heddle: grid=4 block=32
__global__ void not_atomic() {
    unsigned t = *(volatile unsigned *)&next;
    *(volatile unsigned *)&next = t + 1;
    WAIT(serving, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    serving = t + 1;
}

// bug race-global: whoever has a later ticket does not wait
// heddle: grid=4 block=32
__global__ void waits_the_other_way() {
    unsigned t = atomicAdd(&next, 1);
    while (serving > t)
        ;
    __threadfence();
    count = count + 1;
    __threadfence();
    serving = t + 1;
}

// bug race-global: whoever has waited three times enters
// heddle: grid=4 block=32
__global__ void gives_up() {
    unsigned t = atomicAdd(&next, 1);
    for (int i = 0; i < 3 && serving != t; i++)
        ;
    __threadfence();
    count = count + 1;
    __threadfence();
    serving = t + 1;
}

// bug race-global: each block has its lock, for one variable
// heddle: grid=4 block=1
__global__ void lock_of_each_block() {
    unsigned t = atomicAdd(&nexts[blockIdx.x & 15], 1);
    WAIT(servings[blockIdx.x & 15], t)
    __threadfence();
    count = count + 1;
    __threadfence();
    servings[blockIdx.x & 15] = t + 1;
}

// bug race-global: a thread that holds nothing calls a number as well
// heddle: grid=4 block=32
__global__ void called_by_another() {
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        atomicAdd(&turn, 1);
        return;
    }
    unsigned t = atomicAdd(&next, 1);
    WAIT(*(volatile unsigned *)&turn, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    atomicAdd(&turn, 1);
}

// bug race-global: the last block reads without the lock
// heddle: grid=4 block=32
__global__ void reads_without(int *out) {
    if (blockIdx.x == 3) {
        out[threadIdx.x] = count;
        return;
    }
    unsigned t = atomicAdd(&next, 1);
    WAIT(serving, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    serving = t + 1;
}

// bug race-global: block 1 reads what the holder before it has stored, and stores what the next one
// reads, with no pattern of its own: nothing leads from the former to the latter (8.9.2)
// heddle: grid=4 block=1
__global__ void some_fence_weakly() {
    unsigned t = atomicAdd(&next, 1);
    WAIT(serving, t)
    if (blockIdx.x != 1) {
        WEAK_FENCE();
        count = count + 1;
        WEAK_FENCE();
    }
    serving = t + 1;
}

// bug race-global: the inner lock is freed before the last access that it protects
// heddle: grid=4 block=32
__global__ void inner_freed_early() {
    unsigned t = atomicAdd(&nexts[threadIdx.x & 1], 1);
    WAIT(servings[threadIdx.x & 1], t)
    __threadfence();
    unsigned u = atomicAdd(&next2, 1);
    WAIT(serving2, u)
    __threadfence();
    sum = sum + 1;
    __threadfence();
    serving2 = u + 1;
    sum = sum + 1;
    __threadfence();
    servings[threadIdx.x & 1] = t + 1;
}

// unknown: the lock of one bin, the counter of another; a race for inputs that no run has
// heddle: grid=4 block=32
__global__ void another_bin(const int *in) {
    int b = in[blockIdx.x * blockDim.x + threadIdx.x] & 15;
    unsigned t = atomicAdd(&nexts[b], 1);
    WAIT(servings[b], t)
    __threadfence();
    counts[b >> 1] = counts[b >> 1] + 1;
    __threadfence();
    servings[b] = t + 1;
}

// bug race-global: each block has its own counter, so that a thread of each has ticket 0
// heddle: grid=4 block=32
__global__ void tickets_of_the_block() {
    __shared__ unsigned ours;
    if (threadIdx.x == 0)
        ours = 0;
    __syncthreads();
    unsigned t = atomicAdd(&ours, 1);
    WAIT(serving, t)
    __threadfence();
    count = count + 1;
    __threadfence();
    serving = t + 1;
}
