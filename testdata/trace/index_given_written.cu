// The kernel itself writes the specified array.
// Why: the value that a thread reads then depends on the schedule, and global memory is not checked.
// expect: unsupported
// heddle: grid=1 block=64 where=iota
__global__ void k(int *where, int *out) {
    __shared__ int s[64];
    where[threadIdx.x] = 1;
    s[where[63 - threadIdx.x]] = 1; // unsupported "depends on input: a value loaded from argument 0 .where."
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = s[threadIdx.x];
}
