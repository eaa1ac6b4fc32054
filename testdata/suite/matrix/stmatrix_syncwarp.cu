// A warp stores a matrix, and its lanes read rows whose addresses other lanes specified.
// Why: stmatrix orders no memory; bar.warp.sync does (PTX ISA 9.7.13.2).
// expect: clean
// heddle: grid=1 block=32
__global__ void k(unsigned *out) {
    __shared__ __align__(16) unsigned m[32];
    unsigned t = threadIdx.x;
    asm volatile("stmatrix.sync.aligned.m8n8.x1.b16 [%0], {%1};" :: "l"(&m[4 * (t & 7)]), "r"(t) : "memory");
    __syncwarp();
    out[t] = m[31 - t];
}
