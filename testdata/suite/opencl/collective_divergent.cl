// A work-group function that half of the work-items call.
// Why: all work-items of the group must encounter a work-group function (6.15.16). It is many votes
// here, and there is one report.
// expect: bug
// heddle: global=64 local=64
kernel void k(global int *out) {
    int i = get_local_id(0);
    int v = 0;
    if (i < 32) v = work_group_reduce_max(out[i]); // want barrier-divergence // want barrier-recycling
    out[i] = v;
}
