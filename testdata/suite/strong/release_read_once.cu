// A release store whose value a relaxed load reads once, without waiting for it.
// Why: the release says that the location belongs to a protocol; that the load comes too early may be meant: a warning.
// expect: clean
// heddle: grid=2 block=1
#include <cuda/atomic>
__global__ void k(int *word, int *out, int n) {
    cuda::atomic_ref<int, cuda::thread_scope_device> w(*word);
    if (blockIdx.x == 0)
        w.store(n, cuda::memory_order_release); // warn race-unordered-strong "inter-block"
    else
        out[0] = w.load(cuda::memory_order_relaxed); // warn race-unordered-strong "inter-block"
}
