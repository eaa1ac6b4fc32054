// One path of a branch writes a word that the other reads.
// Why: the order of the two paths is not defined: a branch-ordering race (Barracuda §3.3.1).
// expect: bug
// options: --warp lockstep
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s;
    if (threadIdx.x == 0)
        s = 1; // want race-branch-order
    else
        out[threadIdx.x] = s; // want race-branch-order
}
