// A thread stores past the end of a buffer of 64 bytes.
// Why: the argument specifies a buffer of 64 bytes; element 16 starts at byte 64.
// expect: bug
// heddle: grid=1 block=17 out=zero:64
__global__ void k(int *out) {
    out[threadIdx.x] = 1; // want out-of-bounds "out"
}
