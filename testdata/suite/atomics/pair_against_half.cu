// One block adds a pair of half-precision numbers, another one of them.
// Why: an atom on a packed type is atomic for each element (PTX ISA 9.7.13.5), so that they are morally strong.
// expect: clean
// heddle: grid=2 block=1
__device__ __align__(4) unsigned short pair[2];
__global__ void k() {
    unsigned r;
    unsigned short h;
    if (blockIdx.x == 0)
        asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;" : "=r"(r) : "l"(pair), "r"(0x3c003c00) : "memory");
    else
        asm volatile("atom.global.add.noftz.f16 %0, [%1], %2;" : "=h"(h) : "l"(pair + 1), "h"((unsigned short)0x3c00) : "memory");
}
