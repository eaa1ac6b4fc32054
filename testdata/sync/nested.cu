// Three loops: the next iteration of the outermost loop reads what this one writes, so a barrier in its body is enough.
// heddle: grid=1 block=64
// sync: 1
__global__ void nested(int *A, int *B, int n)
{
    int tid = threadIdx.x;
    for (int i = 0; i < n; i++) {
        int next = (i & 1) ^ 1;
        int x = 0; // sync: block
        for (int j = 0; j < 4; j++) {
            for (int k = 0; k < 4; k++) {
                x += A[(i & 1) * 128 + tid + 1];
            }
        }
        A[next * 128 + tid] = x;
    }
}
