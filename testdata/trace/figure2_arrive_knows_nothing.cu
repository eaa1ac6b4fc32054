// The same, but it is the warp that only arrived in the first generation of barrier 2 that says so to warp 1.
// Why: warp 0 does not wait, so it cannot know that the generation is over (the path A-B-F-I of the paper's text).
// Warps 0 and 1 may make a generation by themselves, in which nobody waits, and leave warp 3 without a partner.
// expect: bug
// heddle: grid=1 block=128
__global__ void k(float *out) {
    switch (threadIdx.x / 32) {
    case 0:
        asm volatile("bar.arrive 2, 64;" ::: "memory"); // want barrier-no-waiter // want barrier-too-many
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        break;
    case 1:
        asm volatile("bar.sync 1, 64;" ::: "memory");
        asm volatile("bar.arrive 2, 64;" ::: "memory"); // want barrier-no-waiter // want barrier-too-many
        break;
    case 2:
        asm volatile("bar.sync 3, 64;" ::: "memory");
        asm volatile("bar.sync 2, 64;" ::: "memory");
        break;
    case 3:
        asm volatile("bar.sync 2, 64;" ::: "memory"); // want barrier-too-many
        asm volatile("bar.arrive 3, 64;" ::: "memory");
        break;
    }
    out[threadIdx.x] = 1;
}
