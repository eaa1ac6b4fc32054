// A writer fences; a reader in another block fences; they share no flag.
// Why: a fence alone synchronizes nothing: a release pattern needs a strong write, an acquire pattern a strong
// read that observes it (PTX ISA 8.8).
// expect: bug
// heddle: grid=2 block=1
__device__ int data;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 1; // want race-global
        __threadfence();
    } else {
        __threadfence();
        out[0] = data; // want race-global
    }
}
