// Flags set in loops: tiles that wait for earlier tiles. Each kernel has its expected verdict with
// the reason, and its launch; "unknown" marks kernels that the rule for flags does not cover, or
// whose race a replay does not show. Flags are 0 at the start.
#include <cuda/atomic>

__device__ volatile int ready[4096];
__device__ int part[4096], total[4096];

using flag = cuda::atomic_ref<int, cuda::thread_scope_device>;

// verified, ready: a thread for each block, whose tiles follow at a distance of the grid
// heddle: grid=4 block=1
__global__ void strided(int n) {
    for (int tile = blockIdx.x; tile < n && tile < 4096; tile += gridDim.x) {
        part[tile] = tile;
        __threadfence();
        ready[tile] = 1;
        if (tile > 0) {
            while (ready[tile - 1] == 0)
                ;
            __threadfence();
            total[tile] = part[tile - 1];
        }
    }
}

// verified, ready: release and acquire instead of fences, and 8 tiles of each block
// heddle: grid=4 block=1
__global__ void chunked() {
    for (int j = 0; j < 8; j++) {
        int tile = blockIdx.x * 8 + j;
        part[tile] = j;
        flag((int &)ready[tile]).store(1, cuda::memory_order_release);
        if (tile > 0) {
            while (flag((int &)ready[tile - 1]).load(cuda::memory_order_acquire) == 0)
                ;
            total[tile] = part[tile - 1];
        }
    }
}

// verified, ready: looks back until the first tile
// heddle: grid=4 block=1
__global__ void looks_back(int *out) {
    for (int tile = blockIdx.x; tile < 16; tile += 4) {
        part[tile] = tile;
        __threadfence();
        ready[tile] = 1;
        int sum = 0;
        for (int j = tile - 1; j >= 0; j--) {
            while (ready[j] == 0)
                ;
            __threadfence();
            sum += part[j];
        }
        out[tile] = sum;
    }
}

// verified, ready: one tile of each block, and a loop that looks back
// heddle: grid=16 block=1
__global__ void one_tile(int *out) {
    part[blockIdx.x] = blockIdx.x;
    __threadfence();
    ready[blockIdx.x] = 1;
    int sum = 0;
    for (int j = (int)blockIdx.x - 1; j >= 0; j--) {
        while (ready[j] == 0)
            ;
        __threadfence();
        sum += part[j];
    }
    out[blockIdx.x] = sum;
}

// unknown: the threads of a block write a tile, and their leader announces it; that it has waited
// follows from the tile only, which is not known to be that of its block
// heddle: grid=4 block=32
__global__ void blocks(int n, int *data, int *out) {
    for (int tile = blockIdx.x; tile < n && tile < 4096; tile += gridDim.x) {
        data[tile * 32 + threadIdx.x] = tile;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            ready[tile] = 1;
            if (tile > 0)
                while (ready[tile - 1] == 0)
                    ;
            __threadfence();
        }
        __syncthreads();
        if (tile > 0)
            out[tile * 32 + threadIdx.x] = data[(tile - 1) * 32 + 31 - threadIdx.x];
    }
}

// verified, ready: first all are announced, then all are awaited
// heddle: grid=4 block=1
__global__ void two_loops(int *out) {
    for (int tile = blockIdx.x; tile < 16; tile += 4) {
        part[tile] = tile;
        __threadfence();
        ready[tile] = 1;
    }
    int sum = 0;
    for (int j = 0; j < 16; j++) {
        while (ready[j] == 0)
            ;
        __threadfence();
        sum += part[j];
    }
    out[blockIdx.x] = sum;
}

// unknown: what comes before the loop comes before each flag; the rule looks at the flag of the
// same iteration, and there is none
// heddle: grid=4 block=1
__global__ void before_the_loop(int *out) {
    total[blockIdx.x] = 1;
    for (int tile = blockIdx.x; tile < 16; tile += 4) {
        __threadfence();
        ready[tile] = 1;
    }
    while (ready[15 - blockIdx.x] == 0)
        ;
    __threadfence();
    out[blockIdx.x] = total[3 - blockIdx.x];
}

// bug race-global: no fence in front of the flag
// heddle: grid=4 block=1
__global__ void no_release(int n) {
    for (int tile = blockIdx.x; tile < n && tile < 4096; tile += gridDim.x) {
        part[tile] = tile;
        ready[tile] = 1;
        if (tile > 0) {
            while (ready[tile - 1] == 0)
                ;
            __threadfence();
            total[tile] = part[tile - 1];
        }
    }
}

// bug race-global: no fence behind the wait
// heddle: grid=4 block=1
__global__ void no_acquire(int n) {
    for (int tile = blockIdx.x; tile < n && tile < 4096; tile += gridDim.x) {
        part[tile] = tile;
        __threadfence();
        ready[tile] = 1;
        if (tile > 0) {
            while (ready[tile - 1] == 0)
                ;
            total[tile] = part[tile - 1];
        }
    }
}

// bug race-global: the tile is written behind its flag
// heddle: grid=4 block=1
__global__ void too_early(int n) {
    for (int tile = blockIdx.x; tile < n && tile < 4096; tile += gridDim.x) {
        __threadfence();
        ready[tile] = 1;
        part[tile] = tile;
        if (tile > 0) {
            while (ready[tile - 1] == 0)
                ;
            __threadfence();
            total[tile] = part[tile - 1];
        }
    }
}

// bug race-global: waits for the tile before, reads the one before that
// heddle: grid=4 block=1
__global__ void another_tile(int n) {
    for (int tile = blockIdx.x; tile < n && tile < 4096; tile += gridDim.x) {
        part[tile] = tile;
        __threadfence();
        ready[tile] = 1;
        if (tile > 1) {
            while (ready[tile - 1] == 0)
                ;
            __threadfence();
            total[tile] = part[tile - 2];
        }
    }
}

// bug race-global: one flag for all tiles of a block, of which the first sets it
// heddle: grid=4 block=1
__global__ void one_flag() {
    for (int tile = blockIdx.x; tile < 16; tile += 4) {
        part[tile] = tile;
        __threadfence();
        ready[blockIdx.x] = 1;
        if (tile > 0) {
            while (ready[(tile - 1) & 3] == 0)
                ;
            __threadfence();
            total[tile] = part[tile - 1];
        }
    }
}

// bug race-global: the flag of the next tile, which is not written yet, is set
// heddle: grid=4 block=1
__global__ void flag_of_the_next() {
    for (int tile = blockIdx.x; tile < 16; tile += 4) {
        part[tile] = tile;
        __threadfence();
        ready[tile] = 1;
        ready[tile + 4] = 1;
        if (tile > 0) {
            while (ready[tile - 1] == 0)
                ;
            __threadfence();
            total[tile] = part[tile - 1];
        }
    }
}

// bug race-global: the same tiles again, while others read what they have announced
// heddle: grid=4 block=1
__global__ void twice() {
    for (int j = 0; j < 2; j++) {
        part[blockIdx.x] = j;
        __threadfence();
        ready[blockIdx.x] = 1;
        if (blockIdx.x > 0) {
            while (ready[blockIdx.x - 1] == 0)
                ;
            __threadfence();
            total[blockIdx.x] = part[blockIdx.x - 1];
        }
    }
}

// bug race-global: only the leader has written its part when it announces the tile
// heddle: grid=4 block=64
__global__ void no_barrier(int *data, int *out) {
    for (int tile = blockIdx.x; tile < 16; tile += 4) {
        data[tile * 64 + threadIdx.x] = tile;
        if (threadIdx.x == 0) {
            __threadfence();
            ready[tile] = 1;
            if (tile > 0)
                while (ready[tile - 1] == 0)
                    ;
            __threadfence();
        }
        __syncthreads();
        if (tile > 0)
            out[tile * 64 + threadIdx.x] = data[(tile - 1) * 64 + 63 - threadIdx.x];
    }
}

// bug race-global: the others do not wait for their leader
// heddle: grid=4 block=64
__global__ void no_barrier_behind(int *data, int *out) {
    for (int tile = blockIdx.x; tile < 16; tile += 4) {
        data[tile * 64 + threadIdx.x] = tile;
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            ready[tile] = 1;
            if (tile > 0)
                while (ready[tile - 1] == 0)
                    ;
            __threadfence();
        }
        if (tile > 0)
            out[tile * 64 + threadIdx.x] = data[(tile - 1) * 64 + 63 - threadIdx.x];
    }
}

// bug race-global: a tile is announced for the iteration before
// heddle: grid=4 block=1
__global__ void overwritten() {
    for (int tile = blockIdx.x; tile < 16; tile += 4) {
        part[blockIdx.x] = tile;
        __threadfence();
        ready[tile] = 1;
        if (tile > 0) {
            while (ready[tile - 1] == 0)
                ;
            __threadfence();
            total[tile] = part[(tile - 1) & 3];
        }
    }
}
