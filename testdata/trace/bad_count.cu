// A count that is not a multiple of the warp size.
// Why: PTX ISA 9.7.13.1: "the value must be a multiple of warp size".
// expect: bug
// heddle: grid=1 block=64
__global__ void k(void) {
    asm volatile("bar.sync 1, 48;" ::: "memory"); // want bad-barrier "48"
}
