// All work-items read constant memory.
// Why: reads do not race.
// expect: clean
// heddle: global=128 local=64
constant int weights[4] = {1, 2, 3, 4};
kernel void k(constant int *table, global int *out) {
    int i = get_global_id(0);
    out[i] = table[i] * weights[i % 4];
}
