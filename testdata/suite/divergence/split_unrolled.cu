// A loop with a barrier, which the compiler unrolls: several instructions, one barrier of the source.
// Why: all threads of the block execute the same iteration, so that none of the copies meets another one.
// expect: clean
// heddle: grid=1 block=64
__global__ void k(int *a) {
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
#pragma unroll
    for (int i = 1; i < 4; i++) {
        __syncthreads();
        int v = s[(threadIdx.x + i) % 64];
        __syncthreads();
        s[threadIdx.x] += v;
    }
    a[threadIdx.x] = s[threadIdx.x];
}
