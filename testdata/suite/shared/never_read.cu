// Threads overwrite one element of an array that is never read.
// Why: the race is in the source; an optimizer that removes the stores would hide it.
// expect: bug
// heddle: grid=1 block=64
__global__ void k() {
    __shared__ int s[4];
    s[threadIdx.x & 3] = threadIdx.x; // want race-shared
}
