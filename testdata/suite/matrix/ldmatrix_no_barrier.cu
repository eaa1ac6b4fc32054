// As ldmatrix_barrier, without the barrier.
// Why: the thread that specifies the address reads the bytes of the row, unordered with the writes of the other warp.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(unsigned *out) {
    __shared__ __align__(16) unsigned m[128];
    unsigned t = threadIdx.x, r0, r1, r2, r3;
    if (t >= 32)
        for (int i = 0; i < 4; i++)
            m[4 * (t - 32) + i] = t + i; // want race-shared "m"
    if (t < 32) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.b16 {%0, %1, %2, %3}, [%4];" : "=r"(r0), "=r"(r1), "=r"(r2), "=r"(r3) : "l"(&m[4 * t]) : "memory"); // want race-shared "m"
        out[t] = r0 + r1 + r2 + r3;
    }
}
