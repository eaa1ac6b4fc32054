// Each work-item writes its own component of a vector, and some read theirs back.
// Why: v.x and v.y are different memory, although a compiler may load and store all of v.
// expect: clean
// heddle: global=64 local=64
kernel void k(global int4 *data, global int *out) {
    int i = get_local_id(0);
    switch (i % 4) {
    case 0: data[i / 4].x = i; break;
    case 1: data[i / 4].y = i; break;
    case 2: data[i / 4].z = i; break;
    case 3: data[i / 4].w = i; break;
    }
    out[i] = i % 4 ? 0 : data[i / 4].x;
}
