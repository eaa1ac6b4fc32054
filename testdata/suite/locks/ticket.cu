// A ticket lock.
// Why: the volatile read of the thread's own ticket observes the release of the previous holder.
// expect: clean
// heddle: grid=4 block=1
__device__ int ticket, counter;
__device__ volatile int serving;
__global__ void k() {
    int mine = atomicAdd(&ticket, 1);
    while (serving != mine) {}
    __threadfence();
    counter = counter + 1;
    __threadfence();
    serving = mine + 1;
}
