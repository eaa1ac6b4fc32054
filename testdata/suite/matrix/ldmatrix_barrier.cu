// One warp fills rows of a matrix, another loads them after a barrier.
// Why: ldmatrix is a weak read of 16 bytes at each row's address (PTX ISA 9.7.14.5.15), ordered by the barrier.
// expect: clean
// heddle: grid=1 block=64
__global__ void k(unsigned *out) {
    __shared__ __align__(16) unsigned m[128];
    unsigned t = threadIdx.x, r0, r1, r2, r3;
    if (t >= 32)
        for (int i = 0; i < 4; i++)
            m[4 * (t - 32) + i] = t + i;
    __syncthreads();
    if (t < 32) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "l"(&m[4 * t]) : "memory");
        out[t] = r0 + r1 + r2 + r3;
    }
}
