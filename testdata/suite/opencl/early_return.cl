// Some work-items leave before the barrier.
// Why: all work-items of a group must execute the barrier (6.15.8).
// expect: bug
// heddle: global=64 local=64 n=50
kernel void k(global int *out, int n) {
    local int tile[64];
    int i = get_local_id(0);
    if (i >= n) return;
    tile[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);        // want barrier-divergence "exited"
    out[i] = tile[n - 1 - i];
}
