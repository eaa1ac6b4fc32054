// A flag between groups by atomics of work-group scope.
// Why: memory_scope_work_group does not include work-items of other groups, so that the flag itself races.
// expect: bug
// heddle: global=64 local=32
kernel void k(global atomic_int *flag) {
    if (get_local_id(0) == 0)
        atomic_fetch_add_explicit(flag, 1, memory_order_acq_rel, memory_scope_work_group); // want race-global "flag"
}
