// An assertion of the kernel fails.
// Why: the condition is false for thread 5.
// expect: bug
// heddle: grid=1 block=32
#include <assert.h>
__global__ void k(int *out) {
    assert(threadIdx.x != 5); // want assert-failed
    out[threadIdx.x] = 1;
}
