// Scopes of atomic operations that may be narrower, and that may not.

// Each block has its own counter.
__global__ void perBlock(int *sum, const int *in) {
    atomicAdd(&sum[blockIdx.x], in[blockIdx.x * 256 + threadIdx.x]); // offer: atomicAdd_block: its own element
}

// Each block has its own row of bins.
__global__ void rows(unsigned *bins, const unsigned char *in) {
    int t = threadIdx.x;
    atomicAdd(&bins[blockIdx.x * 256 + in[blockIdx.x * 256 + t]], 1u); // offer: atomicAdd_block: rows do not overlap
}

// The scope of the system, for memory of the device that all blocks share.
__global__ void total(int *sum, const int *in) {
    atomicAdd_system(sum, in[threadIdx.x]); // offer: atomicAdd: blocks share it, the host does not
}

// The result of a maximum in the block, which decides nothing elsewhere.
__global__ void largest(int *most, const int *in) {
    atomicMax_system(&most[blockIdx.x], in[blockIdx.x * 64 + threadIdx.x]); // offer: atomicMax_block: its own element
}

// Blocks share the bins.
__global__ void shared(unsigned *bins, const unsigned char *in) {
    atomicAdd(&bins[in[blockIdx.x * 256 + threadIdx.x]], 1u); // keep: other blocks add to the same bins
}

// The next block reads the counter.
__global__ void neighbour(int *sum, int *out) {
    atomicAdd(&sum[blockIdx.x], 1); // keep: the next block reads it by an atomic operation
    if (blockIdx.x > 0)
        out[blockIdx.x * 64 + threadIdx.x] = atomicAdd(&sum[blockIdx.x - 1], 0); // keep: of another block
}

// Rows of 100 counters for 101 blocks... the last block wraps around.
__global__ void wraps(int *sum) {
    atomicAdd(&sum[blockIdx.x % 15], 1); // keep: blocks 0 and 15 share an element
}

// Shared memory is of the block.
__global__ void inBlock(int *out, const int *in) {
    __shared__ int s;
    if (threadIdx.x == 0)
        s = 0;
    __syncthreads();
    atomicAdd(&s, in[threadIdx.x]); // keep: nothing is saved
    __syncthreads();
    if (threadIdx.x == 0)
        out[blockIdx.x] = s;
}

// Where an element is depends on data.
__global__ void indirect(int *sum, const int *owner) {
    atomicAdd(&sum[owner[blockIdx.x]], 1); // keep: two blocks may have one owner
}

// Tickets of all blocks.
__global__ void queue(int *head, int *out) {
    out[atomicAdd(head, 1)] = threadIdx.x; // keep: the tickets of different blocks have to differ
}

int main() {
    int *a, *b;
    unsigned *h;
    unsigned char *text;
    cudaMalloc(&a, 1 << 20);
    cudaMalloc(&b, 1 << 20);
    cudaMalloc(&h, 1 << 20);
    cudaMalloc(&text, 1 << 20);
    perBlock<<<16, 256>>>(a, b);
    rows<<<16, 256>>>(h, text);
    total<<<16, 256>>>(a, b);
    largest<<<16, 64>>>(a, b);
    shared<<<16, 256>>>(h, text);
    neighbour<<<16, 64>>>(a, b);
    wraps<<<16, 64>>>(a);
    inBlock<<<16, 64>>>(a, b);
    indirect<<<16, 64>>>(a, b);
    queue<<<16, 64>>>(a, b);
}
