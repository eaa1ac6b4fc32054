// A producer warp fills a buffer for a consumer warp, by bar.arrive and bar.sync on two barriers.
// Why: the ISA's own example (PTX ISA 9.7.13.1): arrive synchronizes with sync of one generation.
// expect: clean
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x & 31;
    for (int i = 0; i < 4; i++) {
        if (threadIdx.x < 32) {
            if (i > 0)
                asm volatile("bar.sync 2, 64;" ::: "memory");
            s[t] = i + t;
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        } else {
            asm volatile("bar.sync 1, 64;" ::: "memory");
            out[i * 32 + t] = s[31 - t];
            if (i < 3)
                asm volatile("bar.arrive 2, 64;" ::: "memory");
        }
    }
}
