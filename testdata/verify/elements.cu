// Values that do not depend on the thread's own registers only, and operations on several elements.
// Every launch has 4 blocks of 64 threads.
#define N 64

// divergence: a transposed matrix contains elements of other lanes, so equal registers can differ
__global__ void transposed_condition(int *out, unsigned a) {
    unsigned d;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %1;" : "=r"(d) : "r"(a));
    if (d > 7)
        __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = 1;
}

// race: byte 0 and byte 1 of a register can differ, though the instructions have equal modifiers
__global__ void selected_bytes(int *out, unsigned a, unsigned b) {
    unsigned x, y;
    asm volatile("{ .reg .u32 p, q; mov.u32 p, %2; mov.u32 q, %3; vadd.u32.u32.u32 %0, p.b0, q; vadd.u32.u32.u32 %1, p.b1, q; }"
                 : "=r"(x), "=r"(y) : "r"(a), "r"(b));
    out[blockIdx.x * N + threadIdx.x + ((x == y) ? 0 : -(int)threadIdx.x)] = threadIdx.x;
}

// race: an atomic on two halves does not match a 32-bit one (PTX ISA 9.7.13.5, 8.7.2)
__global__ void pair_and_word(unsigned *out) {
    unsigned r;
    if (threadIdx.x == 0)
        asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;" : "=r"(r) : "l"(out), "r"(0x3c003c00) : "memory");
    if (threadIdx.x == 1)
        atomicExch(out, 7u);
}

// verified: two 32-bit atomics are morally strong
__global__ void word_and_word(unsigned *out) {
    if (threadIdx.x == 0)
        atomicAdd(out, 1u);
    if (threadIdx.x == 1)
        atomicExch(out, 7u);
}
