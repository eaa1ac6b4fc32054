// Every thread stores its index, and after a barrier the one that is left has won.
// Why: one of the stores is the last in coherence order (PTX ISA 8.9.6), and any winner may do: a warning.
// expect: clean
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ volatile int winner;
    winner = threadIdx.x; // warn race-unordered-strong "write-write"
    __syncthreads();
    if (winner == threadIdx.x)
        out[0] = threadIdx.x;
}
