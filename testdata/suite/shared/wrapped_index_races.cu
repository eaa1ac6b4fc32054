// An unsigned index that stands for a negative one: end[~t] is s[63 - t], which another thread writes.
// Why: shared memory has addresses of 32 bits, to which the address is truncated (PTX ISA 6.4.1).
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *out) {
    __shared__ int s[64];
    unsigned t = threadIdx.x;
    int *end = s + 64;
    s[t] = t; // want race-shared
    out[t] = end[~t]; // want race-shared
}
