// A compute warp tells the DMA warp to refill the buffer before its last read of it (Weft, listing 3).
// Why: nothing orders the read before the write of the next iteration.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(const float *in, float *out) {
    __shared__ float s_PQ[32];
    int lane = threadIdx.x & 31;
    if (threadIdx.x < 32) {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        for (int iz = 0; iz < 4; iz++) {
            asm volatile("bar.sync 2, 64;" ::: "memory");
            float v = s_PQ[lane];
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            out[iz * 32 + lane] = v + s_PQ[31 - lane]; // want race-shared "read-write"
        }
    } else {
        for (int iz = 0; iz < 4; iz++) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            s_PQ[lane] = in[iz * 32 + lane]; // want race-shared "read-write"
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}
