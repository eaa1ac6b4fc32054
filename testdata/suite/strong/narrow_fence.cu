// A message between blocks whose fence has the scope of the block; data and flag are volatile.
// Why: the fence is too narrow for a release pattern (PTX ISA 8.5, 8.8), so nothing orders the accesses to the data. All are strong, so none
// is a data race (8.7), and the reader may still see the old data.
// expect: clean
// heddle: grid=2 block=1
__device__ volatile int flag;
__global__ void k(volatile int *data, int *out, int n) {
    if (blockIdx.x == 0) {
        data[0] = n; // warn race-unordered-strong "global data"
        __threadfence_block(); // redundant: all accesses are strong, so that their order is at most a warning
        flag = 1; // warn race-unordered-strong "global flag"
    } else {
        while (flag == 0) {} // warn race-unordered-strong "global flag"
        __threadfence(); // redundant: all accesses are strong, so that their order is at most a warning
        out[0] = data[0]; // warn race-unordered-strong "global data"
    }
}
