// The square of an argument decides how often the warps synchronize.
// Why: the branch of the loop decides which warps reach the barrier.
// expect: unsupported
// heddle: grid=1 block=64
__global__ void k(int n) {
    for (int i = 0; i < n * n; i++) // unsupported "branch depends on argument n.*not a comparison with a counter"
        asm volatile("bar.sync 1, 64;" ::: "memory");
}
