// Kernels in which one call about an mbarrier is missing or wrong, with functions and classes like those of libraries.
// The comment above each has the expected result of heddle fix and what is wrong. The statements that it adds and
// changes are in internal/command/fix/objects_test.go.
typedef unsigned int u32;
typedef unsigned long long u64;
static __device__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
static __device__ void fence() { asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); }

// An API like that of cuda::ptx: functions with the address first, and waits that may fail.
namespace ptx {
static __device__ void mbarrier_init(u64 *b, u32 n) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory");
}
static __device__ u64 mbarrier_arrive(u64 *b) {
    u64 state;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(at(b)) : "memory");
    return state;
}
static __device__ u64 mbarrier_arrive_expect_tx(u64 *b, u32 bytes) {
    u64 state;
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;"
                 : "=l"(state) : "r"(at(b)), "r"(bytes) : "memory");
    return state;
}
static __device__ bool mbarrier_try_wait_parity(u64 *b, u32 parity) {
    u32 done;
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p; }"
                 : "=r"(done) : "r"(at(b)), "r"(parity) : "memory");
    return done;
}
static __device__ void cp_async_bulk(void *to, const void *from, u32 bytes, u64 *b) {
    asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)),
                 "l"(from), "r"(bytes), "r"(at(b)) : "memory");
}
}
// Classes like those of CuTe.
struct Barrier {
    u64 value;
    __device__ void init(u32 n) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&value)), "r"(n) : "memory");
    }
    __device__ void wait(u32 phase) {
        asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
                     "@!p bra W; }" ::"r"(at(&value)), "r"(phase) : "memory");
    }
    __device__ void arrive() {
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(&value)) : "memory");
    }
    __device__ void arrive_and_expect_tx(u32 bytes) {
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&value)), "r"(bytes) : "memory");
    }
};

// repaired: the consumers do not wait for the copy
// heddle: grid=1 block=64
__global__ void ptx_read_too_early(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[32];
    __shared__ u64 full, empty;
    int t = threadIdx.x;
    if (t == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::mbarrier_init(&empty, 32);
    }
    __syncthreads();
    if (t == 32) {
        for (int i = 0; i < 4; i++) {
            while (!ptx::mbarrier_try_wait_parity(&empty, i & 1 ^ 1)) {
            }
            ptx::mbarrier_arrive_expect_tx(&full, sizeof stage);
            ptx::cp_async_bulk(stage, in + 32 * i, sizeof stage, &full);
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 4; i++) {
            sum += stage[t ^ 1];
            fence();
            (void)ptx::mbarrier_arrive(&empty);
        }
        out[t] = sum;
    }
}

// repaired: the producer does not wait until the stage is empty
// heddle: grid=1 block=64
__global__ void ptx_filled_too_early(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[32];
    __shared__ u64 full, empty;
    int t = threadIdx.x;
    if (t == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::mbarrier_init(&empty, 32);
    }
    __syncthreads();
    if (t == 32) {
        for (int i = 0; i < 4; i++) {
            ptx::mbarrier_arrive_expect_tx(&full, sizeof stage);
            ptx::cp_async_bulk(stage, in + 32 * i, sizeof stage, &full);
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 4; i++) {
            while (!ptx::mbarrier_try_wait_parity(&full, i & 1))
                ;
            sum += stage[t ^ 1];
            fence();
            (void)ptx::mbarrier_arrive(&empty);
        }
        out[t] = sum;
    }
}

// repaired: nobody says that the stage is empty
// heddle: grid=1 block=64
__global__ void ptx_never_empty(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[32];
    __shared__ u64 full, empty;
    int t = threadIdx.x;
    if (t == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::mbarrier_init(&empty, 32);
    }
    __syncthreads();
    if (t == 32) {
        for (int i = 0; i < 4; i++) {
            while (!ptx::mbarrier_try_wait_parity(&empty, i & 1 ^ 1)) {
            }
            ptx::mbarrier_arrive_expect_tx(&full, sizeof stage);
            ptx::cp_async_bulk(stage, in + 32 * i, sizeof stage, &full);
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 4; i++) {
            while (!ptx::mbarrier_try_wait_parity(&full, i & 1))
                ;
            sum += stage[t ^ 1];
            fence();
        }
        out[t] = sum;
    }
}

// repaired: nobody expects the bytes of the copy, nor arrives
// heddle: grid=1 block=64
__global__ void ptx_never_full(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[32];
    __shared__ u64 full, empty;
    int t = threadIdx.x;
    if (t == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::mbarrier_init(&empty, 32);
    }
    __syncthreads();
    if (t == 32) {
        for (int i = 0; i < 4; i++) {
            while (!ptx::mbarrier_try_wait_parity(&empty, i & 1 ^ 1)) {
            }
            ptx::cp_async_bulk(stage, in + 32 * i, sizeof stage, &full);
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 4; i++) {
            while (!ptx::mbarrier_try_wait_parity(&full, i & 1))
                ;
            sum += stage[t ^ 1];
            fence();
            (void)ptx::mbarrier_arrive(&empty);
        }
        out[t] = sum;
    }
}

// repaired: the consumers wait with the parity of the producer
// heddle: grid=1 block=64
__global__ void ptx_parity(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[32];
    __shared__ u64 full, empty;
    int t = threadIdx.x;
    if (t == 0) {
        ptx::mbarrier_init(&full, 1);
        ptx::mbarrier_init(&empty, 32);
    }
    __syncthreads();
    if (t == 32) {
        for (int i = 0; i < 4; i++) {
            while (!ptx::mbarrier_try_wait_parity(&empty, i & 1 ^ 1)) {
            }
            ptx::mbarrier_arrive_expect_tx(&full, sizeof stage);
            ptx::cp_async_bulk(stage, in + 32 * i, sizeof stage, &full);
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 4; i++) {
            while (!ptx::mbarrier_try_wait_parity(&full, i & 1 ^ 1))
                ;
            sum += stage[t ^ 1];
            fence();
            (void)ptx::mbarrier_arrive(&empty);
        }
        out[t] = sum;
    }
}

// repaired: the consumers do not wait for the copy
// heddle: grid=1 block=64
__global__ void class_read_too_early(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[2][32];
    __shared__ Barrier full[2], empty[2];
    int t = threadIdx.x;
    if (t < 2) {
        full[t].init(1);
        empty[t].init(32);
    }
    __syncthreads();
    u32 phase = 0;
    if (t == 32) {
        for (int i = 0; i < 6; i++) {
            empty[i % 2].wait(phase ^ 1);
            full[i % 2].arrive_and_expect_tx(sizeof stage[0]);
            ptx::cp_async_bulk(stage[i % 2], in + 32 * i, sizeof stage[0], &full[i % 2].value);
            phase ^= i & 1;
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 6; i++) {
            sum += stage[i % 2][t ^ 1];
            fence();
            empty[i % 2].arrive();
            phase ^= i & 1;
        }
        out[t] = sum;
    }
}

// repaired: the producer does not wait until a stage is empty
// heddle: grid=1 block=64
__global__ void class_filled_too_early(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[2][32];
    __shared__ Barrier full[2], empty[2];
    int t = threadIdx.x;
    if (t < 2) {
        full[t].init(1);
        empty[t].init(32);
    }
    __syncthreads();
    u32 phase = 0;
    if (t == 32) {
        for (int i = 0; i < 6; i++) {
            full[i % 2].arrive_and_expect_tx(sizeof stage[0]);
            ptx::cp_async_bulk(stage[i % 2], in + 32 * i, sizeof stage[0], &full[i % 2].value);
            phase ^= i & 1;
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 6; i++) {
            full[i % 2].wait(phase);
            sum += stage[i % 2][t ^ 1];
            fence();
            empty[i % 2].arrive();
            phase ^= i & 1;
        }
        out[t] = sum;
    }
}

// repaired: nobody says that a stage is empty
// heddle: grid=1 block=64
__global__ void class_never_empty(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[2][32];
    __shared__ Barrier full[2], empty[2];
    int t = threadIdx.x;
    if (t < 2) {
        full[t].init(1);
        empty[t].init(32);
    }
    __syncthreads();
    u32 phase = 0;
    if (t == 32) {
        for (int i = 0; i < 6; i++) {
            empty[i % 2].wait(phase ^ 1);
            full[i % 2].arrive_and_expect_tx(sizeof stage[0]);
            ptx::cp_async_bulk(stage[i % 2], in + 32 * i, sizeof stage[0], &full[i % 2].value);
            phase ^= i & 1;
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 6; i++) {
            full[i % 2].wait(phase);
            sum += stage[i % 2][t ^ 1];
            fence();
            phase ^= i & 1;
        }
        out[t] = sum;
    }
}

// repaired: nobody expects the bytes of the copy, nor arrives
// heddle: grid=1 block=64
__global__ void class_never_full(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[2][32];
    __shared__ Barrier full[2], empty[2];
    int t = threadIdx.x;
    if (t < 2) {
        full[t].init(1);
        empty[t].init(32);
    }
    __syncthreads();
    u32 phase = 0;
    if (t == 32) {
        for (int i = 0; i < 6; i++) {
            empty[i % 2].wait(phase ^ 1);
            ptx::cp_async_bulk(stage[i % 2], in + 32 * i, sizeof stage[0], &full[i % 2].value);
            phase ^= i & 1;
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 6; i++) {
            full[i % 2].wait(phase);
            sum += stage[i % 2][t ^ 1];
            fence();
            empty[i % 2].arrive();
            phase ^= i & 1;
        }
        out[t] = sum;
    }
}

// repaired: the producer waits with the parity of the consumers
// heddle: grid=1 block=64
__global__ void class_parity(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[2][32];
    __shared__ Barrier full[2], empty[2];
    int t = threadIdx.x;
    if (t < 2) {
        full[t].init(1);
        empty[t].init(32);
    }
    __syncthreads();
    u32 phase = 0;
    if (t == 32) {
        for (int i = 0; i < 6; i++) {
            empty[i % 2].wait(phase);
            full[i % 2].arrive_and_expect_tx(sizeof stage[0]);
            ptx::cp_async_bulk(stage[i % 2], in + 32 * i, sizeof stage[0], &full[i % 2].value);
            phase ^= i & 1;
        }
    } else if (t < 32) {
        u32 sum = 0;
        for (int i = 0; i < 6; i++) {
            full[i % 2].wait(phase);
            sum += stage[i % 2][t ^ 1];
            fence();
            empty[i % 2].arrive();
            phase ^= i & 1;
        }
        out[t] = sum;
    }
}
