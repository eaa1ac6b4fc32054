// Flags. Each kernel has its expected verdict with the reason, and its launch; "unknown" marks
// kernels that the rule for flags does not cover, or whose race a replay does not show. A flag is
// set if it is not 0.
#include <cuda/atomic>

__device__ volatile int ready[64];
__device__ int part[64], all[64 * 32];
__device__ int data;
__device__ volatile int flag;

// verified, flag: a thread of block 0 stores data, a fence, and the flag; others wait (PTX ISA 8.8)
// heddle: grid=4 block=32
__global__ void publishes(int *out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data = 42;
            __threadfence();
            flag = 1;
        }
    } else {
        while (flag == 0)
            ;
        __threadfence();
        out[blockIdx.x * blockDim.x + threadIdx.x] = data;
    }
}

// bug race-global: the flag overtakes the data, since no fence releases it
// heddle: grid=4 block=32
__global__ void no_release(int *out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data = 42;
            flag = 1;
        }
    } else {
        while (flag == 0)
            ;
        __threadfence();
        out[blockIdx.x * blockDim.x + threadIdx.x] = data;
    }
}

// bug race-global: nothing acquires what the flag announces
// heddle: grid=4 block=32
__global__ void no_acquire(int *out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data = 42;
            __threadfence();
            flag = 1;
        }
    } else {
        while (flag == 0)
            ;
        out[blockIdx.x * blockDim.x + threadIdx.x] = data;
    }
}

// bug race-global: the data is stored behind the flag
// heddle: grid=4 block=32
__global__ void too_late(int *out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            __threadfence();
            flag = 1;
            data = 42;
        }
    } else {
        while (flag == 0)
            ;
        __threadfence();
        out[blockIdx.x * blockDim.x + threadIdx.x] = data;
    }
}

// bug race-global: a thread that finds the flag not set reads as well
// heddle: grid=4 block=32
__global__ void does_not_wait(int *out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data = 42;
            __threadfence();
            flag = 1;
        }
    } else {
        int seen = flag;
        __threadfence();
        out[blockIdx.x * blockDim.x + threadIdx.x] = data + seen;
    }
}

// verified, flag: a thread that finds the flag not set does not read
// heddle: grid=4 block=32
__global__ void asks_once(int *out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data = 42;
            __threadfence();
            flag = 1;
        }
    } else if (flag) {
        __threadfence();
        out[blockIdx.x * blockDim.x + threadIdx.x] = data;
    }
}

// verified, ready: each block waits for the one before it; leaders set and load the flags
// heddle: grid=4 block=32
__global__ void chain(const int *in) {
    if (blockIdx.x > 0) {
        if (threadIdx.x == 0) {
            while (ready[blockIdx.x - 1] == 0)
                ;
            __threadfence();
        }
        __syncthreads();
    }
    int before = blockIdx.x > 0 ? all[(blockIdx.x - 1) * blockDim.x + threadIdx.x] : 0;
    all[blockIdx.x * blockDim.x + threadIdx.x] = before + in[threadIdx.x];
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();
        ready[blockIdx.x] = 1;
    }
}

// bug race-global: the barrier between the stores of a block and its flag is missing
// heddle: grid=4 block=64
__global__ void chain_without_barrier(const int *in) {
    if (blockIdx.x > 0) {
        if (threadIdx.x == 0) {
            while (ready[blockIdx.x - 1] == 0)
                ;
            __threadfence();
        }
        __syncthreads();
    }
    int before = blockIdx.x > 0 ? all[(blockIdx.x - 1) * blockDim.x + threadIdx.x] : 0;
    all[blockIdx.x * blockDim.x + threadIdx.x] = before + in[threadIdx.x];
    if (threadIdx.x == 0) {
        __threadfence();
        ready[blockIdx.x] = 1;
    }
}

// bug race-global: a block waits for the flag of the block two before it, and reads what the last one stores
// heddle: grid=4 block=32
__global__ void wrong_flag(const int *in) {
    if (blockIdx.x > 1) {
        if (threadIdx.x == 0) {
            while (ready[blockIdx.x - 2] == 0)
                ;
            __threadfence();
        }
        __syncthreads();
    }
    int before = blockIdx.x > 0 ? part[blockIdx.x - 1] : 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        part[blockIdx.x] = before + in[blockIdx.x];
        __threadfence();
        ready[blockIdx.x] = 1;
    }
}

// verified, flag: the orders of a store and a load replace the fences
// heddle: grid=4 block=32
__global__ void release_and_acquire(int *out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> f(*(int *)&flag);
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data = 42;
            f.store(1, cuda::memory_order_release);
        }
    } else {
        while (f.load(cuda::memory_order_acquire) == 0)
            ;
        out[blockIdx.x * blockDim.x + threadIdx.x] = data;
    }
}

// bug race-global: the release and the acquire are of block scope, and the threads of two blocks
// heddle: grid=4 block=32
__global__ void block_scope(int *out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data = 42;
            __threadfence_block();
            flag = 1;
        }
    } else {
        while (flag == 0)
            ;
        __threadfence_block();
        out[blockIdx.x * blockDim.x + threadIdx.x] = data;
    }
}

// bug race-global: two blocks set the flag, and only one of them has stored the data
// heddle: grid=4 block=32
__global__ void two_writers(int *out) {
    if (blockIdx.x < 2) {
        if (threadIdx.x == 0) {
            if (blockIdx.x == 0)
                data = 42;
            __threadfence();
            flag = 1;
        }
    } else {
        while (flag == 0)
            ;
        __threadfence();
        out[blockIdx.x * blockDim.x + threadIdx.x] = data;
    }
}

// verified, flag: two values of a flag announce two things
// heddle: grid=2 block=32
__global__ void two_values(int *out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data = 42;
            __threadfence();
            flag = 1;
            part[0] = 43;
            __threadfence();
            flag = 2;
        }
    } else {
        int seen;
        while ((seen = flag) == 0)
            ;
        __threadfence();
        out[threadIdx.x] = data;
        if (seen == 2)
            out[threadIdx.x + 32] = part[0];
    }
}

// unknown: the first of two values does not announce the second thing; the race needs a schedule in
// which a block reads the flag between the two stores
// heddle: grid=2 block=32
__global__ void first_value(int *out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data = 42;
            __threadfence();
            flag = 1;
            part[0] = 43;
            __threadfence();
            flag = 2;
        }
    } else {
        int seen;
        while ((seen = flag) == 0)
            ;
        __threadfence();
        out[threadIdx.x] = data;
        if (seen >= 1)
            out[threadIdx.x + 32] = part[0];
    }
}

// verified, flag: who has found the flag set clears it for the next time
// heddle: grid=2 block=32
__global__ void resets(int *out) {
    if (threadIdx.x > 0)
        return;
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        flag = 1;
    } else {
        while (flag == 0)
            ;
        __threadfence();
        out[0] = data;
        flag = 0;
    }
}

// verified, flag: an exchange sets the flag
// heddle: grid=2 block=32
__global__ void exchanges(int *out) {
    if (blockIdx.x == 0) {
        if (threadIdx.x == 0) {
            data = 42;
            __threadfence();
            atomicExch((int *)&flag, 1);
        }
    } else {
        while (flag == 0)
            ;
        __threadfence();
        out[threadIdx.x] = data;
    }
}

// verified, flag: the consumer may write over what it has received
// heddle: grid=2 block=32
__global__ void overwrites() {
    if (threadIdx.x > 0)
        return;
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        flag = 1;
    } else {
        while (flag == 0)
            ;
        __threadfence();
        data = data + 1;
    }
}

// bug race-global: the producer reads again what the consumer may write over
// heddle: grid=2 block=32
__global__ void reads_again(int *out) {
    if (threadIdx.x > 0)
        return;
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        flag = 1;
        out[0] = data;
    } else {
        while (flag == 0)
            ;
        __threadfence();
        data = 43;
    }
}

// bug race-global: the wait ends at every value but 1, and the flag is 0 at first
// heddle: grid=2 block=32
__global__ void wrong_value(int *out) {
    if (threadIdx.x > 0)
        return;
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        flag = 1;
    } else {
        while (flag == 1)
            ;
        __threadfence();
        out[0] = data;
    }
}

__device__ volatile int open = 1;

// bug race-global: the flag is set at the start
// heddle: grid=2 block=32
__global__ void open_at_first(int *out) {
    if (threadIdx.x > 0)
        return;
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        open = 2;
    } else {
        while (open == 0)
            ;
        __threadfence();
        out[0] = data;
    }
}

#define FLAG ((int *)&flag)

// Block 0 stores data and does SET; the others repeat READ until it is not 0, and then do ACQUIRE.
#define HAND_OVER(SET, READ, ACQUIRE)                                                              \
    do {                                                                                           \
        if (blockIdx.x == 0) {                                                                     \
            if (threadIdx.x == 0) {                                                                \
                data = 42;                                                                         \
                __threadfence();                                                                   \
                SET;                                                                               \
            }                                                                                      \
        } else {                                                                                   \
            while ((READ) == 0)                                                                    \
                ;                                                                                  \
            ACQUIRE;                                                                               \
            out[blockIdx.x * blockDim.x + threadIdx.x] = data;                                     \
        }                                                                                          \
    } while (0)

// verified, flag: an addition of 0 reads the flag and leaves it as it is
// heddle: grid=4 block=32
__global__ void reads_by_adding(int *out) {
    HAND_OVER(atomicExch(FLAG, 1), atomicAdd(FLAG, 0), __threadfence());
}

// verified, flag: so does a swap of a value for itself
// heddle: grid=4 block=32
__global__ void reads_by_swapping(int *out) {
    HAND_OVER(flag = 1, atomicCAS(FLAG, 0, 0), __threadfence());
}

// verified, flag: an addition sets the flag, whatever value it has then
// heddle: grid=4 block=32
__global__ void sets_by_adding(int *out) { HAND_OVER(atomicAdd(FLAG, 1), flag, __threadfence()); }

// bug race-global: an atomic that reads acquires nothing without a fence
// heddle: grid=4 block=32
__global__ void reads_by_adding_only(int *out) {
    HAND_OVER(atomicExch(FLAG, 1), atomicAdd(FLAG, 0), );
}

// bug race-global: the flag is read by an atomic of the block
// heddle: grid=4 block=32
__global__ void reads_for_the_block(int *out) {
    HAND_OVER(atomicExch(FLAG, 1), atomicAdd_block(FLAG, 0), __threadfence());
}

// bug race-global: a waiting thread adds 1 itself, and the next one finds that
// heddle: grid=4 block=32
__global__ void readers_add(int *out) {
    HAND_OVER(atomicExch(FLAG, 1), atomicAdd(FLAG, 1), __threadfence());
}

// bug race-global: a waiting thread sets the flag, and the next one finds that
// heddle: grid=4 block=32
__global__ void readers_swap(int *out) {
    HAND_OVER(atomicExch(FLAG, 1), atomicCAS(FLAG, 0, 1), __threadfence());
}

// verified, flag: the thread that takes the flag away has found it set
// heddle: grid=2 block=32
__global__ void takes_away(int *out) {
    if (threadIdx.x > 0)
        return;
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        flag = 1;
    } else {
        while (atomicExch(FLAG, 0) == 0)
            ;
        __threadfence();
        out[0] = data;
    }
}

// unknown: two blocks add to the flag, and only one of them has stored the data; the race needs a
// schedule in which the other one adds first
// heddle: grid=4 block=32
__global__ void two_add(int *out) {
    if (blockIdx.x < 2) {
        if (threadIdx.x == 0) {
            if (blockIdx.x == 0)
                data = 42;
            __threadfence();
            atomicAdd(FLAG, 1);
        }
    } else {
        while (flag == 0)
            ;
        __threadfence();
        out[blockIdx.x * blockDim.x + threadIdx.x] = data;
    }
}

// unknown: the copy reads data at any time up to its wait; that it does so behind the load of the
// flag is not said (PTX ISA 9.7.9.25.3)
// heddle: grid=2 block=1
__global__ void copies_behind(int *out) {
    __shared__ int s;
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        flag = 1;
    } else {
        while (flag == 0)
            ;
        __threadfence();
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;"
                     :
                     : "r"((unsigned)__cvta_generic_to_shared(&s)), "l"(__cvta_generic_to_global(&data))
                     : "memory");
        asm volatile("cp.async.wait_all;" ::: "memory");
        out[0] = s;
    }
}
