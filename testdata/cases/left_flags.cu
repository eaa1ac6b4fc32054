// expect: twice clean|unknown; inLoop clean|unknown; filled bug race-global; reset verified; other verified; clears verified; ticket clean|unknown; half bug race-global; symbol bug race-global; cleared verified
//
// A block waits for a flag, which orders the data only if the flag is 0 when the kernel starts (PTX
// ISA 8.9: a load that reads an older value observes nothing of this launch). Host code launches
// twice and inLoop on the flag that the launch before has set, so in the second launch the wait
// returns at once. filled starts with a flag that the host has filled with 0xff. The host clears
// the flag of reset before each launch; another kernel, whose effect on the flag is unknown, runs
// before the second launch of other; the consumer of clears is the last to use its flag, and
// clears it. ticket counts blocks from where the launch before has stopped. The host clears one of
// the two flags of half, of which the other stays set, and sets that of symbol by its name; of the
// flag of cleared it does the same with 0.
__device__ int flag, count, known, zeroed;

template <int N> __device__ void handoff(int *f, int *data, int *out) {
  if (threadIdx.x != 0) return;
  if (blockIdx.x == 0) {
    data[0] = N;
    __threadfence();
    atomicExch(f, 1);
  } else if (blockIdx.x == 1) {
    while (*(volatile int *)f == 0) {}
    __threadfence();
    out[0] = data[0];
  }
}

__global__ void twice(int *data, int *out) { handoff<1>(&flag, data, out); }
__global__ void inLoop(int *f, int *data, int *out) { handoff<2>(f, data, out); }
__global__ void filled(int *f, int *data, int *out) { handoff<3>(f, data, out); }
__global__ void reset(int *f, int *data, int *out) { handoff<4>(f, data, out); }
__global__ void other(int *f, int *data, int *out) { handoff<5>(f, data, out); }

__global__ void clears(int *f, int *data, int *out) {
  handoff<6>(f, data, out);
  if (blockIdx.x == 1 && threadIdx.x == 0) atomicExch(f, 0);
}

__global__ void half(int *f, int *data, int *out) { handoff<7>(f + 1, data, out); }
__global__ void symbol(int *data, int *out) { handoff<8>(&known, data, out); }
__global__ void cleared(int *data, int *out) { handoff<9>(&zeroed, data, out); }

__global__ void zero(int *f) {
  if (threadIdx.x == 0) *f = 0;
}

__global__ void ticket(int *part, int *out) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = blockIdx.x;
    __threadfence();
    last = atomicAdd(&count, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    __threadfence();
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    out[0] = sum;
  }
}

int main(int argc, char **argv) {
  int *f, *g, *data, *out;
  cudaMalloc(&f, 4);
  cudaMalloc(&g, 4);
  cudaMalloc(&data, 256);
  cudaMalloc(&out, 4);
  twice<<<2, 32>>>(data, out);
  twice<<<2, 32>>>(data, out);
  cudaMemset(f, 0, 4);
  for (int i = 0; i < argc; i++) inLoop<<<2, 32>>>(f, data, out);
  cudaMemset(f, 0xff, 4);
  filled<<<2, 32>>>(f, data, out);
  for (int i = 0; i < argc; i++) {
    cudaMemset(f, 0, 4);
    reset<<<2, 32>>>(f, data, out);
  }
  cudaMemset(g, 0, 4);
  for (int i = 0; i < 2; i++) {
    other<<<2, 32>>>(g, data, out);
    zero<<<1, 32>>>(g);
  }
  cudaMemset(f, 0, 4);
  clears<<<2, 32>>>(f, data, out);
  clears<<<2, 32>>>(f, data, out);
  int both[2] = {1, 1}, none = 0, two = 2;
  int *h;
  cudaMalloc(&h, 8);
  cudaMemcpy(h, both, 8, cudaMemcpyHostToDevice);
  cudaMemset(h, 0, 4);
  half<<<2, 32>>>(h, data, out);
  cudaMemcpyToSymbol(known, &two, sizeof two);
  symbol<<<2, 32>>>(data, out);
  cudaMemcpyToSymbol(zeroed, &none, sizeof none);
  cleared<<<2, 32>>>(data, out);
  ticket<<<8, 32>>>(data, out);
  ticket<<<8, 32>>>(data, out);
}
