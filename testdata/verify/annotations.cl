// Annotations: memory at the head of a loop, candidates, snapshots, tickets, specifications.
#include "heddle.h"

// verified: a running total in memory; the invariant gives the sum so far
// heddle: global=256 local=64
kernel void total(global int *sum, int n) {
    __requires(n >= 0);
    uint i = get_global_id(0);
    sum[i] = 0;
    for (int j = 0; __invariant(sum[i] == j), __invariant(j <= n), j < n; j++)
        sum[i]++;
    __assert(sum[i] == n);
}

// violation: one addition too many
// heddle: global=256 local=64 n=3
kernel void total_and_one(global int *sum, int n) {
    __requires(n >= 0);
    uint i = get_global_id(0);
    sum[i] = 1;
    for (int j = 0; j < n; j++)
        sum[i]++;
    __assert(sum[i] == n);
}

// verified: a permutation that stays one during a loop, by a candidate invariant
// heddle: global=256 local=64
kernel void places(global int *out, int n) {
    local int place[64];
    uint t = get_local_id(0);
    place[t] = t;
    for (int j = 0; __candidate_invariant(place[t] == t), j < n; j++) {
        out[get_group_id(0) * 64 + place[t]] = j;
        place[t] = t;
    }
}

// race: from the second iteration on, two work-items use the same place
// heddle: global=256 local=64 n=2
kernel void places_shared(global int *out, int n) {
    local int place[64];
    uint t = get_local_id(0);
    place[t] = t;
    for (int j = 0; __candidate_invariant(place[t] == t), j < n; j++) {
        out[get_group_id(0) * 64 + place[t]] = (int)t + j;
        place[t] = t / 2;
    }
}

// verified: the original contents of the array are saved for the condition at the end
// heddle: global=256 local=64
kernel void add_all(global int *a, int n) {
    local int before[64];
    global int *row = a + get_group_id(0) * 64;
    uint t = get_local_id(0);
    __requires(n >= 0);
    __array_snapshot(before, row);
    for (int j = 0; __invariant(row[t] == before[t] + j), __invariant(j <= n), j < n; j++)
        row[t] += 1;
    __assert(row[t] == before[t] + n);
}

// refused: the condition omits the last iteration
// heddle: global=256 local=64
kernel void add_all_but_one(global int *a, int n) {
    local int before[64];
    global int *row = a + get_group_id(0) * 64;
    uint t = get_local_id(0);
    __requires(n >= 1);
    __array_snapshot(before, row);
    for (int j = 0; __invariant(row[t] == before[t] + j), __invariant(j <= n), j < n; j++)
        row[t] += 1;
    __assert(row[t] == before[t] + n - 1);
}

// verified: a list to which work-items append at the place that a ticket gives
// heddle: global=256 local=64
kernel void append(global uint *count, global char *list, global const char *in, int n) {
    for (int j = 0;
         __invariant(__write_implies(list, __atomic_has_taken_value(count, 0, __write_offset_bytes(list)))), j < n; j++) {
        if (in[j] > 0) {
            uint at = atomic_inc(count);
            list[at] = in[j];
        }
    }
}

// race: elements that are not positive are written to the first place, without a ticket
// heddle: global=256 local=64 n=1
kernel void append_beside(global uint *count, global char *list, global const char *in, int n) {
    for (int j = 0;
         __invariant(__write_implies(list, __atomic_has_taken_value(count, 0, __write_offset_bytes(list)))), j < n; j++) {
        uint at = 0;
        if (in[j] > 0)
            at = atomic_inc(count);
        list[at] = in[j];
    }
}

void __spec_fill(global int *p, uint i) {
    __requires(i < 1024);
    __ensures(__write_implies(p, __write_offset_bytes(p) / sizeof(int) == i));
    __ensures(p[i] == 7);
    __writes_to(p);
}

// verified: only the specification of the function is known
// heddle: global=256 local=64
kernel void filled(global int *a) {
    uint i = get_global_id(0);
    __spec_fill(a, i);
    __assert(a[i] == 7);
}

// refused: two work-items let the function fill the same element
// heddle: global=256 local=64
kernel void filled_twice(global int *a) {
    uint i = get_global_id(0);
    __spec_fill(a, i / 2);
}

// verified: work-items that left the inner loop early have read their own element, others the mirrored one
// heddle: global=256 local=64
kernel void some_come(global int *out, int n) {
    local int s[64];
    uint t = get_local_id(0);
    int x = t >= 32 ? s[63 - t] : 0;
    if (t < 32)
        for (uint j = 0; __global_invariant(__implies(__dominator_enabled() & __read(s), __read_offset_bytes(s) / sizeof(int) == t)), j < t; j++)
            x += s[t];
    out[get_global_id(0)] = x;
}

// refused: the first two of those that enter have read another element before
// heddle: global=256 local=64
kernel void some_come_late(global int *out, int n) {
    local int s[64];
    uint t = get_local_id(0);
    int x = 0;
    if (t < 32) {
        if (t < 2)
            x = s[63 - t];
        for (uint j = 0; __global_invariant(__implies(__dominator_enabled() & __read(s), __read_offset_bytes(s) / sizeof(int) == t)), j < t; j++)
            x += s[t];
    }
    out[get_global_id(0)] = x;
}

int4 steps(int n) {
    __ensures(__return_val_int4().x == n);
    __ensures(__return_val_int4().w == n + 3);
    return (int4)(n, n + 1, n + 2, n + 3);
}

// verified: four elements for each work-item, at the place that a function returns
// heddle: global=256 local=64
kernel void four(global int *a) {
    int4 at = steps(4 * get_global_id(0));
    a[at.x] = 1;
    a[at.w] = 2;
}

// race: the last element of one work-item is the first of the next
// heddle: global=256 local=64
kernel void three(global int *a) {
    int4 at = steps(3 * get_global_id(0));
    a[at.x] = 1;
    a[at.w] = 2;
}
