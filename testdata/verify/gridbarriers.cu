// Barriers of the grid by a counter. Each kernel has its expected verdict with the reason, and its
// launch; "unknown" marks kernels that the rule does not cover, or whose race a replay does not
// show. The counter is 0 at the start.
#include <cuda/atomic>

__device__ unsigned arrived, other;
__device__ volatile unsigned seen;
__device__ int data[256], more[256], sums[4], result;

#define VOLATILE(X) (*(volatile unsigned *)&(X))
#define FENCE() __threadfence()
#define WEAK_FENCE() cuda::atomic_thread_fence(cuda::memory_order_acq_rel, cuda::thread_scope_device)
#define INDEX (blockIdx.x * blockDim.x + threadIdx.x)
#define LAST (gridDim.x * blockDim.x - 1)

// All blocks wait here: RELEASE before the addition ADD, then while WAIT, then ACQUIRE.
#define GRID_SYNC(RELEASE, ADD, WAIT, ACQUIRE)                                                     \
    do {                                                                                           \
        __syncthreads();                                                                           \
        if (threadIdx.x == 0) {                                                                    \
            RELEASE;                                                                               \
            ADD;                                                                                   \
            while (WAIT)                                                                           \
                ;                                                                                  \
            ACQUIRE;                                                                               \
        }                                                                                          \
        __syncthreads();                                                                           \
    } while (0)

// verified, arrived: whoever finds the number of blocks comes after the additions of all (PTX ISA 8.8)
// heddle: grid=4 block=32
__global__ void once(int *out) {
    data[INDEX] = INDEX;
    GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < gridDim.x, FENCE());
    out[INDEX] = data[LAST - INDEX];
}

// verified, arrived: fences that are in no common order are enough
// heddle: grid=4 block=32
__global__ void weak_fences(int *out) {
    data[INDEX] = INDEX;
    GRID_SYNC(WEAK_FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < gridDim.x, WEAK_FENCE());
    out[INDEX] = data[LAST - INDEX];
}

// verified, arrived: the wait ends at this number alone
// heddle: grid=4 block=32
__global__ void waits_for_equal(int *out) {
    data[INDEX] = INDEX;
    GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) != gridDim.x, FENCE());
    out[INDEX] = data[LAST - INDEX];
}

// verified, arrived: an addition of 0 reads the counter
// heddle: grid=4 block=32
__global__ void reads_by_adding(int *out) {
    data[INDEX] = INDEX;
    GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), atomicAdd(&arrived, 0) < gridDim.x, FENCE());
    out[INDEX] = data[LAST - INDEX];
}

// verified, arrived: the orders of the addition and the load replace the fences
// heddle: grid=4 block=32
__global__ void orders(int *out) {
    cuda::atomic_ref<unsigned, cuda::thread_scope_device> n(arrived);
    data[INDEX] = INDEX;
    GRID_SYNC(, n.fetch_add(1, cuda::memory_order_release),
              n.load(cuda::memory_order_acquire) < gridDim.x, );
    out[INDEX] = data[LAST - INDEX];
}

// verified, arrived: the second barrier waits for twice the number
// heddle: grid=4 block=32
__global__ void twice(int *out) {
    data[INDEX] = INDEX;
    GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < gridDim.x, FENCE());
    int x = data[LAST - INDEX];
    GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < 2 * gridDim.x, FENCE());
    data[INDEX] = x;
}

// verified, arrived: a barrier in each iteration, for the number of the iteration
// heddle: grid=4 block=32
__global__ void in_a_loop() {
    int *from = data, *to = more;
    for (int step = 1; step <= 5; step++) {
        to[INDEX] = from[LAST - INDEX];
        GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < step * gridDim.x, FENCE());
        int *swap = from;
        from = to;
        to = swap;
    }
}

// verified, arrived: two barriers in each iteration
// heddle: grid=4 block=32
__global__ void two_in_a_loop() {
    for (int step = 0; step < 5; step++) {
        int x = data[LAST - INDEX];
        GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < (2 * step + 1) * gridDim.x,
                  FENCE());
        data[INDEX] = x + 1;
        GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < (2 * step + 2) * gridDim.x,
                  FENCE());
    }
}

// verified, arrived: the leader writes between the first barrier and its fence
// heddle: grid=4 block=32
__global__ void leader_writes(int *out) {
    __syncthreads();
    if (threadIdx.x == 0) {
        sums[blockIdx.x] = 1;
        FENCE();
        atomicAdd(&arrived, 1);
        while (VOLATILE(arrived) < gridDim.x)
            ;
        FENCE();
    }
    __syncthreads();
    if (threadIdx.x < gridDim.x)
        out[blockIdx.x * blockDim.x + threadIdx.x] = sums[threadIdx.x];
}

// verified, arrived: six blocks in two dimensions
// heddle: grid=3,2 block=32
__global__ void two_dimensions(int *out) {
    int b = blockIdx.y * gridDim.x + blockIdx.x, i = b * blockDim.x + threadIdx.x;
    data[i] = i;
    GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < gridDim.x * gridDim.y, FENCE());
    out[i] = data[gridDim.x * gridDim.y * blockDim.x - 1 - i];
}

// bug race-global: nothing releases what the block has written
// heddle: grid=4 block=32
__global__ void no_release(int *out) {
    data[INDEX] = INDEX;
    GRID_SYNC(, atomicAdd(&arrived, 1), VOLATILE(arrived) < gridDim.x, FENCE());
    out[INDEX] = data[LAST - INDEX];
}

// bug race-global: nothing acquires what the others have written
// heddle: grid=4 block=32
__global__ void no_acquire(int *out) {
    data[INDEX] = INDEX;
    GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < gridDim.x, );
    out[INDEX] = data[LAST - INDEX];
}

// bug race-global: the addition is of block scope
// heddle: grid=4 block=32
__global__ void adds_for_the_block(int *out) {
    data[INDEX] = INDEX;
    GRID_SYNC(FENCE(), atomicAdd_block(&arrived, 1), VOLATILE(arrived) < gridDim.x, FENCE());
    out[INDEX] = data[LAST - INDEX];
}

// bug race-global: one block may be missing
// heddle: grid=4 block=32
__global__ void one_too_few(int *out) {
    data[INDEX] = INDEX;
    GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < gridDim.x - 1, FENCE());
    out[INDEX] = data[LAST - INDEX];
}

// bug race-global: the second barrier waits for what the first one has reached
// heddle: grid=4 block=32
__global__ void same_goal_twice(int *out) {
    data[INDEX] = INDEX;
    GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < gridDim.x, FENCE());
    int x = data[LAST - INDEX];
    GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < gridDim.x, FENCE());
    data[INDEX] = x;
}

// bug race-global: the goal of the first iteration is 0
// heddle: grid=4 block=32
__global__ void goal_begins_at_0() {
    int *from = data, *to = more;
    for (int step = 0; step < 5; step++) {
        to[INDEX] = from[LAST - INDEX];
        GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < step * gridDim.x, FENCE());
        int *swap = from;
        from = to;
        to = swap;
    }
}

// bug race-global: a block adds two, so that half of them reach the goal
// heddle: grid=4 block=32
__global__ void adds_two(int *out) {
    data[INDEX] = INDEX;
    GRID_SYNC(FENCE(), atomicAdd(&arrived, 2), VOLATILE(arrived) < gridDim.x, FENCE());
    out[INDEX] = data[LAST - INDEX];
}

// bug race-global: all threads add, so that one block reaches the goal
// heddle: grid=4 block=32
__global__ void all_add(int *out) {
    data[INDEX] = INDEX;
    __syncthreads();
    FENCE();
    atomicAdd(&arrived, 1);
    while (VOLATILE(arrived) < gridDim.x)
        ;
    FENCE();
    __syncthreads();
    out[INDEX] = data[LAST - INDEX];
}

// bug race-global: the block has no barrier before the addition of its leader
// heddle: grid=4 block=64
__global__ void no_barrier_before(int *out) {
    data[INDEX] = INDEX;
    if (threadIdx.x == 0) {
        FENCE();
        atomicAdd(&arrived, 1);
        while (VOLATILE(arrived) < gridDim.x)
            ;
        FENCE();
    }
    __syncthreads();
    out[INDEX] = data[LAST - INDEX];
}

// bug race-global: the block does not wait for its leader
// heddle: grid=4 block=64
__global__ void no_barrier_after(int *out) {
    data[INDEX] = INDEX;
    __syncthreads();
    if (threadIdx.x == 0) {
        FENCE();
        atomicAdd(&arrived, 1);
        while (VOLATILE(arrived) < gridDim.x)
            ;
        FENCE();
    }
    out[INDEX] = data[LAST - INDEX];
}

// bug race-global: a thread writes while its leader adds
// heddle: grid=4 block=64
__global__ void writes_meanwhile(int *out) {
    __syncthreads();
    if (threadIdx.x == 0) {
        FENCE();
        atomicAdd(&arrived, 1);
        while (VOLATILE(arrived) < gridDim.x)
            ;
        FENCE();
    } else {
        data[INDEX] = 1;
    }
    __syncthreads();
    out[INDEX] = data[LAST - INDEX];
}

// bug race-global: block 0 starts the count again
// heddle: grid=4 block=32
__global__ void starts_again(int *out) {
    data[INDEX] = INDEX;
    GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < gridDim.x, FENCE());
    if (blockIdx.x == 0 && threadIdx.x == 0)
        arrived = 0;
    out[INDEX] = data[LAST - INDEX];
}

// bug race-global: the data of an iteration is written behind its barrier, and read in the next
// iteration before its barrier
// heddle: grid=4 block=32
__global__ void writes_behind() {
    for (int step = 1; step <= 5; step++) {
        more[INDEX] = data[LAST - INDEX];
        GRID_SYNC(FENCE(), atomicAdd(&arrived, 1), VOLATILE(arrived) < step * gridDim.x, FENCE());
        data[INDEX] = more[INDEX];
    }
}

__device__ unsigned begun = 2;

// bug race-global: the counter does not start at 0
// heddle: grid=4 block=32
__global__ void starts_at_two(int *out) {
    data[INDEX] = INDEX;
    GRID_SYNC(FENCE(), atomicAdd(&begun, 1), VOLATILE(begun) < gridDim.x, FENCE());
    out[INDEX] = data[LAST - INDEX];
}

// bug race-global: blocks count at two counters, each for half of them
// heddle: grid=4 block=32
__global__ void halves(unsigned *half, int *out) {
    unsigned *n = &half[blockIdx.x & 1];
    data[INDEX] = INDEX;
    GRID_SYNC(FENCE(), atomicAdd(n, 1), *(volatile unsigned *)n < gridDim.x / 2, FENCE());
    out[INDEX] = data[LAST - INDEX];
}

__device__ struct {
    unsigned arrived, places;
} both;

// verified, both: nothing stores to the counter of places, so all of them differ
// heddle: grid=4 block=32
__global__ void places(int *out) {
    unsigned first = atomicAdd(&both.places, 1);
    GRID_SYNC(FENCE(), atomicAdd(&both.arrived, 1), VOLATILE(both.arrived) < gridDim.x, FENCE());
    unsigned second = atomicAdd(&both.places, 1);
    out[blockIdx.x & 1 ? first : second] = blockIdx.x;
}

// bug race-global: the counter of places is set back between two barriers, and both rounds return
// the same places
// heddle: grid=4 block=32
__global__ void same_places(int *out) {
    unsigned first = atomicAdd(&both.places, 1);
    GRID_SYNC(FENCE(), atomicAdd(&both.arrived, 1), VOLATILE(both.arrived) < gridDim.x, FENCE());
    if (INDEX == 0)
        both.places = 0;
    GRID_SYNC(FENCE(), atomicAdd(&both.arrived, 1), VOLATILE(both.arrived) < 2 * gridDim.x,
              FENCE());
    unsigned second = atomicAdd(&both.places, 1);
    out[blockIdx.x & 1 ? first : second] = blockIdx.x;
}
