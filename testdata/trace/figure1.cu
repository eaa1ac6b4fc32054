// A producer warp and a consumer warp with a barrier for each direction (Weft, PLDI 2015, figure 1).
// Why: an arrive synchronizes with the sync of its generation (PTX ISA 9.7.13.1), and each warp waits
// at one barrier before it reaches the other again, so each generation is over before the next starts.
// expect: verified
// heddle: grid=1 block=64
__global__ void k(const float *in, float *out) {
    __shared__ float buffer[32];
    int lane = threadIdx.x & 31;
    for (int i = 0; i < 8; i++) {
        if (threadIdx.x < 32) {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            buffer[lane] = in[i * 32 + lane];
            asm volatile("bar.arrive 2, 64;" ::: "memory");
        } else {
            asm volatile("bar.arrive 1, 64;" ::: "memory");
            asm volatile("bar.sync 2, 64;" ::: "memory");
            out[i * 32 + lane] = buffer[31 - lane];
        }
    }
}
