// Every thread reserves a slot with atomicAdd and writes it.
// Why: the slots are distinct.
// expect: clean
// heddle: grid=2 block=64
__device__ int n;
__global__ void k(int *buf) {
    int slot = atomicAdd(&n, 1);
    buf[slot] = threadIdx.x;
}
