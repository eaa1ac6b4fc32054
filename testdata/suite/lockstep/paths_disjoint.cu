// The paths of a branch access different words.
// Why: nothing conflicts.
// expect: clean
// options: --warp lockstep
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s[2];
    int t = threadIdx.x;
    if (t == 0)
        s[0] = 1;
    else if (t == 1)
        s[1] = 2;
    out[t] = s[0] + s[1];
}
