// Every thread writes and reads its own word many times.
// Why: program order (PTX ISA 8.9.1) orders accesses of one thread.
// expect: clean
// heddle: grid=2 block=64
__global__ void k(int *a) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    a[i] = 1;
    for (int n = 0; n < 4; n++)
        a[i] += n;
}
