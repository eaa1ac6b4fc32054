// Images, structs, vectors and pointers.

// verified: one image is read around a pixel, and the pixel of another image is written
// heddle: global=32,32 local=8,8
kernel void blur(read_only image2d_t in, write_only image2d_t out) {
    const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = (float4)(0.0f);
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            sum += read_imagef(in, nearest, at + (int2)(x, y));
    write_imagef(out, at, sum / 9.0f);
}

// race: a column of work-items writes the same pixel
// heddle: global=32,32 local=8,8
kernel void blur_to_row(read_only image2d_t in, write_only image2d_t out) {
    const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(out, (int2)(at.x, 0), read_imagef(in, nearest, at) + (float4)(at.y));
}

struct grid {
    int width, height;
    float scale;
};

// verified: the pitch is in a struct, and work-items outside the image do nothing
// heddle: global=32,8 local=8,8
kernel void scale(global const float *in, global float *out, struct grid g) {
    int x = get_global_id(0), y = get_global_id(1);
    if (x < 32 && g.width == 32)
        out[y * g.width + x] = g.scale * in[y * g.width + x];
}

// race: the height is used as the pitch
// heddle: global=32,8 local=8,8 g+0=u32:32 g+4=u32:8
kernel void scale_wrong_pitch(global const float *in, global float *out, struct grid g) {
    int x = get_global_id(0), y = get_global_id(1);
    if (g.height == 8)
        out[y * g.height + x] = g.scale * in[y * 32 + x] + y;
}

struct particle {
    float3 at;
    int hits;
    global int *log;
};

// verified: each work-item changes the fields of its own particle
// heddle: global=256 local=64
kernel void move(global struct particle *all, float dt) {
    global struct particle *p = &all[get_global_id(0)];
    p->at += (float3)(dt, 2 * dt, 0.0f);
    if (p->at.x > 1.0f) {
        p->at.x = 0.0f;
        p->hits++;
    }
}

// race: reads the hits of the neighbor while the neighbor changes them
// heddle: global=256 local=64
kernel void move_and_look(global struct particle *all, global int *out) {
    size_t i = get_global_id(0);
    all[i].hits += 1;
    out[i] = all[(i + 1) % 256].hits;
}

// verified: structs in local memory, copied as a whole, with a barrier in between
// heddle: global=256 local=64
kernel void exchange(global const struct particle *in, global struct particle *out) {
    local struct particle tile[64];
    tile[get_local_id(0)] = in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    struct particle p = tile[63 - get_local_id(0)];
    p.log = 0;
    out[get_global_id(0)] = p;
}

// verified: each work-item has its own element in either array
// heddle: global=256 local=64
kernel void either(global int *a, global int *b, int which) {
    global int *p = which ? a : b;
    p[get_global_id(0)] = which;
}

// race: work-items use either array at half of their index, so two of them share an element
// heddle: global=256 local=64
kernel void either_by_item(global int *a, global int *b) {
    size_t i = get_global_id(0);
    global int *p = i % 2 ? a : b;
    p[i / 2] = i;
    if (i == 0)
        a[0] = i;
}

// verified: even work-items write one array, odd ones the other
// heddle: global=256 local=64
kernel void even_and_odd(global int *a, global int *b) {
    size_t i = get_global_id(0);
    global int *p = i % 2 ? a : b;
    p[i / 2] = i;
}

// verified: two arrays are swapped in each step, with a barrier in between
// heddle: global=64 local=64 a=local:256 b=local:256
kernel void swap(global int *out, local int *a, local int *b, int steps) {
    int i = get_local_id(0);
    local int *from = a, *to = b;
    a[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 0; s < steps; s++) {
        to[i] = from[(i + 1) % 64];
        barrier(CLK_LOCAL_MEM_FENCE);
        local int *t = from;
        from = to;
        to = t;
    }
    out[i] = from[i];
}

// race: the arrays are not swapped, so a step overwrites elements that other work-items still read
// heddle: global=64 local=64 a=local:256 b=local:256 steps=3
kernel void no_swap(global int *out, local int *a, local int *b, int steps) {
    int i = get_local_id(0);
    local int *from = a, *to = b;
    a[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int s = 0; s < steps; s++) {
        to[i] = from[(i + 1) % 64];
        from = to;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[i] = from[i];
}

// verified: vectors of four at the addresses of elements
// heddle: global=256 local=64
kernel void vectors(global const float *in, global float *out) {
    size_t i = get_global_id(0);
    vstore4(2.0f * vload4(i, in), i, out);
}

// race: vectors of four at a distance of three elements
// heddle: global=256 local=64
kernel void vectors_overlap(global const float *in, global float *out) {
    size_t i = get_global_id(0);
    vstore4(vload4(i, in) + (float4)(i), 0, out + 3 * i);
}

// verified: even work-items write the low half of a vector, odd ones the high half
// heddle: global=256 local=64
kernel void halves(global int4 *out) {
    size_t i = get_global_id(0);
    if (i % 2)
        out[i / 2].hi = (int2)(i, i);
    else
        out[i / 2].lo = (int2)(i, i);
}

// race: both write the third component
// heddle: global=256 local=64
kernel void halves_overlap(global int4 *out) {
    size_t i = get_global_id(0);
    if (i % 2)
        out[i / 2].hi = (int2)(i, i);
    else
        out[i / 2].xyz = (int3)(i, i, i);
}

// verified: a private array, indexed by data
// heddle: global=256 local=64
kernel void digits(global const uint *in, global uint *out) {
    uint count[10];
    for (int d = 0; d < 10; d++)
        count[d] = 0;
    for (uint v = in[get_global_id(0)]; v > 0; v /= 10)
        count[v % 10]++;
    for (int d = 0; d < 10; d++)
        out[10 * get_global_id(0) + d] = count[d];
}

// race: the results of neighbors overlap by one element
// heddle: global=256 local=64
kernel void digits_overlap(global const uint *in, global uint *out) {
    uint count[10];
    for (int d = 0; d < 10; d++)
        count[d] = get_global_id(0);
    for (uint v = in[get_global_id(0)]; v > 0; v /= 10)
        count[v % 10]++;
    for (int d = 0; d < 10; d++)
        out[9 * get_global_id(0) + d] = count[d];
}

// divergence: work-items beyond n return while the others wait
// heddle: global=256 local=64 n=100
kernel void early_return(global const int *in, global int *out, int n) {
    local int tile[64];
    size_t i = get_global_id(0);
    if (i >= n)
        return;
    tile[get_local_id(0)] = in[i];
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[0];
}

constant int place[4] = {2, 0, 3, 1};

// verified: a table gives the work-items of a group different places
// heddle: global=64 local=4
kernel void by_table(global int *out) {
    out[4 * get_group_id(0) + place[get_local_id(0)]] = get_local_id(0);
}

constant int wrong_place[4] = {2, 0, 3, 2};

// race: a table gives two work-items the same place
// heddle: global=64 local=4
kernel void by_wrong_table(global int *out) {
    out[4 * get_group_id(0) + wrong_place[get_local_id(0)]] = get_local_id(0);
}

// verified: an array of bytes is an array, also where the index is loaded
// heddle: global=64 local=64
kernel void bytes_by_index(global const uchar *bytes, global const int *index, global float *out) {
    out[get_global_id(0)] = bytes[index[get_global_id(0)]];
}

// verified: an index from constant memory is a number
// heddle: global=64 local=64
kernel void index_from_constant(constant int *shift, global const float *in, global float *out) {
    out[get_global_id(0)] = in[get_global_id(0) + shift[1]];
}

// race: one element of the bytes is written by every work-item
// heddle: global=64 local=64
kernel void bytes_by_index_racy(global uchar *bytes, constant int *index) {
    bytes[index[0]] = get_global_id(0);
}

// race: volatile makes no access atomic in OpenCL C, so the store races with the increments
// heddle: global=64 local=64
kernel void volatile_reset(volatile global int *count) {
    if (get_global_id(0) == 0)
        *count = 0;
    atomic_inc(count);
}

// verified: a barrier separates the reset of a volatile counter from the increments
// heddle: global=64 local=64
kernel void volatile_counter(volatile local int *count, global int *out) {
    if (get_local_id(0) == 0)
        *count = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(count);
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = *count;
}

// verified: pixels of an image that is wider than 4096 are different
// heddle: global=64 local=64
kernel void wide_image(write_only image2d_t image) {
    int i = get_global_id(0);
    write_imagei(image, (int2)(4096 * (i & 1), i >> 1), (int4)(i));
}
