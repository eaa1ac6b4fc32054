// Two blocks execute strong stores; a thread that is ordered after only one of them does a plain store.
// Why: the flag orders block 0's store before block 1's; block 2's stays unordered, since a store observes nothing.
// A detector that remembers only the last strong write of a location would miss the race.
// expect: bug
// heddle: grid=3 block=1
__device__ int counter, seen;
__device__ volatile int flag;
__global__ void k() {
    if (blockIdx.x == 2) {
        *(volatile int *)&counter = 1; // want race-global "counter"
        atomicAdd(&seen, 1);
    } else if (blockIdx.x == 0) {
        while (*(volatile int *)&seen == 0) {}
        *(volatile int *)&counter = 2;
        __threadfence();
        flag = 1;
    } else {
        while (flag == 0) {}
        __threadfence();
        counter = 0; // want race-global "counter"
    }
}
