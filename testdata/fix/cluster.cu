// Kernels of clusters and bulk copies that miss a barrier or a wait without operands, which an asm statement of the
// source can hold. The comment above each has the expected result of heddle fix. NAME_ref is the intended version.
typedef unsigned int u32;
static __device__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
static __device__ void cluster_sync() {
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
static __device__ u32 rank() {
    u32 r;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(r));
    return r;
}
static __device__ u32 read_other(const u32 *p, u32 rank) {
    u32 v;
    asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %1, %2; ld.shared::cluster.u32 %0, [a]; }"
                 : "=r"(v)
                 : "r"(at(p)), "r"(rank)
                 : "memory");
    return v;
}
static __device__ void store(void *to, const void *from, u32 bytes) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\n"
                 "cp.async.bulk.commit_group;" ::"l"(to),
                 "r"(at(from)), "r"(bytes)
                 : "memory");
}

// repaired: a block may end while the other one reads its memory
// heddle: grid=2 block=32
__global__ void __cluster_dims__(2) exits_early(u32 *out) {
    __shared__ u32 s[32];
    s[threadIdx.x] = threadIdx.x + rank();
    cluster_sync();
    out[rank() * 32 + threadIdx.x] = read_other(&s[threadIdx.x ^ 1], rank() ^ 1);
}

// heddle: grid=2 block=32
__global__ void __cluster_dims__(2) exits_early_ref(u32 *out) {
    __shared__ u32 s[32];
    s[threadIdx.x] = threadIdx.x + rank();
    cluster_sync();
    out[rank() * 32 + threadIdx.x] = read_other(&s[threadIdx.x ^ 1], rank() ^ 1);
    cluster_sync();
}

// repaired: the tile is written again while the store reads it
// heddle: grid=1 block=64
__global__ void written_again(u32 *out) {
    __shared__ __align__(128) u32 tile[64];
    tile[threadIdx.x] = threadIdx.x * 5;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0)
        store(out, tile, sizeof tile);
    __syncthreads();
    tile[threadIdx.x] = 1;
    __syncthreads();
    out[64 + threadIdx.x] = tile[threadIdx.x ^ 1];
}

// heddle: grid=1 block=64
__global__ void written_again_ref(u32 *out) {
    __shared__ __align__(128) u32 tile[64];
    tile[threadIdx.x] = threadIdx.x * 5;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        store(out, tile, sizeof tile);
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    __syncthreads();
    tile[threadIdx.x] = 1;
    __syncthreads();
    out[64 + threadIdx.x] = tile[threadIdx.x ^ 1];
}
