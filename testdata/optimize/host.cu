// The same operation on memory of the device and of the host.

__device__ int counter;

__global__ void ofModule(const int *in) {
    atomicAdd_system(&counter, in[threadIdx.x]); // offer: atomicAdd: a variable of the device
}

__global__ void ofDevice(int *sum, const int *in) {
    atomicAdd_system(sum, in[threadIdx.x]); // offer: atomicAdd: allocated by cudaMalloc
}

__global__ void ofMalloc(int *sum, const int *in) {
    atomicAdd_system(sum, in[threadIdx.x]); // keep: some GPUs access memory of malloc
}

__global__ void ofNew(int *sum, const int *in) {
    atomicAdd_system(sum, in[threadIdx.x]); // keep: and of new
}

__global__ void ofStack(int *sum, const int *in) {
    atomicAdd_system(sum, in[threadIdx.x]); // keep: and variables of the host
}

struct View {
    int *sum;
};
__global__ void ofStruct(View view, const int *in) {
    atomicAdd_system(view.sum, in[threadIdx.x]); // keep: where the struct points is not looked up
}

// A flag that code outside the kernel compares with the number of the launch.
__global__ void epoch(int *data, int *flag, const int *in, int number) {
    if (threadIdx.x == 0) {
        data[blockIdx.x] = in[blockIdx.x];
        __threadfence(); // keep: the store behind it may be a flag
        flag[blockIdx.x] = number;
    }
}

int main() {
    int *a, *b, *c, array[25];
    cudaMalloc(&a, 100);
    cudaMalloc((void **)&b, 400);
    cudaMalloc(&c, 100);
    int *m = (int *)malloc(100), *n = new int[25];
    View v = {a};
    ofModule<<<4, 64>>>(b);
    ofDevice<<<4, 64>>>(a, b);
    ofMalloc<<<4, 64>>>(m, b);
    ofNew<<<4, 64>>>(n, b);
    ofStack<<<4, 64>>>(array, b);
    ofStruct<<<4, 64>>>(v, b);
    epoch<<<4, 64>>>(a, b, c, 7);
}
