// Two work-items write the halves of a vector.
// Why: .xy and .wz are different memory.
// expect: clean
// heddle: global=64 local=64
kernel void k(global float4 *data) {
    int i = get_local_id(0);
    if (i % 2)
        data[i / 2].xy = (float2)(1, 2);
    else
        data[i / 2].wz = data[i / 2].zw;
}
