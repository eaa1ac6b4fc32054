// Kernels in which one call about an mbarrier is missing or wrong, of rings of two stages. The comment above each
// has the expected result of heddle fix and what is wrong. The statements that it adds and changes are in
// internal/command/fix/objects_test.go.
typedef unsigned int u32;
typedef unsigned long long u64;
static __device__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
static __device__ void init(u64 *b, u32 n) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory");
}
static __device__ void arrive(u64 *b) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");
}
static __device__ void expect(u64 *b, u32 bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(b)), "r"(bytes) : "memory");
}
static __device__ void wait(u64 *b, u32 parity) {
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                 "@!p bra W; }" ::"r"(at(b)), "r"(parity) : "memory");
}
static __device__ void load(void *to, const void *from, u32 bytes, u64 *b) {
    asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)),
                 "l"(from), "r"(bytes), "r"(at(b))
                 : "memory");
}
static __device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// repaired: of a ring of two stages, the consumers do not wait for the copy
// heddle: grid=1 block=64
__global__ void ring_read_too_early(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[2][32];
    __shared__ u64 full[2], empty[2];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < 2; s++) {
            init(&full[s], 1);
            init(&empty[s], 32);
        }
    __syncthreads();
    if (t == 32) {
        for (int i = 0; i < 6; i++) {
            int s = i & 1;
            wait(&empty[s], i >> 1 & 1 ^ 1);
            expect(&full[s], sizeof stage[s]);
            load(stage[s], in + 32 * i, sizeof stage[s], &full[s]);
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 6; i++) {
            int s = i & 1;
            sum += stage[s][t ^ 1];
            fence();
            arrive(&empty[s]);
        }
        out[t] = sum;
    }
}

// repaired: the producer does not wait until a stage is empty
// heddle: grid=1 block=64
__global__ void ring_filled_too_early(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[2][32];
    __shared__ u64 full[2], empty[2];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < 2; s++) {
            init(&full[s], 1);
            init(&empty[s], 32);
        }
    __syncthreads();
    if (t == 32) {
        for (int i = 0; i < 6; i++) {
            int s = i & 1;
            expect(&full[s], sizeof stage[s]);
            load(stage[s], in + 32 * i, sizeof stage[s], &full[s]);
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 6; i++) {
            int s = i & 1;
            wait(&full[s], i >> 1 & 1);
            sum += stage[s][t ^ 1];
            fence();
            arrive(&empty[s]);
        }
        out[t] = sum;
    }
}

// repaired: nobody says that a stage is empty
// heddle: grid=1 block=64
__global__ void ring_never_empty(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[2][32];
    __shared__ u64 full[2], empty[2];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < 2; s++) {
            init(&full[s], 1);
            init(&empty[s], 32);
        }
    __syncthreads();
    if (t == 32) {
        for (int i = 0; i < 6; i++) {
            int s = i & 1;
            wait(&empty[s], i >> 1 & 1 ^ 1);
            expect(&full[s], sizeof stage[s]);
            load(stage[s], in + 32 * i, sizeof stage[s], &full[s]);
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 6; i++) {
            int s = i & 1;
            wait(&full[s], i >> 1 & 1);
            sum += stage[s][t ^ 1];
            fence();
        }
        out[t] = sum;
    }
}

// repaired: no warp of the consumers says that a stage is empty, and the kernel tells no lanes apart
// heddle: grid=1 block=96
__global__ void ring_never_empty_of_warps(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[2][32];
    __shared__ u64 full[2], empty[2];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < 2; s++) {
            init(&full[s], 1);
            init(&empty[s], 2);
        }
    __syncthreads();
    if (t == 64) {
        for (int i = 0; i < 6; i++) {
            int s = i & 1;
            wait(&empty[s], i >> 1 & 1 ^ 1);
            expect(&full[s], sizeof stage[s]);
            load(stage[s], in + 32 * i, sizeof stage[s], &full[s]);
        }
    } else if (t < 64) {
        u32 sum = 0;
        for (int i = 0; i < 6; i++) {
            int s = i & 1;
            wait(&full[s], i >> 1 & 1);
            sum += stage[s][t & 31];
            fence();
            __syncwarp();
        }
        out[t] = sum;
    }
}

// repaired: nobody expects the bytes of the copy, nor arrives
// heddle: grid=1 block=64
__global__ void ring_never_full(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[2][32];
    __shared__ u64 full[2], empty[2];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < 2; s++) {
            init(&full[s], 1);
            init(&empty[s], 32);
        }
    __syncthreads();
    if (t == 32) {
        for (int i = 0; i < 6; i++) {
            int s = i & 1;
            wait(&empty[s], i >> 1 & 1 ^ 1);
            load(stage[s], in + 32 * i, sizeof stage[s], &full[s]);
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 6; i++) {
            int s = i & 1;
            wait(&full[s], i >> 1 & 1);
            sum += stage[s][t ^ 1];
            fence();
            arrive(&empty[s]);
        }
        out[t] = sum;
    }
}

// repaired: the parity of a wait is that of a ring of one stage
// heddle: grid=1 block=64
__global__ void ring_parity_of_one_stage(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[2][32];
    __shared__ u64 full[2], empty[2];
    int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < 2; s++) {
            init(&full[s], 1);
            init(&empty[s], 32);
        }
    __syncthreads();
    if (t == 32) {
        for (int i = 0; i < 6; i++) {
            int s = i & 1;
            wait(&empty[s], i >> 1 & 1 ^ 1);
            expect(&full[s], sizeof stage[s]);
            load(stage[s], in + 32 * i, sizeof stage[s], &full[s]);
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 6; i++) {
            int s = i & 1;
            wait(&full[s], i & 1);
            sum += stage[s][t ^ 1];
            fence();
            arrive(&empty[s]);
        }
        out[t] = sum;
    }
}
