// Two paths of one warp store the same value by two instructions.
// Why: only writes by one instruction are tolerated; the paths of a divergent warp are not ordered.
// expect: bug
// heddle: grid=1 block=32
__global__ void k(int *flag) {
    if (threadIdx.x < 16)
        flag[0] = 1; // want race-global
    else
        flag[0] = 1; // want race-global
}
