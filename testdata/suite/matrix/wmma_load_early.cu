// A tile is loaded right after threads of the same warp wrote it.
// Why: which lane reads an element is not specified (PTX ISA 9.7.14.4.1), so that only synchronization orders it.
// expect: bug
// heddle: grid=1 block=32
__global__ void k(unsigned *out) {
    __shared__ __align__(32) unsigned char a[256];
    unsigned t = threadIdx.x, r0, r1;
    for (int i = 0; i < 8; i++)
        a[32 * i + t] = t; // want race-shared "a"
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.u8 {%0, %1}, [%2];" : "=r"(r0), "=r"(r1) : "l"(a) : "memory"); // want race-shared "a"
    out[t] = r0 + r1;
}
