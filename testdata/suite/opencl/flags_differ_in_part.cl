// Work-items name different memory at one barrier, but all name local memory.
// Why: the memory that all of them name is ordered.
// expect: clean
// heddle: global=64 local=64
kernel void k(global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;
    barrier(i % 3 ? CLK_LOCAL_MEM_FENCE
                  : CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); // redundant: no global memory is shared
    out[i] = tile[63 - i];
}
