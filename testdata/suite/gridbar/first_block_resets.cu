// The block that arrives first resets the counter with a plain store.
// Why: its atomic does not observe the later ones, and these observe no order of a plain store.
// expect: bug
// heddle: grid=4 block=1
__device__ unsigned count;
__global__ void k() {
    if (atomicAdd(&count, 1) == 0) // want race-global "count"
        count = 0; // want race-global "count"
}
