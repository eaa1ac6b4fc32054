// Figure 2 without barrier 3: warp 2 can reach barrier 2 at any time.
// Why: no chain leads from the first generation of barrier 2 to warp 2, which can take the place of
// warp 0 or 3 in it; the remaining warp then waits forever.
// expect: bug
// heddle: grid=1 block=128
__global__ void k(float *out) {
    switch (threadIdx.x / 32) {
    case 0:
        asm volatile("bar.arrive 2, 64;" ::: "memory"); // want barrier-too-many
        break;
    case 1:
        asm volatile("bar.sync 1, 64;" ::: "memory");
        asm volatile("bar.arrive 2, 64;" ::: "memory");
        break;
    case 2:
        asm volatile("bar.sync 2, 64;" ::: "memory"); // want barrier-too-many
        break;
    case 3:
        asm volatile("bar.sync 2, 64;" ::: "memory"); // want barrier-too-many
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        break;
    }
    out[threadIdx.x] = 1;
}
