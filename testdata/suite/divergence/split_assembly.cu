// Warps meet at one barrier number from two places, in inline assembly and with a named barrier.
// Why: PTX ISA 9.7.13.1 identifies barriers by number; producers and consumers rely on it.
// expect: clean
// heddle: grid=1 block=64
__global__ void zero(int *a) {
    if (threadIdx.x >= 32)
        asm volatile("bar.sync 0;" ::: "memory");
    else
        asm volatile("bar.sync 0;" ::: "memory");
    a[threadIdx.x] = 1;
}
// heddle: grid=1 block=64
__global__ void named(int *a) {
    if (threadIdx.x >= 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 1, 64;" ::: "memory");
    a[threadIdx.x] = 1;
}
