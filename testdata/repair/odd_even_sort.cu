// Odd-even transposition: pairs of neighbours, with the parity of the step.
__global__ void oddEvenSort(int *keys) {
    __shared__ int s[512];
    int t = threadIdx.x, base = blockIdx.x * 512;
    s[t] = keys[base + t];
    s[t + 256] = keys[base + t + 256];
    __syncthreads();
    for (int step = 0; step < 512; step++) {
        int at = 2 * t + (step & 1);
        if (at + 1 < 512 && s[at] > s[at + 1]) {
            int was = s[at];
            s[at] = s[at + 1];
            s[at + 1] = was;
        }
        __syncthreads();
    }
    keys[base + t] = s[t];
    keys[base + t + 256] = s[t + 256];
}

void sort(int *keys) { oddEvenSort<<<256, 256>>>(keys); }
