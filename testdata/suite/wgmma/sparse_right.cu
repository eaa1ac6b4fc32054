// Matrix operations of a warpgroup with a sparse A (wgmma.mma_async.sp), as the PTX ISA asks.
// Why: PTX ISA 9.7.15.6 and 9.7.15.7.
// expect: clean

// Threads write the operands and meet; then the warpgroup multiplies.
// heddle: grid=1 block=128
__global__ __launch_bounds__(128) void once(float *out) {
    __shared__ __align__(128) unsigned s[640]; // A is 64 x 32, of which half is stored, B is 32 x 8
    unsigned a = (unsigned)__cvta_generic_to_shared(s), b = a + 2048;
    for (int i = threadIdx.x; i < 640; i += 128)
        s[i] = i;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned long long strides = 8ull << 16 | 16ull << 32; // of columns and of rows, in 16 bytes
    unsigned long long da = a >> 4 | strides, db = b >> 4 | strides;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 "
                 "{%0, %1, %2, %3}, %4, %5, %6, 0, 1, 1, 1, 0, 0;"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "l"(da), "l"(db), "r"(0x4e4e9494)
                 : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)::"memory");
    out[threadIdx.x] = d0 + d1 + d2 + d3;
}

// Two operations accumulate, and B is written again behind the wait for both.
// heddle: grid=1 block=128
__global__ __launch_bounds__(128) void twice(float *out) {
    __shared__ __align__(128) unsigned s[640]; // A is 64 x 32, of which half is stored, B is 32 x 8
    unsigned a = (unsigned)__cvta_generic_to_shared(s), b = a + 2048;
    for (int i = threadIdx.x; i < 640; i += 128)
        s[i] = i;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned long long strides = 8ull << 16 | 16ull << 32; // of columns and of rows, in 16 bytes
    unsigned long long da = a >> 4 | strides, db = b >> 4 | strides;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 "
                 "{%0, %1, %2, %3}, %4, %5, %6, 0, 1, 1, 1, 0, 0;"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "l"(da), "l"(db), "r"(0x4e4e9494)
                 : "memory");
    asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 "
                 "{%0, %1, %2, %3}, %4, %5, %6, 0, 1, 1, 1, 0, 0;"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "l"(da), "l"(db), "r"(0x4e4e9494)
                 : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)::"memory");
    __syncthreads(); // redundant: a wait is for the operations of all four warps
    s[512 + threadIdx.x] = 1;
    out[threadIdx.x] = d0 + d1 + d2 + d3;
}
