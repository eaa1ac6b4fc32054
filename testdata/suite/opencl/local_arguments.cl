// Two local arguments of 4 bytes for each work-item.
// Why: they do not overlap.
// expect: clean
// heddle: global=64 local=64 a=local:256 b=local:256
kernel void k(local int *a, local int *b, global int *out) {
    int i = get_local_id(0);
    a[i] = i;
    b[63 - i] = i;
    out[i] = a[i] + b[63 - i];
}
