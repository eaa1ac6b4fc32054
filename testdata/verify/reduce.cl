// Sums of an array, one for each work-group.

// verified: each step reads the results of the previous one, with a local barrier in between
// heddle: global=1024 local=256
kernel void tree(global const float *in, global float *out, uint n) {
    local float part[256];
    uint i = get_local_id(0);
    uint g = get_global_id(0);
    part[i] = g < n ? in[g] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 128; s > 0; s >>= 1) {
        if (i < s)
            part[i] += part[i + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i == 0)
        out[get_group_id(0)] = part[0];
}

// race: the barrier orders global memory, but the sums are in local memory
// heddle: global=1024 local=256
kernel void tree_wrong_flag(global const float *in, global float *out, uint n) {
    local float part[256];
    uint i = get_local_id(0);
    uint g = get_global_id(0);
    part[i] = g < n ? in[g] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 128; s > 0; s >>= 1) {
        if (i < s)
            part[i] += part[i + s];
        barrier(CLK_GLOBAL_MEM_FENCE);
    }
    if (i == 0)
        out[get_group_id(0)] = part[0];
}

// divergence: only the work-items that still add reach the barrier
// heddle: global=1024 local=256
kernel void tree_inner_barrier(global const float *in, global float *out) {
    local float part[256];
    uint i = get_local_id(0);
    part[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 128; s > 0; s >>= 1) {
        if (i < s) {
            part[i] += part[i + s];
            barrier(CLK_LOCAL_MEM_FENCE);
        }
    }
    if (i == 0)
        out[get_group_id(0)] = part[0];
}

// verified: the same with local memory as an argument and growing strides
// heddle: global=512 local=64 part=local:256
kernel void local_argument(global const int *in, global int *out, local int *part) {
    uint i = get_local_id(0);
    part[i] = in[get_global_id(0)];
    for (uint s = 1; s < get_local_size(0); s *= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i % (2 * s) == 0)
            part[i] += part[i + s];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0)
        out[get_group_id(0)] = part[0];
}

// race: nothing orders the sums of a step before those of the next
// heddle: global=512 local=64 part=local:256
kernel void local_argument_no_barrier(global const int *in, global int *out, local int *part) {
    uint i = get_local_id(0);
    part[i] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint s = 1; s < get_local_size(0); s *= 2)
        if (i % (2 * s) == 0)
            part[i] += part[i + s];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i == 0)
        out[get_group_id(0)] = part[0];
}

// verified: groups add their sums with an atomic
// heddle: global=1024 local=128
kernel void with_atomic(global const int *in, global int *sum) {
    local int part;
    if (get_local_id(0) == 0)
        part = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&part, in[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        atomic_add(sum, part);
}

// race: groups add their sums without an atomic
// heddle: global=1024 local=128
kernel void without_atomic(global const int *in, global int *sum) {
    local int part;
    if (get_local_id(0) == 0)
        part = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&part, in[get_global_id(0)]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        *sum += part;
}

// verified: a minimum of pairs, component by component
// heddle: global=256 local=64
kernel void minimum(global const float4 *in, global float4 *out) {
    local float4 best[64];
    int i = get_local_id(0);
    best[i] = in[get_global_id(0)];
    for (int s = 32; s > 0; s /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (i < s)
            best[i] = fmin(best[i], best[i + s]);
    }
    if (i == 0)
        out[get_group_id(0)] = best[0];
}
