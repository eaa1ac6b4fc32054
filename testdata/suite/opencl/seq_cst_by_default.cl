// The same with functions without order and scope.
// Why: these functions are sequentially consistent at device scope (6.15.12.7), which releases and acquires.
// expect: clean
// heddle: global=64 local=32
kernel void k(global int *data, global atomic_int *flag, global int *out) {
    if (get_local_id(0) != 0) return;
    if (get_group_id(0) == 0) {
        *data = 42;
        atomic_fetch_add(flag, 1);
    } else {
        while (!atomic_load(flag)) {}
        *out = *data;
    }
}
