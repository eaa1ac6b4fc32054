// Each group exchanges values through its own part of global memory.
// Why: CLK_GLOBAL_MEM_FENCE orders accesses of global memory by the work-items of a group.
// expect: clean
// heddle: global=128 local=64
kernel void k(global int *data, global int *out) {
    int i = get_local_id(0);
    global int *mine = data + 64 * get_group_id(0);
    mine[i] = i;
    barrier(CLK_GLOBAL_MEM_FENCE);
    out[get_global_id(0)] = mine[63 - i];
}
