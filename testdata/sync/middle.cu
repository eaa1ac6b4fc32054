// Section III.E: the best place is inside the conditional in the middle, which is entered whenever the other two are; here
// with elements of its own for each iteration, so that nothing races across iterations. The static engine cannot prove that
// place right (what a thread passed last is unknown when i reaches 10), and the barrier comes behind the conditional.
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
