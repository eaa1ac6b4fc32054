// The same operations as in fence.cu and scope.cu, in a file whose host code runs kernels side by
// side and shares memory with the device.

__global__ void device(int *out, const int *in) {
    __shared__ int s[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    s[t] = in[i];
    __threadfence(); // keep: another kernel may run at the same time
    __syncthreads();
    out[i] = s[255 - t];
}

__global__ void last(float *out, const float *in) {
    int i = blockIdx.x * 256 + threadIdx.x;
    out[i] = 2 * in[i];
    __threadfence_system(); // keep: the host may read while the kernel runs
}

__global__ void perBlock(int *sum, const int *in) {
    atomicAdd(&sum[blockIdx.x], in[blockIdx.x * 256 + threadIdx.x]); // keep: another stream may add to it
}

__global__ void total(int *sum, const int *in) {
    atomicAdd_system(sum, in[threadIdx.x]); // keep: the host may add to managed memory
}

// Within a block nothing changes.
__global__ void exchange(int *out, const int *in) {
    __shared__ int s[256];
    int t = threadIdx.x;
    s[t] = in[t];
    __threadfence_block(); // offer: nothing: of the block only
    __syncthreads(); // offer: __syncwarp(): of the block only
    out[t] = s[t ^ 1];
}

int main() {
    int *a, *b;
    float *f, *g;
    cudaMallocManaged(&a, 1 << 20);
    cudaMalloc(&b, 1 << 20);
    cudaMalloc(&f, 1 << 20);
    cudaMallocManaged(&g, 1 << 20);
    cudaStream_t s;
    cudaStreamCreate(&s);
    device<<<16, 256, 0, s>>>(a, b);
    last<<<16, 256>>>(f, g);
    perBlock<<<16, 256, 0, s>>>(a, b);
    perBlock<<<16, 256>>>(a, b);
    total<<<16, 256>>>(a, b);
    exchange<<<1, 256>>>(a, b);
}
