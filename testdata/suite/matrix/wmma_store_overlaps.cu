// Two warps store tiles of 16 columns that start eight columns apart.
// Why: the stride determines the address of every element of D; both warps write half of them.
// expect: bug
// heddle: grid=1 block=64
__global__ void k(float *out) {
    unsigned t = threadIdx.x;
    asm volatile("{ .reg .f32 c<8>; .reg .f32 v; cvt.rn.f32.u32 v, %1;\n" // want race-global "out"
                 "mov.f32 c0, v; mov.f32 c1, v; mov.f32 c2, v; mov.f32 c3, v; mov.f32 c4, v; mov.f32 c5, v; mov.f32 c6, v; mov.f32 c7, v;\n"
                 "wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0], {c0,c1,c2,c3,c4,c5,c6,c7}, 32; }\n"
                 :: "l"(out + 8 * (t / 32)), "r"(t) : "memory");
}
