// Local memory that the host sizes, and no barrier.
// Why: it is shared by the group as other local memory is, and reports name the argument.
// expect: bug
// heddle: global=128 local=64 tile=local:256
kernel void k(local int *tile, global int *out) {
    int i = get_local_id(0);
    tile[i] = i;                              // want race-shared "tile"
    out[get_global_id(0)] = tile[63 - i];     // want race-shared "tile"
}
