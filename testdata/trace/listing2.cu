// The working example (Weft, listing 2, figures 3 and 5): the warps alternate as producer of one place.
// Why: barrier 0 separates the two generations of barrier 1 and the accesses around it.
// expect: verified
// heddle: grid=1 block=64
__global__ void k(const int *in, int *out) {
    __shared__ int g[32];
    int lane = threadIdx.x & 31, first = threadIdx.x < 32;
    asm volatile("bar.sync 0, 64;" ::: "memory");
    if (first) {
        g[lane] = in[lane];
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[lane] = g[lane];
    }
    asm volatile("bar.sync 0, 64;" ::: "memory");
    if (first) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[lane + 32] = g[lane];
    } else {
        g[lane] = in[lane + 32];
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    }
}
