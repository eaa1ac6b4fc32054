// How often the warps meet depends on an argument.
// Why: the loop's branch decides who comes to the barrier.
// expect: unsupported
// heddle: grid=1 block=64
__global__ void k(int n) {
    for (int i = 0; i < n; i++) // unsupported "branch depends on argument n"
        asm volatile("bar.sync 1, 64;" ::: "memory");
}
