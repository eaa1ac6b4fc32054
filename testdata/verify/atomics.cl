// Locks, flags and last arrivers by the atomics of OpenCL 2.0. Each kernel has its expected outcome
// with the reason, and its launch. Locks, flags and counters are 0 at the start. Sections are those of
// the OpenCL C 3.0 specification.

#define FENCE(FLAGS, ORDER) atomic_work_item_fence(FLAGS, memory_order_##ORDER, memory_scope_device)
#define SWAP(LOCK, ORDER, SCOPE) atomic_exchange_explicit(LOCK, 1, memory_order_##ORDER, memory_scope_##SCOPE)
#define STORE(FLAG, V, ORDER) atomic_store_explicit(FLAG, V, memory_order_##ORDER, memory_scope_device)
#define LOAD(FLAG, ORDER) atomic_load_explicit(FLAG, memory_order_##ORDER, memory_scope_device)
#define ADD(COUNTER, ORDER) atomic_fetch_add_explicit(COUNTER, 1, memory_order_##ORDER, memory_scope_device)

// verified: compare-and-swap acquires, store releases, both at device scope (6.15.12.2)
// heddle: global=128 local=32
kernel void swaps(global atomic_int *lock, global int *count) {
    for (int free = 0; !atomic_compare_exchange_strong_explicit(lock, &free, 1, memory_order_acquire,
                           memory_order_relaxed, memory_scope_device);)
        free = 0;
    *count = *count + 1;
    STORE(lock, 0, release);
}

// verified: an exchange takes the lock as well
// heddle: global=128 local=32
kernel void exchanges(global atomic_int *lock, global int *count) {
    while (SWAP(lock, acquire, device))
        ;
    *count = *count + 1;
    STORE(lock, 0, release);
}

// verified: without an order named it is seq_cst, without a scope that of the device (6.15.12)
// heddle: global=128 local=32
kernel void by_default(global atomic_int *lock, global int *count) {
    while (atomic_exchange(lock, 1))
        ;
    *count = *count + 1;
    atomic_store(lock, 0);
}

// verified: relaxed operations with fences of global memory (6.15.12.6)
// heddle: global=128 local=32
kernel void fences(global atomic_int *lock, global int *count) {
    while (SWAP(lock, relaxed, device))
        ;
    FENCE(CLK_GLOBAL_MEM_FENCE, acquire);
    *count = *count + 1;
    FENCE(CLK_GLOBAL_MEM_FENCE, release);
    STORE(lock, 0, relaxed);
}

// verified: a lock for each of 16 lists
// heddle: global=128 local=32
kernel void lists(global atomic_int *locks, global int *counts, global const int *in) {
    int b = in[get_global_id(0)] & 15;
    while (SWAP(&locks[b], acquire, device))
        ;
    counts[b]++;
    STORE(&locks[b], 0, release);
}

// verified: whoever does not get the lock does nothing
// heddle: global=128 local=32
kernel void tries_once(global atomic_int *lock, global int *count) {
    if (SWAP(lock, acquire, device))
        return;
    *count = get_global_id(0);
    STORE(lock, 0, release);
}

// race: the store does not release
// heddle: global=128 local=32
kernel void relaxed_store(global atomic_int *lock, global int *count) {
    while (SWAP(lock, acquire, device))
        ;
    *count = *count + 1;
    STORE(lock, 0, relaxed);
}

// race: the exchange does not acquire
// heddle: global=128 local=32
kernel void relaxed_exchange(global atomic_int *lock, global int *count) {
    while (SWAP(lock, relaxed, device))
        ;
    *count = *count + 1;
    STORE(lock, 0, release);
}

// race: the release fence names local memory, the counter is in global memory
// heddle: global=128 local=32
kernel void wrong_release_fence(global atomic_int *lock, global int *count) {
    while (SWAP(lock, relaxed, device))
        ;
    FENCE(CLK_GLOBAL_MEM_FENCE, acquire);
    *count = *count + 1;
    FENCE(CLK_LOCAL_MEM_FENCE, release);
    STORE(lock, 0, relaxed);
}

// race: the acquire fence names local memory
// heddle: global=128 local=32
kernel void wrong_acquire_fence(global atomic_int *lock, global int *count) {
    while (SWAP(lock, relaxed, device))
        ;
    FENCE(CLK_LOCAL_MEM_FENCE, acquire);
    *count = *count + 1;
    FENCE(CLK_GLOBAL_MEM_FENCE, release);
    STORE(lock, 0, relaxed);
}

// race: the scope of the exchange is the work-group
// heddle: global=128 local=32
kernel void lock_of_the_group(global atomic_int *lock, global int *count) {
    while (SWAP(lock, acquire, work_group))
        ;
    *count = *count + 1;
    STORE(lock, 0, release);
}

// race: a lock in global memory does not order local memory; an operation orders the memory of its atomic
// heddle: global=64 local=32
kernel void local_data(global atomic_int *locks, global int *out) {
    local int sum;
    while (SWAP(&locks[get_group_id(0)], acquire, device))
        ;
    sum = get_local_id(0);
    STORE(&locks[get_group_id(0)], 0, release);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_group_id(0)] = sum;
}

// verified: fences that name both memories order local memory by a lock in global memory
// heddle: global=64 local=32
kernel void local_data_with_fences(global atomic_int *locks, global int *out) {
    local int sum;
    while (SWAP(&locks[get_group_id(0)], relaxed, device))
        ;
    FENCE(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, acquire);
    sum = get_local_id(0);
    FENCE(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE, release);
    STORE(&locks[get_group_id(0)], 0, relaxed);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = sum;
}

// verified: a release at device scope synchronizes with the acquire that reads it
// heddle: global=128 local=32
kernel void publishes(global int *data, global atomic_int *flag, global int *out) {
    if (get_group_id(0) == 0) {
        if (get_local_id(0) == 0) {
            *data = 42;
            STORE(flag, 1, release);
        }
    } else {
        while (!LOAD(flag, acquire))
            ;
        out[get_global_id(0)] = *data;
    }
}

// verified: the same with fences of global memory
// heddle: global=128 local=32
kernel void publishes_with_fences(global int *data, global atomic_int *flag, global int *out) {
    if (get_group_id(0) == 0) {
        if (get_local_id(0) == 0) {
            *data = 42;
            FENCE(CLK_GLOBAL_MEM_FENCE, release);
            STORE(flag, 1, relaxed);
        }
    } else {
        while (!LOAD(flag, relaxed))
            ;
        FENCE(CLK_GLOBAL_MEM_FENCE, acquire);
        out[get_global_id(0)] = *data;
    }
}

// race: nothing releases the data
// heddle: global=128 local=32
kernel void relaxed_flag(global int *data, global atomic_int *flag, global int *out) {
    if (get_group_id(0) == 0) {
        if (get_local_id(0) == 0) {
            *data = 42;
            STORE(flag, 1, relaxed);
        }
    } else {
        while (!LOAD(flag, acquire))
            ;
        out[get_global_id(0)] = *data;
    }
}

// race: the fence of the reader names local memory
// heddle: global=128 local=32
kernel void wrong_flag_fence(global int *data, global atomic_int *flag, global int *out) {
    if (get_group_id(0) == 0) {
        if (get_local_id(0) == 0) {
            *data = 42;
            STORE(flag, 1, release);
        }
    } else {
        while (!LOAD(flag, relaxed))
            ;
        FENCE(CLK_LOCAL_MEM_FENCE, acquire);
        out[get_global_id(0)] = *data;
    }
}

// verified: each group waits for the one before it; its first work-item sets and loads the flags
// heddle: global=128 local=32
kernel void chain(global int *sums, global atomic_int *ready, global const int *in) {
    size_t g = get_group_id(0), i = get_global_id(0), n = get_local_size(0);
    if (g > 0) {
        if (get_local_id(0) == 0)
            while (!LOAD(&ready[g - 1], acquire))
                ;
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    sums[i] = (g > 0 ? sums[i - n] : 0) + in[i];
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        STORE(&ready[g], 1, release);
}

// race: the barrier before the flag is set orders local memory, and the group has written global memory
// heddle: global=128 local=64
kernel void chain_local_barrier(global int *sums, global atomic_int *ready, global const int *in) {
    size_t g = get_group_id(0), i = get_global_id(0), n = get_local_size(0);
    if (g > 0) {
        if (get_local_id(0) == 0)
            while (!LOAD(&ready[g - 1], acquire))
                ;
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    sums[i] = (g > 0 ? sums[i - n] : 0) + in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        STORE(&ready[g], 1, release);
}

// race: the barrier behind the wait orders local memory
// heddle: global=128 local=64
kernel void chain_local_wait(global int *sums, global atomic_int *ready, global const int *in) {
    size_t g = get_group_id(0), i = get_global_id(0), n = get_local_size(0);
    if (g > 0) {
        if (get_local_id(0) == 0)
            while (!LOAD(&ready[g - 1], acquire))
                ;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    sums[i] = (g > 0 ? sums[i - n] : 0) + in[i];
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        STORE(&ready[g], 1, release);
}

// verified: the last group to add continues with the parts of all
// heddle: global=128 local=32
kernel void last_group(global int *part, global atomic_int *done, global int *out) {
    local int last;
    if (get_local_id(0) == 0) {
        part[get_group_id(0)] = get_group_id(0);
        last = ADD(done, acq_rel) == get_num_groups(0) - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (last && get_local_id(0) < get_num_groups(0))
        out[get_local_id(0)] = part[get_local_id(0)];
}

// verified: all work-items of a group write before a barrier of global memory
// heddle: global=128 local=32
kernel void last_group_of_all(global int *part, global atomic_int *done, global int *out) {
    local int last;
    part[get_global_id(0)] = 1;
    barrier(CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0) {
        FENCE(CLK_GLOBAL_MEM_FENCE, release);
        last = ADD(done, relaxed) == get_num_groups(0) - 1;
        FENCE(CLK_GLOBAL_MEM_FENCE, acquire);
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (last)
        for (int i = get_local_id(0); i < get_global_size(0); i += get_local_size(0))
            out[i] = part[i];
}

// race: the barrier before the addition orders local memory only
// heddle: global=256 local=64
kernel void last_group_local_barrier(global int *part, global atomic_int *done, global int *out) {
    local int last;
    part[get_global_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        last = ADD(done, acq_rel) == get_num_groups(0) - 1;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (last)
        for (int i = get_local_id(0); i < get_global_size(0); i += get_local_size(0))
            out[i] = part[i];
}

// race: the barrier behind the addition orders local memory only
// heddle: global=256 local=64
kernel void last_group_local_answer(global int *part, global atomic_int *done, global int *out) {
    local int last;
    if (get_local_id(0) == 0) {
        part[get_group_id(0)] = get_group_id(0);
        last = ADD(done, acq_rel) == get_num_groups(0) - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (last && get_local_id(0) < get_num_groups(0))
        out[get_local_id(0)] = part[get_local_id(0)];
}

// race: the additions are relaxed
// heddle: global=128 local=32
kernel void last_group_relaxed(global int *part, global atomic_int *done, global int *out) {
    local int last;
    if (get_local_id(0) == 0) {
        part[get_group_id(0)] = get_group_id(0);
        last = ADD(done, relaxed) == get_num_groups(0) - 1;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (last && get_local_id(0) < get_num_groups(0))
        out[get_local_id(0)] = part[get_local_id(0)];
}

// race: one group has not arrived yet
// heddle: global=128 local=32
kernel void last_but_one(global int *part, global atomic_int *done, global int *out) {
    local int last;
    if (get_local_id(0) == 0) {
        part[get_group_id(0)] = get_group_id(0);
        last = ADD(done, acq_rel) == get_num_groups(0) - 2;
    }
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (last && get_local_id(0) < get_num_groups(0))
        out[get_local_id(0)] = part[get_local_id(0)];
}

// race: fences of seq_cst on the other sides of the barriers; one synchronizes by atomics of its own work-item
// heddle: global=256 local=64
kernel void fences_of_others(global int *part, global atomic_int *done, global int *out) {
    local int last;
    part[get_global_id(0)] = 1;
    FENCE(CLK_GLOBAL_MEM_FENCE, seq_cst);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        last = ADD(done, relaxed) == get_num_groups(0) - 1;
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    if (last) {
        FENCE(CLK_GLOBAL_MEM_FENCE, seq_cst);
        for (int i = get_local_id(0); i < get_global_size(0); i += get_local_size(0))
            out[i] = part[i];
    }
}
