// A counter of 1.x.
// Why: the atomic functions of 1.x are relaxed at device scope (6.15.12.8): they race neither with each other nor
// between groups.
// expect: clean
// heddle: global=256 local=64
kernel void k(global int *count, global int *slots) {
    int at = atomic_inc(count);
    slots[at] = get_global_id(0);
}
