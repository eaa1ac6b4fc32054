// Loads and stores that are not aligned, in a loop and behind it.
// Why: PTX ISA 6.4.1 demands natural alignment. Each place is one finding, however often it is reached.
// expect: bug
// heddle: grid=2 block=32
__global__ void k(char *in, long long *out) {
    int sum = 0;
    for (int i = 0; i < 4; i++)
        sum += *(int *)(in + 4 * i + 2); // want misaligned "in.0x2 "
    char *p = (char *)out + 8 * (blockIdx.x * blockDim.x + threadIdx.x);
    if (sum == 0)
        *(long long *)(p + 4) = sum; // want misaligned "out.0x4 "
}
