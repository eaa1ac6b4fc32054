// A vector is loaded from four elements that other work-items write.
// Why: vload4 reads all four (6.15.7).
// expect: bug
// heddle: global=64 local=64
kernel void k(global int *data, global int *out) {
    int i = get_local_id(0);
    data[i] = i;                                  // want race-global "data"
    int4 v = vload4(i / 4, data);                 // want race-global "data"
    out[i] = v.x + v.y + v.z + v.w;
}
