// Local memory whose size the host specifies.
// Why: each group has its own 256 bytes at the pointer (clSetKernelArg), enough for 64 ints.
// expect: clean
// heddle: global=128 local=64 tile=local:256
kernel void k(local int *tile, global int *out) {
    int i = get_local_id(0);
    tile[i] = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = tile[63 - i];
}
