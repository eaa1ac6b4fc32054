// Values are exchanged through local memory without a barrier.
// Why: nothing orders work-items of a group.
// expect: bug
// heddle: global=128 local=64
kernel void k(global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;                              // want race-shared "tile"
    out[get_global_id(0)] = tile[63 - i];     // want race-shared "tile"
}
