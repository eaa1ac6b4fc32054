// A function without a body.
// Why: its effect is unknown.
// expect: unsupported
// heddle: global=64 local=64
int unknown(int i);
kernel void k(global int *out) {
    out[get_global_id(0)] = unknown(3);
}
