// The work-items of a row write one pixel.
// Why: they write the same pixel, and nothing orders the writes.
// expect: bug
// options: --benign none
// heddle: global=16,16 local=8,8
kernel void k(write_only image2d_t out) {
    write_imagei(out, (int2)(0, get_global_id(1)), (int4)(get_global_id(0)));   // want race-global "out"
}
