// Two blocks store different values under --benign all.
// Why: only equal values are tolerated.
// expect: bug
// options: --benign all
// heddle: grid=2 block=1
__global__ void k(int *flag) {
    flag[0] = blockIdx.x + 1; // want race-global
}
