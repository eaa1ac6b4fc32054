// Work-items name different memory at one barrier: the readers of local memory do, the writers do not.
// Why: it is one barrier, and no divergence; but both sides need the fence (OpenCL 2.0, 3.3.6), and the writers' is
// for global memory.
// expect: bug
// heddle: global=64 local=64
kernel void k(global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;                                              // want race-shared "tile"
    barrier(i % 2 ? CLK_LOCAL_MEM_FENCE : CLK_GLOBAL_MEM_FENCE);
    out[i] = tile[63 - i];                                    // want race-shared "tile"
}
