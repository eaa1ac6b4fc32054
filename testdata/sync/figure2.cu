// Figure 2 of the AutoSync paper: the read of line 3 and the write of line 5 need a barrier before line 5.
// heddle: grid=1 block=64
// sync: 1
__global__ void straight(int *A)
{
    int tid = threadIdx.x;
    int x = A[tid + 1];
    x = x + 11;
    A[tid] += x; // sync: before
}
