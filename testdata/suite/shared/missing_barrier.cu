// A neighbour's element is read without a barrier.
// Why: nothing orders the store of thread t+1 before the load of thread t.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t; // want race-shared "s"
    out[t] = s[(t + 1) % 64]; // want race-shared "s"
}
