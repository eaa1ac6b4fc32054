// One block reduces a vector of two numbers, another stores to the second.
// Why: a plain store is not strong; atomic against plain is a race on the bytes of that element.
// expect: bug
// heddle: grid=2 block=1
__device__ __align__(8) float v[2];
__global__ void k() {
    if (blockIdx.x == 0)
        asm volatile("red.global.add.v2.f32 [%0], {%1, %1};" :: "l"(v), "f"(1.0f) : "memory"); // want race-global "v"
    else
        v[1] = 3; // want race-global "v"
}
