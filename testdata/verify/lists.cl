// Prefix sums, histograms and lists.

// verified: two buffers are swapped, with one barrier in each step
// heddle: global=512 local=128
kernel void scan(global const uint *in, global uint *out) {
    local uint buffer[2][128];
    uint i = get_local_id(0), from = 0;
    buffer[0][i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < 128; d <<= 1) {
        uint to = 1 - from;
        buffer[to][i] = i >= d ? buffer[from][i] + buffer[from][i - d] : buffer[from][i];
        barrier(CLK_LOCAL_MEM_FENCE);
        from = to;
    }
    out[get_global_id(0)] = buffer[from][i];
}

// race: one buffer, without a barrier between reading the neighbor and writing
// heddle: global=512 local=128
kernel void scan_one_buffer(global const uint *in, global uint *out) {
    local uint buffer[128];
    uint i = get_local_id(0);
    buffer[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < 128; d <<= 1) {
        if (i >= d)
            buffer[i] += buffer[i - d];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = buffer[i];
}

// verified: one buffer, with a barrier between reading and writing
// heddle: global=512 local=128
kernel void scan_two_barriers(global const uint *in, global uint *out) {
    local uint buffer[128];
    uint i = get_local_id(0);
    buffer[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint d = 1; d < 128; d <<= 1) {
        uint add = i >= d ? buffer[i - d] : 0;
        barrier(CLK_LOCAL_MEM_FENCE);
        buffer[i] += add;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[get_global_id(0)] = buffer[i];
}

#define BINS 64

// verified: bins are cleared, counted and added up by atomics, with barriers between
// heddle: global=512 local=64
kernel void histogram(global const uchar *in, global uint *out) {
    local uint bin[BINS];
    uint i = get_local_id(0);
    for (uint b = i; b < BINS; b += get_local_size(0))
        bin[b] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bin[in[get_global_id(0)] % BINS]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint b = i; b < BINS; b += get_local_size(0))
        atomic_add(&out[b], bin[b]);
}

// race: two work-items count in the same bin without an atomic
// heddle: global=512 local=64
kernel void histogram_plain(global const uchar *in, global uint *out) {
    local uint bin[BINS];
    uint i = get_local_id(0);
    bin[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    bin[in[get_global_id(0)] % BINS]++;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&out[i], bin[i]);
}

// race: counting starts before all bins are clear
// heddle: global=512 local=64
kernel void histogram_late_clear(global const uchar *in, global uint *out) {
    local uint bin[BINS];
    uint i = get_local_id(0);
    bin[i] = 0;
    atomic_inc(&bin[in[get_global_id(0)] % BINS]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&out[i], bin[i]);
}

// race: groups store their bins over those of other groups
// heddle: global=512 local=64
kernel void histogram_lost(global const uchar *in, global uint *out) {
    local uint bin[BINS];
    uint i = get_local_id(0);
    bin[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bin[in[get_global_id(0)] % BINS]);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = bin[i] + get_group_id(0);
}

// verified: elements that are kept get slots of the list from a counter
// heddle: global=512 local=64
kernel void compact(global const int *in, global int *out, global int *count) {
    int v = in[get_global_id(0)];
    if (v > 0)
        out[atomic_inc(count)] = v;
}

// race: each group has its own counter, but all groups share the list
// heddle: global=512 local=64 in=random
kernel void compact_by_group(global const int *in, global int *out) {
    local int count;
    if (get_local_id(0) == 0)
        count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = in[get_global_id(0)];
    if (v > 0)
        out[atomic_inc(&count)] = v;
}

// verified: a list of the group, copied to the group's part of the result
// heddle: global=512 local=64
kernel void compact_in_groups(global const int *in, global int *out) {
    local int list[64];
    local int count;
    uint i = get_local_id(0);
    if (i == 0)
        count = 0;
    list[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    int v = in[get_global_id(0)];
    if (v > 0)
        list[atomic_inc(&count)] = v;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = i < count ? list[i] : 0;
}

// race: the counter is read and increased in two steps
// heddle: global=512 local=64 in=random
kernel void compact_two_steps(global const int *in, global int *out, global int *count) {
    int v = in[get_global_id(0)];
    if (v > 0) {
        out[*count] = v;
        atomic_inc(count);
    }
}

// verified: slots in pairs
// heddle: global=512 local=64
kernel void edges(global const int2 *in, global int *out, global int *count) {
    int2 e = in[get_global_id(0)];
    if (e.x < e.y) {
        int at = atomic_add(count, 2);
        out[at] = e.x;
        out[at + 1] = e.y;
    }
}

// race: two slots are written, but only one is reserved
// heddle: global=512 local=64 in=random
kernel void edges_one_slot(global const int2 *in, global int *out, global int *count) {
    int2 e = in[get_global_id(0)];
    if (e.x < e.y) {
        int at = atomic_add(count, 1);
        out[at] = e.x;
        out[at + 1] = e.y;
    }
}
