// A load through a null pointer.
// Why: no object is at address 0.
// expect: bug
// heddle: grid=1 block=1 p=0
__global__ void k(int *out, unsigned long long p) {
    out[0] = *(int *)p; // want out-of-bounds
}
