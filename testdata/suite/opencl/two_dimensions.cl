// A transposition in tiles of 8 by 8.
// Why: get_global_id(d) is get_group_id(d) * get_local_size(d) + get_local_id(d), with no offset (6.15.1).
// expect: clean
// heddle: global=16,16 local=8,8
kernel void k(global const int *in, global int *out) {
    local int tile[8][8];
    int x = get_local_id(0), y = get_local_id(1);
    tile[y][x] = in[get_global_id(1) * get_global_size(0) + get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[(get_group_id(0) * 8 + y) * get_global_size(1) + get_group_id(1) * 8 + x] = tile[x][y];
}
