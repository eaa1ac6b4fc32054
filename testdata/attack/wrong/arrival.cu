// expect: not verified; host_sets verified host_count is 0
// The last block that arrives at a counter, with one thing wrong (PTX ISA 8.8, 8.9.4, 8.9.5; docs/theory/lock-step.md).
__device__ unsigned count, other_count;
__device__ int part[1 << 16];

__device__ int sum_parts(int *out) {
  int sum = 0;
  for (unsigned b = 0; b < gridDim.x; b++) sum += part[b];
  return out[0] = sum;
}
// No fence before the addition.
// heddle: grid=4 block=64
__global__ void no_fence(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    if (atomicAdd(&count, 1) == gridDim.x - 1) { __threadfence(); sum_parts(out); }
  }
}
// No fence behind it.
// heddle: grid=4 block=64
__global__ void no_acquire(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&count, 1) == gridDim.x - 1) sum_parts(out);
  }
}
// The fence is of the block.
// heddle: grid=4 block=64
__global__ void block_fence(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence_block();
    if (atomicAdd(&count, 1) == gridDim.x - 1) { __threadfence(); sum_parts(out); }
  }
}
// The addition is of the block.
// heddle: grid=4 block=64
__global__ void block_atomic(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd_block(&count, 1) == gridDim.x - 1) { __threadfence(); sum_parts(out); }
  }
}
// All threads write parts, the leader alone fences, and no barrier precedes the fence.
// heddle: grid=4 block=64
__global__ void no_barrier(int *out, const int *in) {
  part[blockIdx.x * 64 + threadIdx.x] = in[threadIdx.x];
  if (threadIdx.x == 0) {
    __threadfence();
    if (atomicAdd(&count, 1) == gridDim.x - 1) {
      __threadfence();
      for (unsigned b = 0; b < 64 * gridDim.x; b++) out[0] += part[b];
    }
  }
}
// The others read behind the flag in shared memory, without a barrier.
// heddle: grid=4 block=64
__global__ void no_broadcast(int *out, const int *in) {
  __shared__ bool last;
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    last = atomicAdd(&count, 1) == gridDim.x - 1;
    __threadfence();
  }
  if (last) out[threadIdx.x] = part[threadIdx.x % gridDim.x];
}
// One too few: the last but one also continues, and does not wait for the last.
// heddle: grid=4 block=64
__global__ void too_early(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&count, 1) == gridDim.x - 2) { __threadfence(); sum_parts(out); }
  }
}
// >= lets two blocks continue.
// heddle: grid=4 block=64
__global__ void at_least(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&count, 1) >= gridDim.x - 2) { __threadfence(); sum_parts(out); }
  }
}
// Each of two threads of a block adds one: N-1 is reached when half of the blocks are there.
// heddle: grid=4 block=64
__global__ void two_adders(int *out, const int *in) {
  if (threadIdx.x < 2) {
    part[2 * blockIdx.x + threadIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&count, 1) == gridDim.x - 1) { __threadfence(); sum_parts(out); }
  }
}
// The leader adds two, and the last is sought at N-1... N-1 is odd: a leader of 3 blocks in 4 is found.
// heddle: grid=3 block=64
__global__ void adds_two(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&count, 2) == gridDim.x - 1) { __threadfence(); sum_parts(out); }
  }
}
// A two-dimensional grid, counted by its x.
// heddle: grid=4,2 block=64
__global__ void two_dims(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.y * 4 + blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&count, 1) == gridDim.x - 1) { __threadfence(); for (int b = 0; b < 8; b++) out[0] += part[b]; }
  }
}
// atomicInc with a bound below N-1 returns N-1 never and 0 twice; the "last" is the one that finds the bound.
// heddle: grid=8 block=64
__global__ void small_bound(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicInc(&count, 3) == 3) { __threadfence(); sum_parts(out); }
  }
}
// The counter of each pair of blocks is another, the number that is awaited is that of the grid's half.
// heddle: grid=4 block=64
__global__ void counter_each(int *out, const int *in, unsigned *counts) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&counts[blockIdx.x & 1], 1) == gridDim.x / 2 - 1) { __threadfence(); sum_parts(out); }
  }
}
// The write that comes behind the addition is not released by it.
// heddle: grid=4 block=64
__global__ void write_behind(int *out, const int *in) {
  if (threadIdx.x == 0) {
    __threadfence();
    unsigned n = atomicAdd(&count, 1);
    part[blockIdx.x] = in[blockIdx.x];
    if (n == gridDim.x - 1) { __threadfence(); sum_parts(out); }
  }
}
// The parts are read before the addition, and the result is used by the last block only.
// heddle: grid=4 block=64
__global__ void read_before(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    int sum = part[0] + part[gridDim.x - 1];
    if (atomicAdd(&count, 1) == gridDim.x - 1) { __threadfence(); out[0] = sum; }
  }
}
// All blocks write the result, the last one only last.
// heddle: grid=4 block=64
__global__ void all_write(int *out, const int *in) {
  if (threadIdx.x == 0) {
    out[0] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&count, 1) != gridDim.x - 1) { __threadfence(); out[0] += 1; }
  }
}
// The counter is reset before the addition, by block 0.
// heddle: grid=4 block=64
__global__ void reset_first(int *out, const int *in) {
  if (threadIdx.x == 0) {
    if (blockIdx.x == 0) count = 0;
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&count, 1) == gridDim.x - 1) { __threadfence(); sum_parts(out); }
  }
}
// The reset is a strong store by every block.
// heddle: grid=4 block=64
__global__ void strong_reset(int *out, const int *in) {
  if (threadIdx.x == 0) {
    *(volatile unsigned *)&count = 0;
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&count, 1) == gridDim.x - 1) { __threadfence(); sum_parts(out); }
  }
}
// Two counters: a block is last at one of them, and reads what precedes the other.
// heddle: grid=4 block=64
__global__ void two_counters(int *out, const int *in) {
  if (threadIdx.x == 0) {
    __threadfence();
    unsigned n = atomicAdd(&count, 1);
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    atomicAdd(&other_count, 1);
    if (n == gridDim.x - 1) { __threadfence(); sum_parts(out); }
  }
}
// The block that is last returns, the others continue.
// heddle: grid=4 block=64
__global__ void inverted(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&count, 1) == gridDim.x - 1) return;
    __threadfence();
    out[blockIdx.x] = part[blockIdx.x ^ 1];
  }
}
// The last block's threads read the shared flag of the previous round: it is in a loop of two rounds, with one counter.
// heddle: grid=4 block=64
__global__ void rounds(int *out, const int *in) {
  for (int r = 0; r < 2; r++)
    if (threadIdx.x == 0) {
      part[blockIdx.x] = in[r];
      __threadfence();
      if (atomicAdd(&count, 1) == gridDim.x - 1) { __threadfence(); sum_parts(out); }
    }
}
// A red returns nothing; the last is guessed by reading the counter.
// heddle: grid=4 block=64
__global__ void read_counter(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    atomicAdd(&count, 1);
    if (*(volatile unsigned *)&count == gridDim.x) { __threadfence(); out[blockIdx.x & 1] = part[blockIdx.x ^ 1]; }
  }
}
// The leader is the thread whose x is 0: in a block of two rows there are two.
// heddle: grid=4 block=32,2
__global__ void two_leaders(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[2 * blockIdx.x + threadIdx.y] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&count, 1) == 2 * gridDim.x - 2) { __threadfence(); for (int i = 0; i < 8; i++) out[0] += part[i]; }
  }
}
// Some blocks do not arrive, and the number that is awaited takes that into account, wrongly: block 1 writes without arriving.
// heddle: grid=4 block=64
__global__ void absent(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (blockIdx.x != 1 && atomicAdd(&count, 1) == gridDim.x - 2) { __threadfence(); sum_parts(out); }
  }
}
// The counter begins at 1 (a variable with a value).
__device__ unsigned from_one = 1;
// heddle: grid=4 block=64
__global__ void starts_at_one(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&from_one, 1) == gridDim.x - 1) { __threadfence(); sum_parts(out); }
  }
}
// The host sets the counter to 2 before the launch.
__device__ unsigned host_count;
__global__ void host_sets(int *out, const int *in) {
  if (threadIdx.x == 0) {
    part[blockIdx.x] = in[blockIdx.x];
    __threadfence();
    if (atomicAdd(&host_count, 1) == gridDim.x - 1) { __threadfence(); sum_parts(out); }
  }
}
int main() {
  int *out, *in;
  cudaMalloc(&out, 4096);
  cudaMalloc(&in, 4096);
  unsigned two = 2;
  cudaMemcpyToSymbol(host_count, &two, sizeof two);
  host_sets<<<4, 64>>>(out, in);
}
