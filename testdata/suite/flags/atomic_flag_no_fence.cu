// The same without fences.
// Why: CUDA's atomics are relaxed and order nothing else (PTX ISA 9.7.13.5: .relaxed by default).
// expect: bug
// heddle: grid=2 block=1
__device__ int data, flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42; // want race-global "data"
        atomicExch(&flag, 1);
    } else {
        while (atomicAdd(&flag, 0) == 0) {}
        out[0] = data; // want race-global "data"
    }
}
