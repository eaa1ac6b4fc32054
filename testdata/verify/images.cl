// Reads of images through samplers (OpenCL 1.2, 8.2) and work-group functions (OpenCL C 3.0, 6.15.16).

constant sampler_t near = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP_TO_EDGE | CLK_FILTER_NEAREST;
constant sampler_t smooth = CLK_NORMALIZED_COORDS_TRUE | CLK_ADDRESS_REPEAT | CLK_FILTER_LINEAR;

// verified: a blur; each work-item writes its own pixel
// heddle: global=64x64 local=16x16
kernel void blur(read_only image2d_t from, write_only image2d_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float4 sum = 0;
    for (int y = -1; y <= 1; y++)
        for (int x = -1; x <= 1; x++)
            sum += read_imagef(from, near, at + (int2)(x, y));
    write_imagef(to, at, sum / 9);
}

// verified: an image of another size, filtered, with a sampler of the source and one of the host
// heddle: global=64x64 local=16x16
kernel void resize(read_only image2d_t from, sampler_t s, write_only image2d_t to) {
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    float2 part = ((float2)(at.x, at.y) + 0.5f) / 64.0f;
    write_imagef(to, at, read_imagef(from, smooth, part) + read_imagef(from, s, part));
}

// divergence: two places of an image may have different pixels
// heddle: global=64 local=64
kernel void fractions(read_only image2d_t im, global int *out) {
    uint a = read_imageui(im, smooth, (float2)(0.25f, 0.25f)).x;
    uint b = read_imageui(im, smooth, (float2)(0.75f, 0.75f)).x;
    if (a != b && get_local_id(0) < 3)
        barrier(CLK_LOCAL_MEM_FENCE);
}

// verified: all work-items have the same sum, maximum and value
// heddle: global=256 local=64
kernel void decisions(global const int *in, global int *out) {
    local int tile[64];
    int i = get_local_id(0), v = in[get_global_id(0)];
    tile[i] = v;
    if (work_group_reduce_add(v) > 5) barrier(CLK_LOCAL_MEM_FENCE);
    else if (work_group_reduce_max(v) > work_group_broadcast(v, 7)) return;
    else barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[63 - i];
}
