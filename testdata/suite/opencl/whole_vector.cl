// One work-item writes a component, another one the complete vector.
// Why: they overlap.
// expect: bug
// heddle: global=64 local=64
kernel void k(global float4 *data) {
    int i = get_local_id(0);
    if (i % 2)
        data[i / 2].x = 1;                     // want race-global "data"
    else
        data[i / 2] = (float4)(0, 0, 0, 1);    // want race-global "data"
}
