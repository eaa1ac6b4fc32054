// The arriving warp reads a word that the syncing warp wrote before the barrier.
// Why: sync synchronizes only with sync; an arriving thread does not wait and acquires nothing (8.9.4).
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x & 31;
    if (threadIdx.x < 32) {
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        out[t] = s[31 - t]; // want race-shared
    } else {
        s[t] = t; // want race-shared
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
}
