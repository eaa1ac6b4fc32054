// A flag in global memory for data in local memory.
// Why: a release on an object in global memory orders global memory (OpenCL 2.0, 3.3.6: happens-before of global and of
// local memory are two relations, which only fences and sequentially consistent operations connect).
// expect: bug
// heddle: global=64 local=64
kernel void k(global atomic_int *flag, global int *out) {
    local int data;
    if (get_local_id(0) == 0) {
        data = 42;                 // want race-shared "data"
        atomic_store_explicit(flag, 1, memory_order_release, memory_scope_work_group);
    } else if (get_local_id(0) == 32) {
        while (!atomic_load_explicit(flag, memory_order_acquire, memory_scope_work_group)) {}
        *out = data;               // want race-shared "data"
    }
}
