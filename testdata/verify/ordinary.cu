// Counterexamples with arguments that no host passes: sizes of 0 or less, and index arithmetic that
// wraps around. They prevent a proof, but are no bug. Each kernel has its expected verdict with the
// reason, and its launch.

// unknown: two threads meet only if the pitch is 0, or if y * pitch wraps around
// heddle: grid=4 block=32
__global__ void pitch(int *out, int w, int pitch) {
    int x = threadIdx.x, y = blockIdx.x;
    if (x < w && w <= pitch)
        out[y * pitch + x] = 1;
}

struct Size { unsigned w, h, wide; };

// unknown: the same for the fields of a struct
// heddle: grid=8,8 block=32
__global__ void fields(int *out, Size s) {
    if (blockIdx.x >= s.w || blockIdx.y >= s.h)
        return;
    if (threadIdx.x == 0)
        out[blockIdx.y * s.w + blockIdx.x] = 1;
}

// unknown: the tail begins behind the vectors, unless n is near 2^64
// heddle: grid=1 block=64
__global__ void tail(float *o, unsigned long n) {
    unsigned long i = threadIdx.x, v = n / 2;
    if (i < v)
        for (int c = 0; c < 2; c++)
            o[2 * i + c] = 1;
    for (unsigned long j = 2 * v + i; j < n; j += blockDim.x)
        o[j] = 2;
}

// bug race-global: an ordinary pitch, narrower than the row
// heddle: grid=4 block=32
__global__ void narrow(int *out, int pitch) {
    out[blockIdx.x * pitch + threadIdx.x] = blockIdx.x;
}

// bug race-global: a flag may well be 0
// heddle: grid=1 block=64
__global__ void flag(int *out, int separate) {
    out[separate != 0 ? threadIdx.x : 0] = threadIdx.x;
}

// bug race-global: a count of 0 may be passed where it is no factor of an index
// heddle: grid=1 block=64
__global__ void count(int *out, int n) {
    if (n == 0)
        out[0] = threadIdx.x;
}
