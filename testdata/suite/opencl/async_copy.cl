// A tile is copied asynchronously.
// Why: after wait_group_events the copy is complete, for all work-items of the group (6.15.11).
// expect: clean
// heddle: global=128 local=64
kernel void k(global const int *in, global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    event_t e = async_work_group_copy(tile, in + 64 * get_group_id(0), 64, 0);
    wait_group_events(1, &e);
    out[get_global_id(0)] = tile[63 - i];
}
