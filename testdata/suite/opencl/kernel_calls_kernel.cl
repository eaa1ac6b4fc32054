// A kernel calls another one, which contains the race, as a function.
// Why: kernels may call kernels (6.9); the parameter in local memory points to the caller's variable.
// expect: bug
// heddle: kernel=outer global=64 local=64
// heddle: kernel=inner global=64 local=64 tile=local:256
kernel void inner(local int *tile, global int *out) {
    int i = get_local_id(0);
    tile[i] = i;               // want race-shared "tile|buffer"
    out[i] = tile[63 - i];     // want race-shared "tile|buffer"
}
kernel void outer(global int *out) {
    local int buffer[64];
    inner(buffer, out);
}
