// Work-group functions whose result decides about a barrier, and where the work-items write.
// Why: all work-items have the same sum (6.15.16), so all or none reach the barrier. The exclusive
// sums of the work-items with a value are different, since each of these adds one.
// expect: clean
// heddle: global=128 local=64
kernel void k(global const int *in, global int *out, local int *tile) {
    int i = get_local_id(0), keep = in[get_global_id(0)] >= 0;
    int at = work_group_scan_exclusive_add(keep);
    int n = work_group_reduce_add(keep);
    if (keep) tile[at] = i;
    if (n > 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (keep) out[get_group_id(0) * 64 + at] = tile[n - 1 - at];
    }
}
