// A tile is copied asynchronously, and nothing waits for the copy.
// Why: the copy may happen at any time until wait_group_events; a barrier alone does not wait for it, and here
// there is no barrier either.
// expect: bug
// heddle: global=128 local=64
kernel void k(global const int *in, global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    event_t e = async_work_group_copy(tile, in + 64 * get_group_id(0), 64, 0);  // want race-async-copy "tile"
    out[get_global_id(0)] = tile[63 - i];                                       // want race-async-copy "tile"
    wait_group_events(1, &e);
}
