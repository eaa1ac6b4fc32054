// Butterflies of a transform with twiddle factors from a table.
__global__ void fftButterflies(float2 *data, const float2 *twiddle) {
    __shared__ float re[256], im[256];
    int t = threadIdx.x, base = blockIdx.x * 256;
    re[t] = data[base + t].x;
    im[t] = data[base + t].y;
    re[t + 128] = data[base + t + 128].x;
    im[t + 128] = data[base + t + 128].y;
    for (int half = 1; half < 256; half *= 2) {
        __syncthreads();
        int pos = t & (half - 1), a = 2 * t - pos, b = a + half;
        float2 w = twiddle[half + pos];
        float x = re[b] * w.x - im[b] * w.y, y = re[b] * w.y + im[b] * w.x;
        re[b] = re[a] - x;
        im[b] = im[a] - y;
        re[a] += x;
        im[a] += y;
    }
    __syncthreads();
    data[base + t] = make_float2(re[t], im[t]);
    data[base + t + 128] = make_float2(re[t + 128], im[t + 128]);
}

void fft(float2 *data, const float2 *twiddle) { fftButterflies<<<2048, 128>>>(data, twiddle); }
