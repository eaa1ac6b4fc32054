// One thread stores a byte of a word that another loads.
// Why: PTX ISA 8.7.2: operations that overlap partly conflict (a mixed-size data race).
// expect: bug
// heddle: grid=1 block=2
__global__ void k(int *out) {
    __shared__ __align__(4) unsigned char s[8];
    if (threadIdx.x == 0)
        s[2] = 1; // want race-shared
    else
        out[0] = *(int *)s; // want race-shared
}
