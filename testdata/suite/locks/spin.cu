// A spin lock between blocks with both fences.
// Why: atom.cas; fence acquires, fence; atom.exch releases (PTX ISA 8.8; Barracuda §3.1).
// expect: clean
// heddle: grid=4 block=1
__device__ int lock, counter;
__global__ void k() {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence();
    counter = counter + 1;
    __threadfence();
    atomicExch(&lock, 0);
}
