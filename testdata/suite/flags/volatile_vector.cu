// A flag that is an element of a vector stored by one volatile vector instruction, and read as a scalar.
// Why: "memory operations with a vector data type are modelled as a set of equivalent memory operations with a
// scalar data type" (PTX ISA 8.2.4), so the element and the scalar overlap completely and are morally strong.
// expect: clean
// heddle: grid=2 block=1
__device__ int4 flag;
__device__ int data, out;
__global__ void k() {
    if (blockIdx.x == 0) {
        data = 5;
        __threadfence();
        asm volatile("st.volatile.global.v4.u32 [%0], {%1, %1, %1, %1};" :: "l"(&flag), "r"(1) : "memory");
    } else {
        while (*(volatile int*)&flag.y == 0) {}
        __threadfence();
        out = data;
    }
}
