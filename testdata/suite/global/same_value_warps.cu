// Two warps store the same value to one word.
// Why: only writes by one instruction of one warp are tolerated.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *flag) {
    flag[0] = 1; // want race-global "intra-block"
}
