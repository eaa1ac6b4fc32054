// A kernel without host code in its file.
//
// grid-sync: refused "is not in the file"; nobody would launch it cooperatively.
// split: refused "is not in the file"; nobody would launch both kernels.
// double-buffer: refused "is not in the file"; nobody would make the copy.

__global__ void shift(float *a, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n - 1)
        a[i] = a[i + 1];
}
