// Blocks read what others store to volatile global memory, whenever it arrives, as asynchronous iterations do.
// Why: each value is whole (PTX ISA 8.7.2 does not apply), and a method that converges in any order is right. Whether this is one, only its
// author knows: a warning.
// expect: clean
// heddle: grid=4 block=32
__global__ void k(volatile float *x) {
    int i = blockIdx.x * 32 + threadIdx.x;
    float left = x[max(i - 32, 0)]; // warn race-unordered-strong "read-write inter-block"
    x[i] = 0.5f * (left + 1); // warn race-unordered-strong "read-write inter-block"
}
