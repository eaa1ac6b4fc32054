// A work-efficient exclusive scan: sums upwards in a tree, then downwards.
__global__ void scanTree(const int *in, int *out) {
    __shared__ int tree[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    tree[2 * t] = in[base + 2 * t];
    tree[2 * t + 1] = in[base + 2 * t + 1];
    int gap = 1;
    for (int d = 256; d > 0; d >>= 1) {
        __syncthreads();
        if (t < d) {
            int left = gap * (2 * t + 1) - 1, right = gap * (2 * t + 2) - 1;
            tree[right] += tree[left];
        }
        gap *= 2;
    }
    if (t == 0)
        tree[511] = 0;
    for (int d = 1; d < 512; d *= 2) {
        gap >>= 1;
        __syncthreads();
        if (t < d) {
            int left = gap * (2 * t + 1) - 1, right = gap * (2 * t + 2) - 1;
            int was = tree[left];
            tree[left] = tree[right];
            tree[right] += was;
        }
    }
    __syncthreads();
    out[base + 2 * t] = tree[2 * t];
    out[base + 2 * t + 1] = tree[2 * t + 1];
}

void scan(const int *in, int *out) { scanTree<<<2048, 256>>>(in, out); }
