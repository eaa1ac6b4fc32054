// An argument decides how often the warps synchronize.
// Why: it decides nothing else, and each round leaves the barrier as it found it: any number of
// rounds is safe (docs/theory/periods.md).
// expect: verified
// heddle: grid=1 block=64
__global__ void k(int n) {
    for (int i = 0; i < n; i++)
        asm volatile("bar.sync 1, 64;" ::: "memory");
}
