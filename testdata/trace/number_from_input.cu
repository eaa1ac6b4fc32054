// The number of the barrier is an argument.
// Why: a trace cannot represent all values of the argument.
// expect: unsupported
// heddle: grid=1 block=64
__global__ void k(int id) {
    asm volatile("bar.sync %0, 64;" :: "r"(id) : "memory"); // unsupported "barrier's number depends on argument id"
}
