// A message between blocks; data and flag are volatile, and both fences cover the device.
// Why: fence; st.volatile is a release pattern and ld.volatile; fence an acquire pattern (PTX ISA 8.8): the data are ordered, and the flag is
// the means. A loop waits for it, so no order of its accesses is wrong.
// expect: clean
// heddle: grid=2 block=1
__device__ volatile int flag;
__global__ void k(volatile int *data, int *out, int n) {
    if (blockIdx.x == 0) {
        data[0] = n;
        __threadfence(); // redundant: all accesses are strong, so that their order is at most a warning
        flag = 1;
    } else {
        while (flag == 0) {}
        __threadfence(); // redundant: all accesses are strong, so that their order is at most a warning
        out[0] = data[0];
    }
}
