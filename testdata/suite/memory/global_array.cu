// A thread stores past the end of a module-level array.
// Why: the array has 8 elements.
// expect: bug
// heddle: grid=1 block=1 n=8
__device__ int a[8];
__global__ void k(int n) {
    a[n] = 1; // want out-of-bounds "a"
}
