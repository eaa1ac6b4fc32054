// A fence of 1.x in place of a barrier.
// Why: mem_fence orders the accesses of one work-item; the others do not wait.
// expect: bug
// heddle: global=64 local=64
kernel void k(global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;               // want race-shared "tile"
    mem_fence(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[63 - i];     // want race-shared "tile"
}
