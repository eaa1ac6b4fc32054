// Values are exchanged within sub-groups of 32.
// Why: sub_group_barrier orders the work-items of a sub-group (6.15.19).
// expect: clean
// heddle: global=64 local=64
kernel void k(global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[i ^ 31];
}
