// a[i] = a[i+1] in place.
// Why: thread i reads the word that thread i+1 writes.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(int *a) {
    int i = threadIdx.x;
    a[i] = a[i + 1]; // want race-global "a"
}
