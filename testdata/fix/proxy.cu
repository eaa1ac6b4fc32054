// Kernels whose bulk copies are ordered behind ordinary accesses, and miss the proxy fence that this needs (PTX ISA
// 8.9.5, 9.7.13.4). The comment above each has the expected result of heddle fix. NAME_ref is the intended version.
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
static __device__ void store(void *to, const void *from, u32 bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
                 "cp.async.bulk.commit_group;\n"
                 "cp.async.bulk.wait_group 0;" ::"l"(to),
                 "r"(at(from)), "r"(bytes)
                 : "memory");
}
static __device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// repaired: each thread writes its element, and one thread stores the tile; the fence belongs in front of the barrier
// heddle: grid=1 block=64
__global__ void tile_stored(u32 *out) {
    __shared__ __align__(128) u32 tile[64];
    tile[threadIdx.x] = threadIdx.x * 3;
    __syncthreads();
    if (threadIdx.x == 0)
        store(out, tile, sizeof tile);
}

// heddle: grid=1 block=64
__global__ void tile_stored_ref(u32 *out) {
    __shared__ __align__(128) u32 tile[64];
    tile[threadIdx.x] = threadIdx.x * 3;
    fence();
    __syncthreads();
    if (threadIdx.x == 0)
        store(out, tile, sizeof tile);
}

// repaired: several writes in a loop; one fence behind the loop is enough
// heddle: grid=1 block=64
__global__ void rows_stored(u32 *out) {
    __shared__ __align__(128) u32 tile[8][64];
    for (int i = 0; i < 8; i++)
        tile[i][threadIdx.x] = i + threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0)
        store(out, tile, sizeof tile);
}

// heddle: grid=1 block=64
__global__ void rows_stored_ref(u32 *out) {
    __shared__ __align__(128) u32 tile[8][64];
    for (int i = 0; i < 8; i++)
        tile[i][threadIdx.x] = i + threadIdx.x;
    fence();
    __syncthreads();
    if (threadIdx.x == 0)
        store(out, tile, sizeof tile);
}

// repaired: the consumers read a stage, and the producer fills it again: the fence belongs between the read and the
// arrival
// heddle: grid=1 block=64
__global__ void stage_filled_again(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[32];
    __shared__ u64 full, empty;
    int t = threadIdx.x;
    if (t == 0) {
        init(&full, 1);
        init(&empty, 32);
    }
    __syncthreads();
    if (t == 32) {
        for (int i = 0; i < 4; i++) {
            wait(&empty, i & 1 ^ 1);
            expect(&full, sizeof stage);
            load(stage, in + 32 * i, sizeof stage, &full);
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 4; i++) {
            wait(&full, i & 1);
            sum += stage[t ^ 1];
            arrive(&empty);
        }
        out[t] = sum;
    }
}

// heddle: grid=1 block=64
__global__ void stage_filled_again_ref(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[32];
    __shared__ u64 full, empty;
    int t = threadIdx.x;
    if (t == 0) {
        init(&full, 1);
        init(&empty, 32);
    }
    __syncthreads();
    if (t == 32) {
        for (int i = 0; i < 4; i++) {
            wait(&empty, i & 1 ^ 1);
            expect(&full, sizeof stage);
            load(stage, in + 32 * i, sizeof stage, &full);
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 4; i++) {
            wait(&full, i & 1);
            sum += stage[t ^ 1];
            fence();
            arrive(&empty);
        }
        out[t] = sum;
    }
}
