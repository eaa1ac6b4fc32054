// Block-wide sum and scan as class templates. The kernel provides their shared memory as one union.

#include <cuda_runtime.h>

template <typename T, int THREADS> class BlockReduce {
public:
    struct TempStorage { T warp[THREADS / 32]; };
    __device__ explicit BlockReduce(TempStorage &s) : temp(s) {}
    // Returns the sum to every thread. A barrier must precede the next use of the storage.
    __device__ T Sum(T v) {
        for (int d = 16; d > 0; d /= 2)
            v += __shfl_xor_sync(~0u, v, d);
        if (threadIdx.x % 32 == 0)
            temp.warp[threadIdx.x / 32] = v;
        __syncthreads();
        T sum = T();
        for (int w = 0; w < THREADS / 32; w++)
            sum += temp.warp[w];
        return sum;
    }

private:
    TempStorage &temp;
};

template <typename T, int THREADS> class BlockScan {
public:
    struct TempStorage { T total[THREADS / 32]; };
    __device__ explicit BlockScan(TempStorage &s) : temp(s) {}
    __device__ void ExclusiveSum(T in, T &out) {
        T v = in;
        for (int d = 1; d < 32; d *= 2) {
            T u = __shfl_up_sync(~0u, v, d);
            if (threadIdx.x % 32 >= d)
                v += u;
        }
        if (threadIdx.x % 32 == 31)
            temp.total[threadIdx.x / 32] = v;
        __syncthreads();
        out = v - in;
        for (int w = 0; w < threadIdx.x / 32; w++)
            out += temp.total[w];
    }

private:
    TempStorage &temp;
};

template <typename T, int THREADS> __global__ void tiles(const T *in, T *out, T *sums) {
    typedef BlockReduce<T, THREADS> Reduce;
    typedef BlockScan<T, THREADS> Scan;
    __shared__ union {
        typename Reduce::TempStorage reduce;
        typename Scan::TempStorage scan;
    } temp;
    int i = blockIdx.x * THREADS + threadIdx.x;
    T v = in[i], sum = Reduce(temp.reduce).Sum(v);
    __syncthreads(); // before the union holds another member
    Scan(temp.scan).ExclusiveSum(v, out[i]);
    if (threadIdx.x == 0)
        sums[blockIdx.x] = sum;
}

int main() {
    int *in, *out, *sums;
    cudaMalloc(&in, 512 * sizeof(int));
    cudaMalloc(&out, 512 * sizeof(int));
    cudaMalloc(&sums, 4 * sizeof(int));
    tiles<int, 128><<<4, 128>>>(in, out, sums);
    cudaDeviceSynchronize();
}
