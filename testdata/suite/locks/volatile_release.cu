// The lock is released by a volatile store, after a fence.
// Why: st.volatile is strong with system scope: fence; st.volatile is a release pattern that the next atom.cas
// observes.
// expect: clean
// heddle: grid=4 block=1
__device__ int lock, counter;
__global__ void k() {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence();
    counter = counter + 1;
    __threadfence();
    *(volatile int *)&lock = 0;
}
