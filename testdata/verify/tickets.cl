// Ticket locks by the atomics of OpenCL 2.0. Each kernel has its expected outcome with the reason,
// and its launch. Counters are 0 at the start. Sections are those of the OpenCL C 3.0
// specification.

#define FENCE(FLAGS, ORDER) atomic_work_item_fence(FLAGS, memory_order_##ORDER, memory_scope_device)
#define TICKET(C) atomic_fetch_add_explicit(C, 1, memory_order_relaxed, memory_scope_device)
#define CALL(C, V, ORDER) atomic_store_explicit(C, V, memory_order_##ORDER, memory_scope_device)
#define WAIT(C, T, ORDER)                                                                          \
    while (atomic_load_explicit(C, memory_order_##ORDER, memory_scope_device) != (T))              \
        ;

// verified: the load acquires, the store releases (6.15.12.2)
// heddle: global=128 local=32
kernel void orders(global atomic_uint *next, global atomic_uint *serving, global int *count) {
    uint t = TICKET(next);
    WAIT(serving, t, acquire)
    *count = *count + 1;
    CALL(serving, t + 1, release);
}

// verified: fences of global memory replace the orders (6.15.12.6)
// heddle: global=128 local=32
kernel void fences(global atomic_uint *next, global atomic_uint *serving, global int *count) {
    uint t = TICKET(next);
    WAIT(serving, t, relaxed)
    FENCE(CLK_GLOBAL_MEM_FENCE, acquire);
    *count = *count + 1;
    FENCE(CLK_GLOBAL_MEM_FENCE, release);
    CALL(serving, t + 1, relaxed);
}

// verified: without an order named it is seq_cst, and an addition calls the next number
// heddle: global=128 local=32
kernel void by_default(global atomic_uint *next, global atomic_uint *serving, global int *count) {
    uint t = atomic_fetch_add(next, 1);
    while (atomic_load(serving) != t)
        ;
    *count = *count + 1;
    atomic_fetch_add(serving, 1);
}

// verified: a lock for each of 16 bins
// heddle: global=128 local=32
kernel void bins(global atomic_uint *next, global atomic_uint *serving, global int *counts,
                 global const int *in) {
    int b = in[get_global_id(0)] & 15;
    uint t = TICKET(&next[b]);
    WAIT(&serving[b], t, acquire)
    counts[b]++;
    CALL(&serving[b], t + 1, release);
}

// race: the store does not release
// heddle: global=128 local=32
kernel void relaxed_store(global atomic_uint *next, global atomic_uint *serving, global int *count) {
    uint t = TICKET(next);
    WAIT(serving, t, acquire)
    *count = *count + 1;
    CALL(serving, t + 1, relaxed);
}

// race: the load does not acquire
// heddle: global=128 local=32
kernel void relaxed_load(global atomic_uint *next, global atomic_uint *serving, global int *count) {
    uint t = TICKET(next);
    WAIT(serving, t, relaxed)
    *count = *count + 1;
    CALL(serving, t + 1, release);
}

// race: the release fence names local memory, the counter is in global memory
// heddle: global=128 local=32
kernel void wrong_fence(global atomic_uint *next, global atomic_uint *serving, global int *count) {
    uint t = TICKET(next);
    WAIT(serving, t, acquire)
    *count = *count + 1;
    FENCE(CLK_LOCAL_MEM_FENCE, release);
    CALL(serving, t + 1, relaxed);
}

// race: tickets of two counters for one lock
// heddle: global=128 local=32
kernel void two_counters(global atomic_uint *next, global atomic_uint *serving, global int *count) {
    uint t = TICKET(&next[get_group_id(0) & 1]);
    WAIT(serving, t, acquire)
    *count = *count + 1;
    CALL(serving, t + 1, release);
}

// race: the load has the scope of the work-group
// heddle: global=128 local=32
kernel void scope_of_group(global atomic_uint *next, global atomic_uint *serving, global int *count) {
    uint t = TICKET(next);
    while (atomic_load_explicit(serving, memory_order_acquire, memory_scope_work_group) != t)
        ;
    *count = *count + 1;
    CALL(serving, t + 1, release);
}
