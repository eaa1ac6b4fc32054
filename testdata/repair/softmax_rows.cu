// The maximum of a row, then the sum of exponentials, in one array.
__global__ void softmaxRows(const float *in, float *out, int n) {
    __shared__ float s[256];
    int t = threadIdx.x;
    const float *row = in + blockIdx.x * n;
    float most = -1e30f;
    for (int i = t; i < n; i += 256)
        most = fmaxf(most, row[i]);
    s[t] = most;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (t < half)
            s[t] = fmaxf(s[t], s[t + half]);
        __syncthreads();
    }
    most = s[0];
    __syncthreads();
    float sum = 0;
    for (int i = t; i < n; i += 256)
        sum += row[i] - most;
    s[t] = sum;
    __syncthreads();
    for (int half = 128; half > 0; half >>= 1) {
        if (t < half)
            s[t] += s[t + half];
        __syncthreads();
    }
    for (int i = t; i < n; i += 256)
        out[blockIdx.x * n + i] = (row[i] - most) / s[0];
}

void softmax(const float *in, float *out) { softmaxRows<<<2048, 256>>>(in, out, 1024); }
