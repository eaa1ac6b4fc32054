// As stmatrix_syncwarp, without the synchronization.
// Why: although all threads execute stmatrix together, its writes do not precede the reads of other lanes.
// expect: bug
// heddle: grid=1 block=32
__global__ void k(unsigned *out) {
    __shared__ __align__(16) unsigned m[32];
    unsigned t = threadIdx.x;
    asm volatile("stmatrix.sync.aligned.m8n8.x1.b16 [%0], {%1};" :: "l"(&m[4 * (t & 7)]), "r"(t) : "memory"); // want race-shared "m"
    out[t] = m[31 - t]; // want race-shared "m"
}
