// Textures may be bound to memory that the kernel writes. No address in PTX says so: a verdict
// names the assumption that they are not. Each kernel has its expected verdict with the reason,
// and its launch.

// verified, textures: the texture may be bound to out, where it shows what other threads write
// heddle: grid=4 block=64
__global__ void neighbour(float *out, cudaTextureObject_t in) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = tex1Dfetch<float>(in, i + 1);
}

// verified, inputs: nothing is written that a texture could show
// heddle: grid=4 block=64
__global__ void only_reads(cudaTextureObject_t in) {
    __shared__ float s[64];
    s[threadIdx.x] = tex1Dfetch<float>(in, threadIdx.x);
}

// bug race-global: the assumption is no excuse for other races
// heddle: grid=4 block=64
__global__ void rows(float *out, cudaTextureObject_t in) {
    out[threadIdx.x] = tex1Dfetch<float>(in, blockIdx.x);
}
