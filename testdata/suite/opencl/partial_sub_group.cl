// A group of 48 work-items: its second sub-group has 16.
// Why: sub_group_barrier waits only for the work-items that exist (6.15.19).
// expect: clean
// heddle: global=48 local=48
kernel void k(global int *out) {
    local int tile[48];
    int i = get_local_id(0);
    tile[i] = i;
    sub_group_barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[i ^ 15] + sub_group_reduce_add(1);
}
