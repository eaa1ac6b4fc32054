// A work-group exchanges words of local memory with a barrier that orders global memory only.
// Why: CLK_GLOBAL_MEM_FENCE does not order local memory (OpenCL C 2.0, 6.13.8).
// expect: bug
// heddle: grid=1 block=64
__kernel void k(__global int *out) {
    __local int s[64];
    int i = get_local_id(0);
    s[i] = i; // want race-shared
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = s[63 - i]; // want race-shared
}
