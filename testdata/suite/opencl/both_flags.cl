// One barrier for both memories.
// Why: the flags are a set.
// expect: clean
// heddle: global=64 local=64
kernel void k(global int *data, global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;
    data[i] = i;
    work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, memory_scope_work_group);
    out[i] = tile[63 - i] + data[63 - i];
}
