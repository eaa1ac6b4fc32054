// An asynchronous copy has more elements than the tile.
// Why: async_work_group_copy copies num_gentypes elements (OpenCL C 3.0, 6.15.11), so elements 64 to 79 lie behind
// tile. Neither the size of in nor which work-item copies an element matters.
// expect: bug
// heddle: global=128 local=64
kernel void k(global const int *in, global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    event_t e = async_work_group_copy(tile, in, 80, 0);  // want out-of-bounds "tile"
    wait_group_events(1, &e);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[63 - i];
}
