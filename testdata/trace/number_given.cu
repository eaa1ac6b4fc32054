// The same with a value for the argument.
// Why: a specified value is known.
// expect: verified
// heddle: grid=1 block=64 id=3
__global__ void k(int id) {
    asm volatile("bar.sync %0, 64;" :: "r"(id) : "memory");
}
