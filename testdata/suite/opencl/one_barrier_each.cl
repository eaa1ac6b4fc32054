// A barrier for local memory, and one for global memory, between accesses of both.
// Why: each barrier orders its own memory.
// expect: clean
// heddle: global=64 local=64
kernel void k(global int *data, global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;
    data[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = tile[63 - i] + data[63 - i];
}
