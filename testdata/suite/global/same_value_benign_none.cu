// The lanes of one warp store the same value, and the options report that.
// Why: --benign none reports every unordered conflicting pair.
// expect: bug
// options: --benign none
// heddle: grid=1 block=32
__global__ void k(int *flag) {
    flag[0] = 1; // want race-global "intra-warp"
}
