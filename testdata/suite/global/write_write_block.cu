// All threads of a block store their index to one word.
// Why: PTX ISA 8.7.1: weak writes by different threads to one location, unordered, are a data race.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    out[0] = threadIdx.x; // want race-global "write.*write"
}
