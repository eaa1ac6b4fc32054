// work_group_any between the write and the read.
// Why: the specification promises no ordering of memory for the work-group functions (6.15.16).
// expect: bug
// heddle: global=64 local=64
kernel void k(global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;                              // want race-shared "tile"
    int any = work_group_any(i == 5);
    out[i] = tile[63 - i] + any;              // want race-shared "tile"
}
