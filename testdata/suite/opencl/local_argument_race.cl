// Local memory whose size the host specifies, without a barrier.
// Why: the group shares it like other local memory, and reports name the argument.
// expect: bug
// heddle: global=128 local=64 tile=local:256
kernel void k(local int *tile, global int *out) {
    int i = get_local_id(0);
    tile[i] = i;                              // want race-shared "tile"
    out[get_global_id(0)] = tile[63 - i];     // want race-shared "tile"
}
