// The flags are an argument, which names global memory.
// Why: the values of the flags in the run count.
// expect: bug
// heddle: global=64 local=64 flags=2
kernel void k(global int *out, uint flags) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;               // want race-shared "tile"
    barrier(flags);
    out[i] = tile[63 - i];     // want race-shared "tile"
}
