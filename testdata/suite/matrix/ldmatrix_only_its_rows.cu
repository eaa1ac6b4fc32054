// A load of one matrix while another warp writes the rows that the lanes above the eighth point to.
// Why: .x1 uses only the addresses of threads 0 to 7 (PTX ISA 9.7.14.5.15).
// expect: clean
// heddle: grid=1 block=64
__global__ void k(unsigned *out) {
    __shared__ __align__(16) unsigned m[128];
    unsigned t = threadIdx.x, r;
    if (t < 32)
        m[t] = t;
    __syncthreads();
    if (t >= 32)
        m[t] = t;
    if (t < 32) {
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.b16 {%0}, [%1];" : "=r"(r) : "l"(&m[4 * t]) : "memory");
        out[t] = r;
    }
}
