// One work-item writes a component that its neighbour reads.
// Why: the two access the same component, and nothing orders them.
// expect: bug
// heddle: global=64 local=64
kernel void k(global int4 *data, global int *out) {
    int i = get_local_id(0);
    if (i % 2)
        data[i / 2].y = i;            // want race-global "data"
    else
        out[i] = data[i / 2].xy.y;    // want race-global "data"
}
