// The producer does not wait until the consumer has read.
// Why: arrive does not wait, so the write of the next round is unordered with the read of this one.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x & 31;
    if (threadIdx.x < 32) {
        s[t] = t;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
        s[t] = -t; // want race-shared
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = s[31 - t]; // want race-shared
    }
}
