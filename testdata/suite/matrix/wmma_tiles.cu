// Two warps load the same tiles from shared memory after a barrier, and each stores its own tiles.
// Why: wmma.load and wmma.store are weak accesses (PTX ISA 9.7.14.4.3, 9.7.14.4.4); reads do not race.
// expect: clean
// heddle: grid=1 block=64
__global__ void k(float *out) {
    __shared__ __align__(32) unsigned short a[256];
    unsigned t = threadIdx.x;
    for (int i = t; i < 256; i += 64)
        a[i] = 0x3c00;
    __syncthreads();
    asm volatile("{ .reg .b32 a<8>, b<8>; .reg .f32 c<8>;\n"
                 "wmma.load.a.sync.aligned.row.m16n16k16.f16 {a0,a1,a2,a3,a4,a5,a6,a7}, [%0];\n"
                 "wmma.load.b.sync.aligned.col.m16n16k16.f16 {b0,b1,b2,b3,b4,b5,b6,b7}, [%0];\n"
                 "mov.f32 c0, 0f00000000; mov.f32 c1, c0; mov.f32 c2, c0; mov.f32 c3, c0; mov.f32 c4, c0; mov.f32 c5, c0; mov.f32 c6, c0; mov.f32 c7, c0;\n"
                 "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {c0,c1,c2,c3,c4,c5,c6,c7}, {a0,a1,a2,a3,a4,a5,a6,a7}, {b0,b1,b2,b3,b4,b5,b6,b7}, {c0,c1,c2,c3,c4,c5,c6,c7};\n"
                 "wmma.store.d.sync.aligned.row.m16n16k16.f32 [%1], {c0,c1,c2,c3,c4,c5,c6,c7}, 32; }\n"
                 :: "l"(a), "l"(out + 16 * (t / 32)) : "memory");
}
