// A counter of 1.x that is also read by an ordinary load.
// Why: an atomic and an ordinary access of one place are a race unless something orders them.
// expect: bug
// heddle: global=256 local=64
kernel void k(global int *count, global int *out) {
    atomic_add(count, 1);                 // want race-global "count"
    out[get_global_id(0)] = *count;       // want race-global "count"
}
