// Each work-item writes its own pixel.
// Why: different pixels are different memory.
// expect: clean
// heddle: global=16,16 local=8,8
kernel void k(read_only image2d_t in, write_only image2d_t out) {
    const sampler_t nearest = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(out, at, read_imagef(in, nearest, at));
}
