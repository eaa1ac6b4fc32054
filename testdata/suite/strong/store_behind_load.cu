// Two threads store to a word, and one of them loads it: the value may be the other's.
// Why: program order puts the load behind the own store only (PTX ISA 8.9.1). The pair of the two stores must not hide that of a store and the
// load.
// expect: bug
// heddle: grid=1 block=2
__global__ void k(int *out, int n) {
    __shared__ volatile int s;
    if (threadIdx.x == 0) {
        s = n; // want race-unordered-strong "read-write"
    } else {
        s = n + 1; // warn race-unordered-strong "write-write"
        out[0] = s; // want race-unordered-strong "read-write"
    }
}
