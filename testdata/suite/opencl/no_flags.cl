// A barrier without flags.
// Why: flags of 0 order no memory: the work-items wait for each other, but may still read old values (6.15.8).
// expect: bug
// heddle: global=64 local=64
kernel void k(global int *data, global int *out) {
    local int tile[64];
    int i = get_local_id(0);
    tile[i] = i;                 // want race-shared "tile"
    data[i] = i;                 // want race-global "data"
    barrier(0);
    out[i] = tile[63 - i]        // want race-shared "tile"
           + data[63 - i];       // want race-global "data"
}
