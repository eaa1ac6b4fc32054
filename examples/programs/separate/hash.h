// What hash.cu defines for kernels of other files, and for the host.
extern __device__ unsigned long long calls;
__device__ unsigned hash(unsigned x);
void set_rounds(unsigned n);
