// Figure 6: not all threads enter the conditionals, so the barrier is between them.
// heddle: grid=1 block=64
// sync: 1
__global__ void conditionals(int *A)
{
    int tid = threadIdx.x;
    int x = 0;
    if (tid % 2 == 0) {
        x = A[tid + 2];
    }
    if (tid % 6 == 0) { // sync: before
        A[tid] += x;
    }
}
