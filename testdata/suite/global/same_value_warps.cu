// Two warps store the same value to one word.
// Why: the tolerance is for one instruction of one warp only.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *flag) {
    flag[0] = 1; // want race-global "intra-block"
}
