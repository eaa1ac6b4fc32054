// The reader looks at a flag once and reads the message only if it is set.
// Why: the acquire load observed the release store, which orders the message (PTX ISA 8.7, 8.8).
// expect: clean
// options: --seeds 20
// heddle: grid=2 block=1
#include <cuda/atomic>
__global__ void k(int *message, int *flag, int *out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        message[0] = 7;
        ready.store(1, cuda::memory_order_release);
        return;
    }
    if (ready.load(cuda::memory_order_acquire))
        out[1] = message[0];
}
