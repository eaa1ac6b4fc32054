// Kernels in which one call or one asm statement about an mbarrier is missing or wrong, of rings of one stage. The
// comment above each has the expected result of heddle fix and what is wrong. The statements that it adds and changes
// are in internal/command/fix/objects_test.go.
typedef unsigned int u32;
typedef unsigned long long u64;
static __device__ u32 at(const void *p) { return (u32)__cvta_generic_to_shared(p); }
static __device__ void init(u64 *b, u32 n) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(b)), "r"(n) : "memory");
}
static __device__ void arrive(u64 *b) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");
}
static __device__ void relaxed_arrive(u64 *b) {
    asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");
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

// unchanged: what the others are meant to be
// heddle: grid=1 block=64
__global__ void right(u32 *out, const u32 *in) {
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

// repaired: the consumers do not wait for the copy
// heddle: grid=1 block=64
__global__ void read_too_early(u32 *out, const u32 *in) {
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
            sum += stage[t ^ 1];
            fence();
            arrive(&empty);
        }
        out[t] = sum;
    }
}

// repaired: the producer does not wait until the stage is empty
// heddle: grid=1 block=64
__global__ void filled_too_early(u32 *out, const u32 *in) {
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

// repaired: nobody says that the stage is empty
// heddle: grid=1 block=64
__global__ void never_empty(u32 *out, const u32 *in) {
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
        }
        out[t] = sum;
    }
}

// repaired: nobody expects the bytes of the copy, nor arrives
// heddle: grid=1 block=64
__global__ void never_full(u32 *out, const u32 *in) {
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

// repaired: the producer waits with the parity of the consumers
// heddle: grid=1 block=64
__global__ void parity_of_next_round(u32 *out, const u32 *in) {
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
            wait(&empty, i & 1);
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

// repaired: the consumers wait for the first round in each
// heddle: grid=1 block=64
__global__ void parity_of_first_round(u32 *out, const u32 *in) {
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
            wait(&full, 0);
            sum += stage[t ^ 1];
            fence();
            arrive(&empty);
        }
        out[t] = sum;
    }
}

// repaired: half of the bytes are expected
// heddle: grid=1 block=64
__global__ void too_few_bytes(u32 *out, const u32 *in) {
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
            expect(&full, sizeof stage / 2);
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

// repaired: no statement of the kernel waits
// heddle: grid=1 block=64
__global__ void no_wait_at_all(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[32];
    __shared__ u64 full;
    int t = threadIdx.x;
    if (t == 0)
        init(&full, 1);
    __syncthreads();
    if (t == 0) {
        expect(&full, sizeof stage);
        load(stage, in, sizeof stage, &full);
    }
    out[t] = stage[t & 31];
}

// repaired: a wait for all groups but one
// heddle: grid=1 block=64
__global__ void group_of_one(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 tile[64];
    int t = threadIdx.x;
    tile[t] = t;
    fence();
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(out), "r"(at(tile))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 1;" ::: "memory");
    }
    __syncthreads();
    tile[t] = 0;
}

// repaired: the arrival releases nothing
// heddle: grid=1 block=64
__global__ void relaxed_release(u32 *out, const u32 *in) {
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
            relaxed_arrive(&empty[s]);
        }
        out[t] = sum;
    }
}

// repaired: asm statements in the kernel itself, one of which is missing
// heddle: grid=1 block=64
__global__ void direct_read_too_early(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[2][64];
    __shared__ u64 bar[2];
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar[0])) : "memory");
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar[1])) : "memory");
    }
    __syncthreads();
    if (t == 0) {
        for (int i = 0; i < 2; i++) {
            asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;" ::"r"(at(&bar[i])) : "memory");
            asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                         ::"r"(at(stage[i])), "l"(in + 64 * i), "r"(at(&bar[i])) : "memory");
        }
    }
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W; }"
                 ::"r"(at(&bar[0])), "r"(0) : "memory");
    u32 first = stage[0][t];
    u32 second = stage[1][t ^ 1];
    out[t] = first + second;
}

// repaired: nobody expects the bytes of the copy
// heddle: grid=1 block=64
__global__ void direct_never_full(u32 *out, const u32 *in) {
    __shared__ __align__(128) u32 stage[64];
    __shared__ u64 bar;
    int t = threadIdx.x;
    if (t == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
    __syncthreads();
    if (t == 0)
        asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes [%0], [%1], 256, [%2];"
                     ::"r"(at(stage)), "l"(in), "r"(at(&bar)) : "memory");
    asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W; }"
                 ::"r"(at(&bar)), "r"(0) : "memory");
    out[t] = stage[t ^ 1];
}
