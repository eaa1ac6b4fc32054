// One thread of each block stores to one word.
// Why: nothing orders blocks of one grid (PTX ISA 8.9.4 lists the operations that synchronize); the writes conflict.
// expect: bug
// heddle: grid=2 block=32
__global__ void k(int *out) {
    if (threadIdx.x == 0)
        out[0] = blockIdx.x; // want race-global "inter-block"
}
