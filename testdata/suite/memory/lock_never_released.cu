// A lock is acquired and never released; the race before it is still reported.
// Why: partial findings are kept when the budget ends the run.
// expect: bug
// options: --max-steps 20000
// heddle: grid=2 block=1
__device__ int lock, data;
__global__ void k() {
    data = blockIdx.x + 1; // want race-global "data"
    while (atomicCAS(&lock, 0, 1) != 0) {}
}
