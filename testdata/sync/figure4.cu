// Figure 4: a race within an iteration and one across iterations, with a barrier for each.
// heddle: grid=1 block=64
// sync: 2
__global__ void loop(int *A, int n)
{
    int tid = threadIdx.x;
    for (int i = 0; i < n; i++) {
        int x = A[tid + 1]; // sync: before
        x = x + i;
        A[tid] += x; // sync: before
    }
}
