// One group passes data to another one with a relaxed flag.
// Why: relaxed operations order nothing else.
// expect: bug
// heddle: global=64 local=32
kernel void k(global int *data, global atomic_int *flag, global int *out) {
    if (get_local_id(0) != 0) return;
    if (get_group_id(0) == 0) {
        *data = 42;                    // want race-global "data"
        atomic_store_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
    } else {
        while (!atomic_load_explicit(flag, memory_order_relaxed, memory_scope_device)) {}
        *out = *data;                  // want race-global "data"
    }
}
