// A float4 store of one thread overlaps the float load of another.
// Why: the vector store covers bytes 0 to 15, the load bytes 12 to 15.
// expect: bug
// heddle: grid=1 block=2
__global__ void k(float *out) {
    __shared__ float4 s[2];
    if (threadIdx.x == 0)
        s[0] = make_float4(1, 2, 3, 4); // want race-shared
    else
        out[0] = ((float *)s)[3]; // want race-shared
}
