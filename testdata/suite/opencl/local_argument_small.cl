// Local memory whose size, specified by the host, is too small.
// Why: 128 bytes are 32 ints, and the group has 64 work-items.
// expect: bug
// heddle: global=64 local=64 tile=local:128
kernel void k(local int *tile, global int *out) {
    int i = get_local_id(0);
    tile[i] = i;                              // want out-of-bounds
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = tile[63 - i];                    // want out-of-bounds
}
