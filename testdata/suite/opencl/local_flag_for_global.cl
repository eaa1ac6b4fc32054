// The barrier names local memory, the data are in global memory.
// Why: CLK_LOCAL_MEM_FENCE orders local memory only (OpenCL C 3.0, 6.15.8).
// expect: bug
// heddle: global=64 local=64
kernel void k(global int *data, global int *out) {
    int i = get_local_id(0);
    data[i] = i;                // want race-global "data"
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = data[63 - i];      // want race-global "data"
}
