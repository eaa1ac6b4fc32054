// The same with the wrong flag.
// Why: its flags have the same meaning as those of barrier.
// expect: bug
// heddle: global=64 local=64
kernel void k(global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;                   // want race-shared "tile"
    sub_group_barrier(CLK_GLOBAL_MEM_FENCE);
    out[i] = tile[i ^ 31];         // want race-shared "tile"
}
