// Lanes leave a loop at different times and then read a word that lane 31 wrote in the loop.
// Why: the lanes wait for each other at the end of the loop (fi) before the read.
// expect: clean
// options: --warp lockstep
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s;
    int t = threadIdx.x;
    for (int i = 0; i <= t; i++)
        if (i == 31)
            s = i;
    out[t] = s;
}
