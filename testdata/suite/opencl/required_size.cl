// The kernel specifies the size of its groups, the launch the number of work-items.
// Why: reqd_work_group_size is the local size (6.7.2): with another size, tile[31 - i] would be out of bounds.
// expect: clean
// heddle: global=96
__attribute__((reqd_work_group_size(32, 1, 1)))
kernel void k(global int *out) {
    local int tile[32];
    int i = get_local_id(0);
    tile[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[31 - i];
}
