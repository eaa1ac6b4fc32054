// A prefix sum in one pass: each block publishes what it has summed up, and looks back for the sum
// of all blocks before it.
// Why: Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back" (NVIDIA
// 2016). A block that reads a status reads a value of that status if both are one word, which one
// strong store writes, or if the value is stored, released and then told by the status (PTX ISA
// 8.8). Otherwise the reader may see the status with an old value.
// explore: word 2 2 verified
// explore: word 3 1 verified
// explore: fences 2 2 verified
// explore: fences 3 1 verified
// explore: no_release 2 2 bug reads total\[0\] = 0 \(initial value\)
// explore: no_acquire 2 2 bug reads total\[0\] = 0 \(initial value\)

enum { NONE, PARTIAL, INCLUSIVE }; // what a block has published: nothing, its own sum, all sums

const int BLOCKS = 4, MOST = 32;

__device__ unsigned long long packed[BLOCKS]; // status and sum
__device__ int status[BLOCKS], own[BLOCKS], total[BLOCKS];

__device__ void fence(bool really) {
    if (really) asm volatile("fence.acq_rel.gpu;" ::: "memory");
}

struct Word {
    __device__ void publish(int block, int s, int sum) {
        unsigned long long both = (unsigned long long)s << 32 | (unsigned)sum;
        *(volatile unsigned long long *)&packed[block] = both;
    }
    __device__ int look(int block, int *sum) {
        unsigned long long w = *(volatile unsigned long long *)&packed[block];
        *sum = (int)w;
        return (int)(w >> 32);
    }
};

template <bool RELEASE, bool ACQUIRE> struct Fences {
    __device__ void publish(int block, int s, int sum) {
        (s == PARTIAL ? own : total)[block] = sum;
        fence(RELEASE);
        *(volatile int *)&status[block] = s;
    }
    __device__ int look(int block, int *sum) {
        int s = *(volatile int *)&status[block];
        if (s != NONE) {
            fence(ACQUIRE);
            *sum = (s == PARTIAL ? own : total)[block];
        }
        return s;
    }
};

template <class Tiles> __device__ void scan(Tiles tiles, int *out) {
    __shared__ int value[MOST], before;
    int t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    value[t] = i + 1;
    __syncthreads();
    if (t == 0) {
        int sum = 0, all = 0;
        for (int k = 0; k < blockDim.x; k++)
            sum += value[k];
        if (blockIdx.x > 0) {
            tiles.publish(blockIdx.x, PARTIAL, sum);
            for (int b = blockIdx.x - 1, s = PARTIAL; s == PARTIAL; b--) {
                int more = 0;
                while ((s = tiles.look(b, &more)) == NONE) {
                }
                all += more;
            }
        }
        tiles.publish(blockIdx.x, INCLUSIVE, all + sum);
        before = all;
    }
    __syncthreads();
    int sum = before;
    for (int k = 0; k <= t; k++)
        sum += value[k];
    out[i] = sum;
}

__global__ void word(int *out) { scan(Word(), out); }
__global__ void fences(int *out) { scan(Fences<true, true>(), out); }
__global__ void no_release(int *out) { scan(Fences<false, true>(), out); }
__global__ void no_acquire(int *out) { scan(Fences<true, false>(), out); }
