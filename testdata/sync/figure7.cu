// Figure 7: one barrier separates both races.
// heddle: grid=1 block=64
// sync: 1
__global__ void two(int *A, int *B)
{
    int tid = threadIdx.x;
    int x = A[tid + 1];
    int y = B[tid + 1];
    A[tid] = x + y; // sync: before
    B[tid] = x - y;
}
