// Half of a warp executes ldmatrix.
// Why: "undefined if ... any thread in the warp has exited", and all threads must execute it (PTX ISA 9.7.14.5.15).
// expect: bug
// heddle: grid=1 block=32
__global__ void k(unsigned *out) {
    __shared__ __align__(16) unsigned m[128];
    unsigned t = threadIdx.x, r = 0;
    m[t] = t;
    __syncthreads();
    if (t < 16)
        asm volatile("ldmatrix.sync.aligned.m8n8.x1.b16 {%0}, [%1];" : "=r"(r) : "l"(&m[4 * (t & 7)]) : "memory"); // want warp-sync-hang "wait at ldmatrix"
    out[t] = r;
}
