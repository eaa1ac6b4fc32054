// Arguments that point into one buffer. The proof is about that launch: they are one array. Each
// kernel has its expected verdict with the reason, and its launch.

// bug race-global: thread t writes the element that thread t-1 reads
// heddle: grid=1 block=64 in=zero:4K out=alias:in
__global__ void shifted(int *out, const int *in) { out[threadIdx.x] = in[threadIdx.x + 1]; }

// verified: each thread reads and writes its own element
// heddle: grid=1 block=64 in=zero:4K out=alias:in
__global__ void same(int *out, const int *in) { out[threadIdx.x] = in[threadIdx.x] + 1; }

// bug race-global: the pointers are one element apart
// heddle: grid=1 block=64 out=zero:4K in=alias:out+4
__global__ void apart(int *out, const int *in) { out[threadIdx.x] = in[threadIdx.x]; }

// verified: one half of the buffer is read, the other half is written
// heddle: grid=1 block=64 out=zero:4K in=alias:out+256
__global__ void halves(int *out, const int *in) { out[threadIdx.x] = in[threadIdx.x]; }

// verified: two arguments alias, and the third is an array of its own
// heddle: grid=1 block=64 a=zero:4K b=alias:a c=zero:4K
__global__ void two_of_three(int *a, int *b, int *c) {
    c[threadIdx.x ^ 1] = a[threadIdx.x] + b[threadIdx.x + 1];
}

// bug race-global: a pair that aliases is written through one and read through the other
// heddle: grid=1 block=64 a=zero:4K b=alias:a c=zero:4K
__global__ void written_pair(int *a, int *b, int *c) {
    a[threadIdx.x] = c[threadIdx.x] + b[threadIdx.x ^ 1];
}
