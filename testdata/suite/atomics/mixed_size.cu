// A 32-bit and a 64-bit atomic on overlapping bytes.
// Why: moral strength requires complete overlap (PTX ISA 8.7; 8.7.2 mixed-size data race).
// expect: bug
// heddle: grid=2 block=1
__device__ unsigned long long counter;
__global__ void k() {
    if (blockIdx.x == 0)
        atomicAdd((unsigned *)&counter, 1u); // want race-global "counter"
    else
        atomicAdd(&counter, 1ull); // want race-global "counter"
}
