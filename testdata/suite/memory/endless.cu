// A loop never ends.
// Why: the step budget ends the run; the result must be neither clean nor a bug.
// expect: unknown
// options: --max-steps 20000
// heddle: grid=1 block=1
__global__ void k(volatile int *p) {
    while (p[0] == p[0]) {}
}
