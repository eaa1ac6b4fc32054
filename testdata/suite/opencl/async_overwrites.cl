// The copy may overwrite what others still read.
// Why: the copy begins when it is called, and no barrier stands between the reads and it.
// expect: bug
// heddle: global=64 local=64
kernel void k(global const int *in, global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    int other = tile[63 - i];                                                   // want race-shared "tile"
    event_t e = async_work_group_copy(tile, in, 64, 0);                         // want race-shared "tile"
    wait_group_events(1, &e);
    out[i] = other + tile[i];
}
