// Lanes exchange values by relaxed operations of cuda::atomic_ref.
// Why: relaxed operations order nothing (PTX ISA 8.8), and the load does not wait for the store.
// expect: bug
// heddle: grid=1 block=32
#include <cuda/atomic>
__global__ void k(int *out) {
    __shared__ int s[32];
    int t = threadIdx.x;
    cuda::atomic_ref<int, cuda::thread_scope_block> mine(s[t]), other(s[t ^ 1]);
    mine.store(t, cuda::memory_order_relaxed); // want race-unordered-strong "intra-warp"
    out[t] = other.load(cuda::memory_order_relaxed); // want race-unordered-strong "intra-warp"
}
