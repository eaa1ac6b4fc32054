// The lanes of one warp store the same value by one instruction.
// Why: the default --benign warp tolerates this, as Barracuda §3.3.1 does: the outcome is well defined.
// expect: clean
// heddle: grid=1 block=32
__global__ void k(int *flag) {
    flag[0] = 1;
}
