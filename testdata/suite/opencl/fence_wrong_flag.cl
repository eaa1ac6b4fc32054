// As fences.cl, but the release fence names local memory.
// Why: a fence orders the memory that its flags name (6.15.12.6).
// expect: bug
// heddle: global=64 local=32
kernel void k(global int *data, global atomic_int *flag, global int *out) {
    if (get_local_id(0) != 0) return;
    if (get_group_id(0) == 0) {
        *data = 42;                    // want race-global "data"
        atomic_work_item_fence(CLK_LOCAL_MEM_FENCE, memory_order_release, memory_scope_device);
        atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
    } else {
        while (!atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device)) {}
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        *out = *data;                  // want race-global "data"
    }
}
