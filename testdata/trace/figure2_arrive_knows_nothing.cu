// The same, but warp 1 is told by the warp that only arrived in the first generation of barrier 2.
// Why: warp 0 does not wait, so it cannot know that the generation is over (path A-B-F-I in the paper).
// Warps 0 and 1 can form a generation in which no thread waits, and leave warp 3 without a partner.
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
