// The reader looks at a flag and reads the message whether or not it is set.
// Why: a release orders the message only for a reader that observed it (PTX ISA 8.7). If blocks run
// in order, the reader always does.
// expect: bug
// options: --seeds 4
// heddle: grid=2 block=1
#include <cuda/atomic>
__global__ void k(int *message, int *flag, int *out) {
    cuda::atomic_ref<int, cuda::thread_scope_device> ready(*flag);
    if (blockIdx.x == 0) {
        message[0] = 7; // want race-global "message"
        ready.store(1, cuda::memory_order_release);
        return;
    }
    out[0] = ready.load(cuda::memory_order_acquire);
    out[1] = message[0]; // want race-global "message"
}
