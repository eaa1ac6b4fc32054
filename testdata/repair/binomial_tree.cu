// The value of an option, back through the tree of prices: one node for each thread.
__global__ void binomialTree(const float *price, float *value, float up, float down) {
    __shared__ float node[256];
    int t = threadIdx.x;
    float p = price[blockIdx.x];
    node[t] = p * (t - 128) > 0 ? p * (t - 128) : 0;
    __syncthreads();
    for (int last = 255; last > 0; last--) {
        float v = t < last ? up * node[t + 1] + down * node[t] : 0;
        __syncthreads();
        if (t < last)
            node[t] = v;
        __syncthreads();
    }
    if (t == 0)
        value[blockIdx.x] = node[0];
}

void price(const float *price, float *value) {
    binomialTree<<<1024, 256>>>(price, value, 0.5f, 0.49f);
}
