// Relaxed atomics with fences around them.
// Why: a release fence before and an acquire fence after the relaxed operations synchronize (6.15.12.6).
// expect: clean
// heddle: global=64 local=32
kernel void k(global int *data, global atomic_int *flag, global int *out) {
    if (get_local_id(0) != 0) return;
    if (get_group_id(0) == 0) {
        *data = 42;
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);
        atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
    } else {
        while (!atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device)) {}
        atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acquire, memory_scope_device);
        *out = *data;
    }
}
