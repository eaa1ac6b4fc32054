// A word is loaded from an odd address.
// Why: PTX ISA 6.4.1: the address must be naturally aligned to the access size.
// expect: bug
// heddle: grid=1 block=1
__global__ void k(char *in, int *out) {
    out[0] = *(int *)(in + 1); // want misaligned
}
