// Listing 3 of the Weft paper, repaired: all reads precede the request to refill the buffer.
// Why: every read precedes an arrive on barrier 1, whose sync precedes the next write.
// expect: verified
// heddle: grid=1 block=64
__global__ void k(const float *in, float *out) {
    __shared__ float s_PQ[32];
    int lane = threadIdx.x & 31;
    if (threadIdx.x < 32) {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        for (int iz = 0; iz < 4; iz++) {
            asm volatile("bar.sync 2, 64;" ::: "memory");
            float v = s_PQ[lane];
            out[iz * 32 + lane] = v + s_PQ[31 - lane];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        }
    } else {
        for (int iz = 0; iz < 4; iz++) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            s_PQ[lane] = in[iz * 32 + lane];
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}
