// Two threads write different fields of one struct.
// Why: the fields are different bytes.
// expect: clean
// heddle: grid=1 block=2
struct Pair { short a, b; };
__global__ void k(int *out) {
    __shared__ Pair p;
    if (threadIdx.x == 0)
        p.a = 1;
    else
        p.b = 2;
    __syncthreads();
    out[threadIdx.x] = p.a + p.b;
}
