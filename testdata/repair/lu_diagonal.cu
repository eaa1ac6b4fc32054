// The factors of one tile on the diagonal.
__global__ void luDiagonal(float *m, int n, int first) {
    __shared__ float s[16][16];
    int t = threadIdx.x;
    for (int r = 0; r < 16; r++)
        s[r][t] = m[(first + r) * n + first + t];
    __syncthreads();
    for (int k = 0; k < 15; k++) {
        if (t > k) {
            for (int j = 0; j < k; j++)
                s[t][k] -= s[t][j] * s[j][k];
            s[t][k] /= s[k][k];
        }
        __syncthreads();
        if (t > k)
            for (int j = 0; j < k + 1; j++)
                s[k + 1][t] -= s[k + 1][j] * s[j][t];
        __syncthreads();
    }
    for (int r = 0; r < 16; r++)
        m[(first + r) * n + first + t] = s[r][t];
}

void factor(float *m) { luDiagonal<<<1, 16>>>(m, 512, 0); }
