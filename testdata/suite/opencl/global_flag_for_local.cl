// The barrier names global memory, the data are in local memory.
// Why: "CLK_GLOBAL_MEM_FENCE ... ensure correct ordering of memory operations to global memory" (OpenCL C 1.2, 6.12.8)
// does not mention local memory, although PTX's bar.sync orders all.
// expect: bug
// heddle: global=128 local=64
kernel void k(global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;                              // want race-shared "tile"
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[get_global_id(0)] = tile[63 - i];     // want race-shared "tile"
}
