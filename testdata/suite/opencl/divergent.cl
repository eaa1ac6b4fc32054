// Half of the group reaches one barrier, the other half another one.
// Why: all work-items of a group must execute the same barrier (6.15.8). There is a single report, for any flags.
// expect: bug
// heddle: global=64 local=64
kernel void k(global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;
    if (i % 2)
        barrier(CLK_LOCAL_MEM_FENCE);    // want barrier-divergence
    else
        barrier(CLK_LOCAL_MEM_FENCE);    // want barrier-divergence
    out[i] = tile[i];
}
