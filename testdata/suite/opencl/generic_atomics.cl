// A flag in local memory, accessed by a generic pointer, for data in local memory.
// Why: the release and the acquire order the memory that the flag is in, for any type of pointer to the flag.
// expect: clean
// heddle: global=64 local=64
void set(atomic_int *flag) { atomic_store_explicit(flag, 1, memory_order_release, memory_scope_work_group); }
int get(atomic_int *flag) { return atomic_load_explicit(flag, memory_order_acquire, memory_scope_work_group); }
kernel void k(global int *out) {
    local atomic_int flag;
    local int data;
    if (get_local_id(0) == 0) atomic_init(&flag, 0);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        data = 42;
        set(&flag);
    } else if (get_local_id(0) == 32) {
        while (!get(&flag)) {}
        *out = data;
    }
}
