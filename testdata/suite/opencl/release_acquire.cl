// One group passes data to another one with a flag.
// Why: a release at device scope synchronizes with the acquire that reads it (OpenCL 2.0, 3.3.4).
// expect: clean
// heddle: global=64 local=32
kernel void k(global int *data, global atomic_int *flag, global int *out) {
    if (get_local_id(0) != 0) return;
    if (get_group_id(0) == 0) {
        *data = 42;
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    } else if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_device)) {
        *out = *data;
    }
}
