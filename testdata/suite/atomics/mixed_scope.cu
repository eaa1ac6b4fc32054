// One block uses atomicAdd_block, the other atomicAdd.
// Why: the scope of the first does not include the second thread; both must include the other.
// expect: bug
// heddle: grid=2 block=1
__device__ int counter;
__global__ void k() {
    if (blockIdx.x == 0)
        atomicAdd_block(&counter, 1); // want race-global "counter"
    else
        atomicAdd(&counter, 1); // want race-global "counter"
}
