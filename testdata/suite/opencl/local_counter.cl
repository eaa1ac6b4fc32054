// A counter in local memory, read after a barrier.
// Why: the barrier orders it, atomics included.
// expect: clean
// heddle: global=256 local=64
kernel void k(global int *out) {
    local int count;
    if (get_local_id(0) == 0) count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&count);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = count;
}
