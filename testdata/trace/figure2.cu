// Four warps; barrier 2 is used twice, by different pairs (Weft, figure 2).
// Why: warp 3 waits in the first generation of barrier 2, and barriers 1 and 3 order both warps of
// the second generation after it.
// expect: verified
// heddle: grid=1 block=128
__global__ void k(float *out) {
    switch (threadIdx.x / 32) {
    case 0:
        asm volatile("bar.arrive 2, 64;" ::: "memory");
        break;
    case 1:
        asm volatile("bar.sync 1, 64;" ::: "memory");
        asm volatile("bar.arrive 2, 64;" ::: "memory");
        break;
    case 2:
        asm volatile("bar.sync 3, 64;" ::: "memory");
        asm volatile("bar.sync 2, 64;" ::: "memory");
        break;
    case 3:
        asm volatile("bar.sync 2, 64;" ::: "memory");
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        asm volatile("bar.arrive 3, 64;" ::: "memory");
        break;
    }
    out[threadIdx.x] = 1;
}
