// The inner path of one branch conflicts with the other path of the outer branch.
// Why: as branch_order, two levels deep.
// expect: bug
// options: --warp lockstep
// heddle: grid=1 block=32
__global__ void k(int *out) {
    __shared__ int s;
    int t = threadIdx.x;
    if (t < 16) {
        out[t] = t;
        if (t < 8)
            s = 1; // want race-branch-order
    } else {
        out[t] = s; // want race-branch-order
    }
}
