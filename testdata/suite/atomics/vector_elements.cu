// One block adds a vector of four numbers, another the third of them.
// Why: an atom on a vector is atomic for each of its elements (PTX ISA 9.7.13.5).
// expect: clean
// heddle: grid=2 block=1
__device__ __align__(16) float v[4];
__global__ void k() {
    float a, b, c, d;
    if (blockIdx.x == 0)
        asm volatile("atom.global.add.v4.f32 {%0, %1, %2, %3}, [%4], {%5, %5, %5, %5};" : "=f"(a), "=f"(b), "=f"(c), "=f"(d) : "l"(v), "f"(1.0f) : "memory");
    else
        atomicAdd(v + 2, 1.0f);
}
