// A loop never ends.
// Why: the step budget ends the run; nothing may be called clean or a bug.
// expect: unknown
// options: --max-steps 20000
// heddle: grid=1 block=1
__global__ void k(volatile int *p) {
    while (p[0] == p[0]) {}
}
