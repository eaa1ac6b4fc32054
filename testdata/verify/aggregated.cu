// Places that one thread takes for several: a lane adds the number of lanes that want one, tells
// them what the addition has returned, and each uses the place of its rank among them. Each kernel
// has its expected verdict with the reason, and its launch; "unknown" marks kernels that the rule
// does not cover, or whose race a replay does not show. Counters are 0 at the start.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

__device__ unsigned taken, others;

#define ALL 0xffffffffu

__device__ unsigned lane() { return threadIdx.x & 31; }
__device__ unsigned below() { return (1u << lane()) - 1; }

// verified, inputs: lane 0 takes a place for each lane of a full warp
// heddle: grid=4 block=64
__global__ void full_warp(int *out) {
    unsigned base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, 32);
    base = __shfl_sync(ALL, base, 0);
    out[base + lane()] = threadIdx.x;
}

// verified, inputs: each thread of block 0 takes one place, and lane 0 of others one for each lane
// heddle: grid=4 block=64
__global__ void one_by_one_too(int *out) {
    if (blockIdx.x == 0) {
        out[atomicAdd(&taken, 1)] = threadIdx.x;
        return;
    }
    unsigned base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, 32);
    base = __shfl_sync(ALL, base, 0);
    out[base + lane()] = threadIdx.x;
}

// bug race-global: the highest lane that the shuffle may read is 15, so that all keep their own
// number instead of lane 20's (PTX ISA 9.7.9.6): 0 in all lanes but that
// heddle: grid=4 block=64
__global__ void beyond_the_clamp(int *out) {
    unsigned base = 0;
    if (lane() == 20)
        base = atomicAdd(&taken, 32);
    asm volatile("shfl.sync.idx.b32 %0, %0, 20, 15, 0xffffffff;" : "+r"(base));
    out[base + lane()] = threadIdx.x;
}

// verified, inputs: the leader is lane 20, which the shuffle may read
// heddle: grid=4 block=64
__global__ void within_the_clamp(int *out) {
    unsigned base = 0;
    if (lane() == 20)
        base = atomicAdd(&taken, 32);
    asm volatile("shfl.sync.idx.b32 %0, %0, 20, 31, 0xffffffff;" : "+r"(base));
    out[base + lane()] = threadIdx.x;
}

// verified, inputs: the first of the active lanes takes a place for each of them, and the ranks of
// lanes in a mask differ
// heddle: grid=4 block=64
__global__ void first_active(const int *in, int *out) {
    if (in[blockIdx.x * blockDim.x + threadIdx.x] > 0) {
        unsigned mask = __activemask(), base = 0;
        int leader = __ffs(mask) - 1;
        if (lane() == leader)
            base = atomicAdd(&taken, __popc(mask));
        base = __shfl_sync(mask, base, leader);
        out[base + __popc(mask & below())] = threadIdx.x;
    }
}

// verified, inputs: the mask of the register lanemask_lt is that of the lanes below
// heddle: grid=4 block=64
__global__ void lanemask_register(const int *in, int *out) {
    if (in[blockIdx.x * blockDim.x + threadIdx.x] > 0) {
        unsigned mask = __activemask(), base = 0, lower;
        asm("mov.u32 %0, %%lanemask_lt;" : "=r"(lower));
        int leader = __ffs(mask) - 1;
        if (lane() == leader)
            base = atomicAdd(&taken, __popc(mask));
        base = __shfl_sync(mask, base, leader);
        out[base + __popc(mask & lower)] = threadIdx.x;
    }
}

// verified, inputs: all lanes vote, lane 0 adds the number of those that want a place, which may be
// 0, and those that do use it
// heddle: grid=4 block=64
__global__ void ballot_of_all(const int *in, int *out) {
    bool wants = in[blockIdx.x * blockDim.x + threadIdx.x] > 0;
    unsigned mask = __ballot_sync(ALL, wants), base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, __popc(mask));
    base = __shfl_sync(ALL, base, 0);
    if (wants)
        out[base + __popc(mask & below())] = threadIdx.x;
}

// verified, inputs: the first lane that wants a place adds, and only those that do shuffle
// heddle: grid=4 block=64
__global__ void ballot_of_some(const int *in, int *out) {
    bool wants = in[blockIdx.x * blockDim.x + threadIdx.x] > 0;
    unsigned mask = __ballot_sync(ALL, wants);
    if (wants) {
        unsigned base = 0;
        int leader = __ffs(mask) - 1;
        if (lane() == leader)
            base = atomicAdd(&taken, __popc(mask));
        base = __shfl_sync(mask, base, leader);
        out[base + __popc(mask & below())] = threadIdx.x;
    }
}

// verified, inputs: a group of the active lanes, whose lane of rank 0 adds
// heddle: grid=4 block=64
__global__ void coalesced_group(const int *in, int *out) {
    if (in[blockIdx.x * blockDim.x + threadIdx.x] > 0) {
        cg::coalesced_group g = cg::coalesced_threads();
        unsigned base = 0;
        if (g.thread_rank() == 0)
            base = atomicAdd(&taken, g.size());
        base = g.shfl(base, 0) + g.thread_rank();
        out[base] = threadIdx.x;
    }
}

// verified, inputs: two places for each lane
// heddle: grid=4 block=64
__global__ void two_places(int *out) {
    unsigned base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, 64);
    base = __shfl_sync(ALL, base, 0);
    out[base + 2 * lane()] = 1;
    out[base + 2 * lane() + 1] = 2;
}

// verified, inputs: the mask of the lanes in the branch, of which the program knows
// heddle: grid=4 block=64
__global__ void known_mask(int *out) {
    if (lane() < 16) {
        unsigned base = 0;
        if (lane() == 5)
            base = atomicAdd(&taken, 16);
        base = __shfl_sync(0xffff, base, 5);
        out[base + lane()] = threadIdx.x;
    }
}

// verified, inputs: a counter of 64 bits, whose halves are shuffled
// heddle: grid=4 block=64
__global__ void wide(unsigned long long *count, int *out) {
    unsigned long long base = 0;
    if (lane() == 0)
        base = atomicAdd(count, 32ull);
    base = __shfl_sync(ALL, base, 0);
    out[base + lane()] = threadIdx.x;
}

// unknown: a warp takes 32 items at a time from a queue of n; that its lanes leave the loop
// together follows from what they have been told, which the proof that they do does not use
// heddle: grid=4 block=64
__global__ void queue(int *out, unsigned n) {
    for (;;) {
        unsigned base = 0;
        if (lane() == 0)
            base = atomicAdd(&taken, 32);
        base = __shfl_sync(ALL, base, 0);
        if (base >= n)
            break;
        out[base + lane()] += 1;
    }
}

// verified, around: the lanes that want a place in a round take one each
// heddle: grid=4 block=64
__global__ void rounds(const int *in, int *out, int n) {
    for (int i = 0; i < n; i++) {
        bool wants = in[i * 64 + threadIdx.x] > 0;
        unsigned mask = __ballot_sync(ALL, wants), base = 0;
        if (lane() == 0)
            base = atomicAdd(&taken, __popc(mask));
        base = __shfl_sync(ALL, base, 0);
        if (wants)
            out[base + __popc(mask & below())] = i;
    }
}

// verified, around: the active lanes of a round take one each
// heddle: grid=4 block=64
__global__ void active_rounds(const int *in, int *out, int n) {
    for (int i = 0; i < n; i++)
        if (in[i * 64 + threadIdx.x] > 0) {
            unsigned mask = __activemask(), base = 0;
            int leader = __ffs(mask) - 1;
            if (lane() == leader)
                base = atomicAdd(&taken, __popc(mask));
            base = __shfl_sync(mask, base, leader);
            out[base + __popc(mask & below())] = i;
        }
}

// verified, inputs: ranks from 1 on are the places behind those from 0 on, and as distinct
// heddle: grid=4 block=64
__global__ void ranks_from_one(const int *in, int *out) {
    bool wants = in[blockIdx.x * blockDim.x + threadIdx.x] > 0;
    unsigned mask = __ballot_sync(ALL, wants), base = 0, upto;
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(upto));
    if (lane() == 0)
        base = atomicAdd(&taken, __popc(mask));
    base = __shfl_sync(ALL, base, 0);
    if (wants)
        out[base + __popc(mask & upto)] = threadIdx.x;
}

// bug race-global: half of the lanes count themselves, so that lane 31 has the place of the next
// lane 0
// heddle: grid=4 block=64
__global__ void ranks_from_both(int *out) {
    unsigned base = 0, upto;
    asm("mov.u32 %0, %%lanemask_le;" : "=r"(upto));
    if (lane() == 0)
        base = atomicAdd(&taken, 32);
    base = __shfl_sync(ALL, base, 0);
    out[base + __popc(lane() < 16 ? below() : upto)] = threadIdx.x;
}

// bug race-global: adds the lanes of another mask than that of the ranks
// heddle: grid=4 block=64
__global__ void other_mask(int *out) {
    unsigned some = __ballot_sync(ALL, threadIdx.x & 1), base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, __popc(some));
    base = __shfl_sync(ALL, base, 0);
    out[base + lane()] = threadIdx.x;
}

// bug race-global: lane 1 tells what it has, which is 0
// heddle: grid=4 block=64
__global__ void wrong_leader(int *out) {
    unsigned base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, 32);
    base = __shfl_sync(ALL, base, 1);
    out[base + lane()] = threadIdx.x;
}

// bug race-global: adds one less than it takes
// heddle: grid=4 block=64
__global__ void one_less(int *out) {
    unsigned base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, 31);
    base = __shfl_sync(ALL, base, 0);
    out[base + lane()] = threadIdx.x;
}

// bug race-global: adds 1 for 32 lanes
// heddle: grid=4 block=64
__global__ void adds_one(int *out) {
    unsigned base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, 1);
    base = __shfl_sync(ALL, base, 0);
    out[base + lane()] = threadIdx.x;
}

// bug race-global: the shuffle within halves of the warp tells lanes 16 to 31 what lane 16 has
// heddle: grid=4 block=64
__global__ void half_of_warp(int *out) {
    unsigned base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, 32);
    base = __shfl_sync(ALL, base, 0, 16);
    out[base + lane()] = threadIdx.x;
}

// bug race-global: no shuffle, so that only lane 0 has the base
// heddle: grid=4 block=64
__global__ void untold(int *out) {
    unsigned base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, 32);
    out[base + lane()] = threadIdx.x;
}

// bug race-global: the ranks are those in the mask of the lanes that do not want a place
// heddle: grid=4 block=64
__global__ void ranks_of_others(int *out) {
    bool wants = threadIdx.x % 3 > 0;
    unsigned mask = __ballot_sync(ALL, wants), base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, __popc(mask));
    base = __shfl_sync(ALL, base, 0);
    if (wants)
        out[base + __popc(~mask & below())] = threadIdx.x;
}

// bug race-global: two lanes share each element
// heddle: grid=4 block=64
__global__ void half_places(int *out) {
    unsigned base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, 32);
    base = __shfl_sync(ALL, base, 0);
    out[(base + lane()) / 2] = threadIdx.x;
}

// bug race-global: a thread gives places back
// heddle: grid=4 block=64
__global__ void gives_back(int *out) {
    unsigned base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, 32);
    base = __shfl_sync(ALL, base, 0);
    if (lane() == 7)
        atomicSub(&taken, 32);
    out[base + lane()] = threadIdx.x;
}

// bug race-global: the lane that adds sets the counter back, which does not race with its own
// additions
// heddle: grid=1 block=32
__global__ void resets_itself(int *out) {
    unsigned base = 0, again = 0;
    if (lane() == 0) {
        base = atomicAdd(&taken, 32);
        taken = 0;
        again = atomicAdd(&taken, 32);
    }
    base = __shfl_sync(ALL, base, 0);
    again = __shfl_sync(ALL, again, 0);
    out[base + lane()] = 1;
    out[again + 31 - lane()] = 2;
}

// bug race-global: two counters give the same places
// heddle: grid=4 block=64
__global__ void two_counters(int *out) {
    unsigned base = 0;
    if (lane() == 0)
        base = atomicAdd(threadIdx.x < 32 ? &taken : &others, 32);
    base = __shfl_sync(ALL, base, 0);
    out[base + lane()] = threadIdx.x;
}

// bug race-global: each lane also writes the place behind its own
// heddle: grid=4 block=64
__global__ void two_of_one(int *out) {
    unsigned base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, 32);
    base = __shfl_sync(ALL, base, 0);
    out[base + lane()] = 1;
    out[base + lane() + 1] = 2;
}

// bug warp-sync-hang: the mask names lanes that do not shuffle
// heddle: grid=4 block=64
__global__ void names_absent(int *out) {
    if (lane() < 16) {
        unsigned base = 0;
        if (lane() == 0)
            base = atomicAdd(&taken, 16);
        base = __shfl_sync(ALL, base, 0);
        out[base + lane()] = threadIdx.x;
    }
    __syncthreads();
}

// unknown: the source is not in the mask, so that the result is undefined (PTX ISA 9.7.9.6); a run
// need not show it
// heddle: grid=4 block=64
__global__ void source_not_named(int *out) {
    unsigned base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, 32);
    if (lane() > 0) {
        base = __shfl_sync(0xfffffffe, base, 0);
        out[base + lane()] = threadIdx.x;
    }
}

// unknown: the source may have exited
// heddle: grid=4 block=64
__global__ void source_exits(const int *in, int *out) {
    unsigned base = 0;
    if (lane() == 0)
        base = atomicAdd(&taken, 32);
    if (in[threadIdx.x] == 12345)
        return;
    base = __shfl_sync(ALL, base, 0);
    out[base + lane()] = threadIdx.x;
}

// bug race-global: a warp that is not full has no lane 31, whose value is undefined; what runs take
// for it races
// heddle: grid=4 block=48
__global__ void no_lane_31(int *out) {
    unsigned base = 0;
    if (lane() == 31)
        base = atomicAdd(&taken, 32);
    base = __shfl_sync(ALL, base, 31);
    out[base + lane()] = threadIdx.x;
}

// bug race-global: every second block does not execute the shuffle, and uses the places from 0 on
// heddle: grid=4 block=64
__global__ void blocks_skip(int *out) {
    unsigned base = 0;
    if (blockIdx.x % 2 == 0) {
        if (lane() == 0)
            base = atomicAdd(&taken, 32);
        base = __shfl_sync(ALL, base, 0);
    }
    out[base + lane()] = threadIdx.x;
}

// bug race-global: warps without input do not execute the shuffle, and use the places from 0 on
// heddle: grid=4 block=64
__global__ void warps_skip(const int *in, int *out) {
    unsigned base = 0;
    if (in[blockIdx.x * 2 + threadIdx.x / 32] > 0) {
        if (lane() == 0)
            base = atomicAdd(&taken, 32);
        base = __shfl_sync(ALL, base, 0);
    }
    out[base + lane()] = threadIdx.x;
}

// bug race-global: every second round does not execute the shuffle, and uses the places from 0 on
// heddle: grid=4 block=64
__global__ void rounds_skip(int *out, int n) {
    for (int i = 0; i < n; i++) {
        unsigned base = 0;
        if (i % 2 == 0) {
            if (lane() == 0)
                base = atomicAdd(&taken, 32);
            base = __shfl_sync(ALL, base, 0);
        }
        out[base + lane()] = threadIdx.x;
    }
}

// verified, inputs: warps without input skip the shuffle, and write nothing
// heddle: grid=4 block=64
__global__ void warps_without(const int *in, int *out) {
    if (in[blockIdx.x * 2 + threadIdx.x / 32] > 0) {
        unsigned base = 0;
        if (lane() == 0)
            base = atomicAdd(&taken, 32);
        base = __shfl_sync(ALL, base, 0);
        out[base + lane()] = threadIdx.x;
    }
}

// bug race-global: threads that add nothing write the first element; what they would add is huge,
// but an addition that is not made says nothing
// heddle: grid=4 block=64
__global__ void adds_nothing(const unsigned *in, int *out) {
    unsigned n = in[blockIdx.x * 64 + threadIdx.x];
    unsigned long long at = 0;
    if (n == 0 || n >= 1000 && n < 0xff000000u)
        return;
    if (n < 1000)
        at = 1ull + atomicAdd(&taken, n);
    out[at] = threadIdx.x;
}

// bug race-global: warps that add nothing write the first 32 elements
// heddle: grid=4 block=64
__global__ void warps_add_nothing(const unsigned *in, int *out) {
    unsigned n = in[blockIdx.x * 2 + threadIdx.x / 32], base = 0;
    if (n < 32 || n >= 1000 && n < 0xff000000u)
        return;
    if (lane() == 0 && n < 1000)
        base = atomicAdd(&taken, n);
    base = __shfl_sync(ALL, base, 0);
    out[n < 1000 ? 32ull + base + lane() : lane()] = threadIdx.x;
}

// bug race-global: lanes behind 6 all write the first element, since the sum of the two places is
// even. That sum is all that is added: a lane that adds nothing has no result within it
// heddle: grid=1 block=32
__global__ void no_room(int *out) {
    unsigned b = 0, c = 0;
    if (threadIdx.x == 0)
        b = atomicAdd(&taken, 1u << 27);
    if (threadIdx.x == 5)
        c = atomicAdd(&taken, 1u << 27);
    unsigned t = __shfl_sync(ALL, b, 0), u = __shfl_sync(ALL, c, 5);
    if (threadIdx.x > 6)
        out[((t + u) & 1) + b + c] = threadIdx.x;
}
