// Both sides fence, but with __threadfence_block.
// Why: the scope cta of a fence in one block does not include a thread of another, so the patterns are not
// morally strong and do not synchronize (PTX ISA 8.9.4; Barracuda §3.3.3 saw the weak outcome).
// expect: bug
// heddle: grid=2 block=1
__device__ int data;
__device__ volatile int flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42; // want race-global "data"
        __threadfence_block();
        flag = 1;
    } else {
        while (flag == 0) {}
        __threadfence_block();
        out[0] = data; // want race-global "data"
    }
}
