// Message passing between blocks with a volatile flag and a fence on both sides.
// Why: fence; st.volatile is a release pattern, ld.volatile; fence an acquire pattern (PTX ISA 8.8, 8.4.2), and
// membar.gl has gpu scope, which includes both threads.
// expect: clean
// heddle: grid=2 block=1
__device__ int data;
__device__ volatile int flag;
__global__ void k(int *out) {
    if (blockIdx.x == 0) {
        data = 42;
        __threadfence();
        flag = 1;
    } else {
        while (flag == 0) {}
        __threadfence();
        out[0] = data;
    }
}
