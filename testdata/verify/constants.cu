// Stores to constant memory, by generic addresses. They are invalid (PTX ISA 5.1.3: constant memory
// is read-only), so that a proof takes such memory to hold what it was given, and must say so.

__constant__ int d[4] = {1, 2, 3, 4};

// verified constant: a value in memory decides whether the store is made
// heddle: grid=1 block=32
__global__ void stored(int *a) {
    int i = threadIdx.x;
    if (a[40 + i] == 5)
        ((int *)d)[i & 3] = 1;
    a[i] = d[i & 3];
}

// verified: it is only read
// heddle: grid=1 block=32
__global__ void loaded(int *a) {
    a[threadIdx.x] = d[threadIdx.x & 3];
}
