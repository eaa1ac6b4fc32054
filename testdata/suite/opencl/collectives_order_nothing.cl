// work_group_broadcast and a scan between the write and the read.
// Why: the specification promises no ordering of memory for the work-group functions (6.15.16).
// expect: bug
// heddle: global=64 local=64
kernel void k(global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;                              // want race-shared "tile"
    int one = work_group_broadcast(i, 5);
    int sum = work_group_scan_inclusive_add(i);
    out[i] = tile[63 - i] + one + sum;        // want race-shared "tile"
}
