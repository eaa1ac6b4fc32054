// Matrix operations of a warpgroup with a sparse A (wgmma.mma_async.sp), with errors.
// Why: PTX ISA 9.7.15.6 and 9.7.15.7, as each kernel says.
// expect: bug

// No wgmma.fence precedes the first operation (9.7.15.7.1).
// heddle: grid=1 block=128
__global__ __launch_bounds__(128) void no_fence(float *out) {
    __shared__ __align__(128) unsigned s[640]; // A is 64 x 32, of which half is stored, B is 32 x 8
    unsigned a = (unsigned)__cvta_generic_to_shared(s), b = a + 2048;
    for (int i = threadIdx.x; i < 640; i += 128)
        s[i] = i;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned long long strides = 8ull << 16 | 16ull << 32; // of columns and of rows, in 16 bytes
    unsigned long long da = a >> 4 | strides, db = b >> 4 | strides;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 " // want wgmma-fence
                 "{%0, %1, %2, %3}, %4, %5, %6, 0, 1, 1, 1, 0, 0;"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "l"(da), "l"(db), "r"(0x4e4e9494)
                 : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)::"memory");
    out[threadIdx.x] = d0 + d1 + d2 + d3;
}

// The accumulators are read before the wait (9.7.15.7.3).
// heddle: grid=1 block=128
__global__ __launch_bounds__(128) void no_wait(float *out) {
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
    out[threadIdx.x] = d0 + d1 + d2 + d3; // want wgmma-register
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)::"memory");
}

// The last bytes of B are written before the wait: a column of B has 64 bytes.
// heddle: grid=1 block=128
__global__ __launch_bounds__(128) void b_changed(float *out) {
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
    asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 " // want race-async-copy
                 "{%0, %1, %2, %3}, %4, %5, %6, 0, 1, 1, 1, 0, 0;"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "l"(da), "l"(db), "r"(0x4e4e9494)
                 : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    if (threadIdx.x == 0)
        s[639] = 1; // want race-async-copy
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)::"memory");
    out[threadIdx.x] = d0 + d1 + d2 + d3;
}

// Nothing orders the writes of the operands for the async proxy (9.7.15.7.1).
// heddle: grid=1 block=128
__global__ __launch_bounds__(128) void no_proxy_fence(float *out) {
    __shared__ __align__(128) unsigned s[640]; // A is 64 x 32, of which half is stored, B is 32 x 8
    unsigned a = (unsigned)__cvta_generic_to_shared(s), b = a + 2048;
    for (int i = threadIdx.x; i < 640; i += 128)
        s[i] = i; // want race-proxy
    __syncthreads();
    unsigned long long strides = 8ull << 16 | 16ull << 32; // of columns and of rows, in 16 bytes
    unsigned long long da = a >> 4 | strides, db = b >> 4 | strides;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 " // want race-proxy
                 "{%0, %1, %2, %3}, %4, %5, %6, 0, 1, 1, 1, 0, 0;"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)
                 : "l"(da), "l"(db), "r"(0x4e4e9494)
                 : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3)::"memory");
    out[threadIdx.x] = d0 + d1 + d2 + d3;
}
