// Values are exchanged through local memory.
// Why: a barrier with CLK_LOCAL_MEM_FENCE orders accesses of local memory (OpenCL C 3.0, 6.15.8).
// expect: clean
// heddle: global=128 local=64
kernel void k(global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[63 - i];
}
