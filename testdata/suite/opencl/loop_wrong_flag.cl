// A reduction whose loop has the wrong flag in its second barrier.
// Why: the iterations access the same words, and only the first barrier of an iteration orders local memory.
// expect: bug
// heddle: global=64 local=64
kernel void k(global int *out) {
    local int s[64];
    int i = get_local_id(0);
    s[i] = i;
    for (int n = 32; n > 0; n /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        int other = s[(i + n) % 64];   // want race-shared "s"
        barrier(CLK_GLOBAL_MEM_FENCE);
        s[i] += other;                 // want race-shared "s"
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    out[i] = s[0];
}
