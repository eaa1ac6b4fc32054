// The block that comes first resets the counter by a plain store.
// Why: its atomic observes nothing of the later ones, and they observe no plain store's order.
// expect: bug
// heddle: grid=4 block=1
__device__ unsigned count;
__global__ void k() {
    if (atomicAdd(&count, 1) == 0) // want race-global "count"
        count = 0; // want race-global "count"
}
