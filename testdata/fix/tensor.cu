// Kernels over tensor memory of which the end of the allocation has no order, or is missing. The comment above each has
// the expected result of heddle fix. NAME_ref is the intended version.
typedef unsigned int u32;
typedef unsigned long long u64;
static __device__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
static __device__ void allocate(u32 *to) {
    asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;" ::"r"(at(to)) : "memory");
}
static __device__ void release(u32 from) {
    asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" ::"r"(from) : "memory");
}
static __device__ u32 load(u32 from) {
    u32 x;
    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];"
                 : "=r"(x)
                 : "r"(from + (threadIdx.x / 32 * 32 << 16))
                 : "memory");
    return x;
}
static __device__ void store(u32 to, u32 x) {
    asm volatile("tcgen05.st.sync.aligned.32x32b.x1.b32 [%0], {%1};" ::"r"(to + (threadIdx.x / 32 * 32 << 16)), "r"(x)
                 : "memory");
}
static __device__ void loaded() { asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory"); }
static __device__ void stored() { asm volatile("tcgen05.wait::st.sync.aligned;" ::: "memory"); }
static __device__ void multiply(u32 d, const u32 *operands) {
    // without a permutation: strides of columns and of rows in 16 bytes, and the constant 1; B is behind A
    u64 fields = 8ull << 16 | 16ull << 32 | 1ull << 46, a = at(operands) >> 4 | fields;
    u32 shape = 1 << 4 | 1 << 17 | 8 << 24; // f32 = f16 x f16, N is 8, M is 128
    asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, %3;"
                 "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(d),
                 "l"(a), "l"(a + 256), "r"(shape)
                 : "memory");
}
static __device__ void commit(u64 *object) {
    asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(at(object))
                 : "memory");
}
static __device__ void wait(u64 *object, u32 parity) {
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W; }" ::"r"(at(object)),
                 "r"(parity)
                 : "memory");
}
static __device__ void init(u64 *object, u32 count) {
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(at(object)), "r"(count) : "memory");
}

// repaired: the first warp frees what the others may still load
// heddle: grid=1 block=128
__global__ void unordered(u32 *out) {
    __shared__ u32 base;
    if (threadIdx.x < 32)
        allocate(&base);
    __syncthreads();
    u32 d = base;
    store(d, threadIdx.x * 3);
    stored();
    out[threadIdx.x] = load(d);
    loaded();
    if (threadIdx.x < 32)
        release(d);
}

// heddle: grid=1 block=128
__global__ void unordered_ref(u32 *out) {
    __shared__ u32 base;
    if (threadIdx.x < 32)
        allocate(&base);
    __syncthreads();
    u32 d = base;
    store(d, threadIdx.x * 3);
    stored();
    out[threadIdx.x] = load(d);
    loaded();
    __syncthreads();
    if (threadIdx.x < 32)
        release(d);
}

// repaired: nor has any warp waited for its loads
// heddle: grid=1 block=128
__global__ void in_flight(u32 *out) {
    __shared__ u32 base;
    if (threadIdx.x < 32)
        allocate(&base);
    __syncthreads();
    u32 d = base;
    store(d, threadIdx.x * 3);
    stored();
    out[threadIdx.x] = load(d);
    if (threadIdx.x < 32)
        release(d);
}

// heddle: grid=1 block=128
__global__ void in_flight_ref(u32 *out) {
    __shared__ u32 base;
    if (threadIdx.x < 32)
        allocate(&base);
    __syncthreads();
    u32 d = base;
    store(d, threadIdx.x * 3);
    stored();
    out[threadIdx.x] = load(d);
    loaded();
    __syncthreads();
    if (threadIdx.x < 32)
        release(d);
}

// repaired: the barrier is behind the end of the allocation
// heddle: grid=1 block=128
__global__ void barrier_behind(u32 *out) {
    __shared__ u32 base;
    __shared__ u32 sum[128];
    if (threadIdx.x < 32)
        allocate(&base);
    __syncthreads();
    u32 d = base;
    store(d, threadIdx.x * 3);
    stored();
    sum[threadIdx.x] = load(d);
    loaded();
    if (threadIdx.x < 32) {
        release(d);
    }
    __syncthreads();
    out[threadIdx.x] = sum[threadIdx.x ^ 33];
}

// heddle: grid=1 block=128
__global__ void barrier_behind_ref(u32 *out) {
    __shared__ u32 base;
    __shared__ u32 sum[128];
    if (threadIdx.x < 32)
        allocate(&base);
    __syncthreads();
    u32 d = base;
    store(d, threadIdx.x * 3);
    stored();
    sum[threadIdx.x] = load(d);
    loaded();
    __syncthreads();
    if (threadIdx.x < 32) {
        release(d);
    }
    out[threadIdx.x] = sum[threadIdx.x ^ 33];
}

// repaired: a store may be under way
// heddle: grid=1 block=128
__global__ void store_in_flight(u32 *out) {
    __shared__ u32 base;
    if (threadIdx.x < 32)
        allocate(&base);
    __syncthreads();
    u32 d = base;
    store(d, threadIdx.x * 3);
    out[threadIdx.x] = d;
    __syncthreads();
    if (threadIdx.x < 32)
        release(d);
}

// heddle: grid=1 block=128
__global__ void store_in_flight_ref(u32 *out) {
    __shared__ u32 base;
    if (threadIdx.x < 32)
        allocate(&base);
    __syncthreads();
    u32 d = base;
    store(d, threadIdx.x * 3);
    stored();
    out[threadIdx.x] = d;
    __syncthreads();
    if (threadIdx.x < 32)
        release(d);
}

// repaired: the end of the allocation comes before the loads
// heddle: grid=1 block=128
__global__ void freed_first(u32 *out) {
    __shared__ u32 base;
    if (threadIdx.x < 32)
        allocate(&base);
    __syncthreads();
    u32 d = base;
    store(d, threadIdx.x * 3);
    stored();
    if (threadIdx.x < 32)
        release(d);
    out[threadIdx.x] = load(d);
    loaded();
    __syncthreads();
}

// heddle: grid=1 block=128
__global__ void freed_first_ref(u32 *out) {
    __shared__ u32 base;
    if (threadIdx.x < 32)
        allocate(&base);
    __syncthreads();
    u32 d = base;
    store(d, threadIdx.x * 3);
    stored();
    out[threadIdx.x] = load(d);
    loaded();
    __syncthreads();
    if (threadIdx.x < 32)
        release(d);
}

// repaired: the product is committed, and nobody waits for it
// heddle: grid=1 block=128
__global__ void product_forgotten(u32 *out) {
    __shared__ __align__(128) u32 operands[1088];
    __shared__ u32 base;
    __shared__ __align__(8) u64 done;
    for (int i = threadIdx.x; i < 1088; i += 128)
        operands[i] = 0;
    if (threadIdx.x == 0)
        init(&done, 1);
    if (threadIdx.x < 32)
        allocate(&base);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    u32 d = base;
    if (threadIdx.x == 0) {
        multiply(d, operands);
        commit(&done);
    }
    out[threadIdx.x] = d;
    if (threadIdx.x < 32)
        release(d);
}

// heddle: grid=1 block=128
__global__ void product_forgotten_ref(u32 *out) {
    __shared__ __align__(128) u32 operands[1088];
    __shared__ u32 base;
    __shared__ __align__(8) u64 done;
    for (int i = threadIdx.x; i < 1088; i += 128)
        operands[i] = 0;
    if (threadIdx.x == 0)
        init(&done, 1);
    if (threadIdx.x < 32)
        allocate(&base);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    u32 d = base;
    if (threadIdx.x == 0) {
        multiply(d, operands);
        commit(&done);
    }
    out[threadIdx.x] = d;
    wait(&done, 0);
    if (threadIdx.x < 32)
        release(d);
}

// repaired: what is allocated is not freed
// heddle: grid=1 block=128
__global__ void left(u32 *out) {
    __shared__ u32 base;
    if (threadIdx.x < 32)
        allocate(&base);
    __syncthreads();
    u32 d = base;
    store(d, threadIdx.x * 3);
    stored();
    out[threadIdx.x] = load(d);
    loaded();
}

// heddle: grid=1 block=128
__global__ void left_ref(u32 *out) {
    __shared__ u32 base;
    if (threadIdx.x < 32)
        allocate(&base);
    __syncthreads();
    u32 d = base;
    store(d, threadIdx.x * 3);
    stored();
    out[threadIdx.x] = load(d);
    loaded();
    __syncthreads();
    if (threadIdx.x < 32)
        release(d);
}

// repaired: it is freed twice
// heddle: grid=1 block=128
__global__ void freed_twice(u32 *out) {
    __shared__ u32 base;
    if (threadIdx.x < 32)
        allocate(&base);
    __syncthreads();
    u32 d = base;
    if (threadIdx.x < 32)
        release(d);
    out[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 32)
        release(d);
}
