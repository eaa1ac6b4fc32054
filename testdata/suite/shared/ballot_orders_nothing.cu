// A vote is between the write and the neighbour's read.
// Why: vote.sync orders no memory.
// expect: bug
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    s[t] = t; // want race-shared
    unsigned v = __ballot_sync(0xffffffffu, t & 1);
    out[t] = v + s[31 - t]; // want race-shared
}
