// Each work-item uses the element of its own index before the copy is complete.
// Why: the copy happens at any time until wait_group_events, in any work-item (6.15.11).
// expect: bug
// heddle: global=64 local=64
kernel void k(global const int *in, global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    event_t e = async_work_group_copy(tile, in, 64, 0);   // want race-async-copy "tile"
    out[i] = tile[i];                                     // want race-async-copy "tile"
    wait_group_events(1, &e);
}
