// The copy may overwrite elements that other work-items still read.
// Why: the copy starts with the call, and no barrier is between the reads and the call.
// expect: bug
// heddle: global=64 local=64
kernel void k(global const int *in, global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    int other = tile[63 - i];                                                   // want race-async-copy "tile"
    event_t e = async_work_group_copy(tile, in, 64, 0);                         // want race-async-copy "tile"
    wait_group_events(1, &e);
    out[i] = other + tile[i];
}
