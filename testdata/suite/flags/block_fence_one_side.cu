// The producer fences at device scope, the consumer only at block scope.
// Why: the consumer's fence has scope cta, which does not include the producer: not morally strong. (Barracuda
// accepts this, since its two GPUs never showed the weak outcome; the ISA does not.)
// expect: bug
// heddle: grid=2 block=1
__device__ int data;
__device__ volatile int flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42; // want race-global "data"
        __threadfence();
        flag = 1;
    } else {
        while (flag == 0) {}
        __threadfence_block();
        out[0] = data; // want race-global "data"
    }
}
