// One block adds a pair of half-precision numbers, another exchanges the word that holds them.
// Why: the elements of the pair and the word do not overlap completely (PTX ISA 8.7.2 mixed-size data race).
// expect: bug
// heddle: grid=2 block=1
__device__ __align__(4) unsigned pair;
__global__ void k() {
    unsigned r;
    if (blockIdx.x == 0)
        asm volatile("atom.global.add.noftz.f16x2 %0, [%1], %2;" : "=r"(r) : "l"(&pair), "r"(0x3c003c00) : "memory"); // want race-global "pair"
    else
        atomicExch(&pair, 7u); // want race-global "pair"
}
