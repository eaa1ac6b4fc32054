// expect: early bug race-global; late bug race-global
// An acquire load that may come before the release store guards nothing. Which block runs first must not matter.
#include <cuda/atomic>
__device__ void both(bool writer, int *data, int *flag, int *out) {
  cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
  if (writer) {
    *data = 42;
    ready.store(1, cuda::memory_order_release);
  } else {
    out[0] = ready.load(cuda::memory_order_acquire);
    out[1] = *data;
  }
}
// heddle: grid=2 block=1
__global__ void early(int *data, int *flag, int *out) { both(blockIdx.x == 0, data, flag, out); }
// heddle: grid=2 block=1
__global__ void late(int *data, int *flag, int *out) { both(blockIdx.x == 1, data, flag, out); }
