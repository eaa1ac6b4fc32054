// The flags are an argument, which names local memory.
// Why: the values of the flags in the run count.
// expect: clean
// heddle: global=64 local=64 flags=1
kernel void k(global int *out, uint flags) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;
    barrier(flags);
    out[i] = tile[63 - i];
}
