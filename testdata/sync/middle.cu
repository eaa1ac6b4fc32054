// Section III.E: the best place is inside the middle conditional, which is entered whenever the other two are. Here
// each iteration has its own elements, so nothing races across iterations. The static engine cannot prove that place
// (when i reaches 10, the last barrier of a thread is unknown), so the barrier goes after the conditional.
// heddle: grid=1 block=64
// sync: 1
__global__ void middle(int *A)
{
    int tid = threadIdx.x;
    int x = 0;
    for (int i = 0; i < 20; i++) {
        if (i < 10 && tid % 2 == 0) {
            x = A[128 * i + tid + 2];
        }
        if (i < 10) {
            x = x + 1; // sync: near
        }
        if (i < 10 && tid % 6 == 0) {
            A[128 * i + tid] = x;
        }
    }
}
