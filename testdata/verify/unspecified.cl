// What OpenCL C leaves to the device or to the host: a quotient by zero, the format of an image,
// whether printf succeeds, and its version.
#include <heddle.h>

// verified: elements of vectors, bytes and numbers with a sign are divided one by one (6.3.a)
// heddle: global=128 local=64
kernel void quotients(global int *out, int n) {
    __requires(n == -3);
    int4 q = (int4)(7, -7, 8, 9) / (int4)(n), r = (int4)(7, -7, 8, 9) % (int4)(n);
    char2 c = (char2)(-100, 100) / (char2)((char)n);
    uchar2 u = (uchar2)(200, 7) / (uchar2)((uchar)(n + 5));
    ulong l = 1ul << 40;
    __assert(q.x == -2 && q.y == 2 && q.z == -2 && q.w == -3);
    __assert(r.x == 1 && r.y == -1 && r.z == 2 && r.w == 0);
    __assert(c.x == 33 && c.y == -33);
    __assert(u.x == 100 && u.y == 3);
    __assert(l / (ulong)(n + 7) == 1ul << 38);
    out[get_global_id(0)] = q.x;
}

// violation: -7 % -3 is -1
// heddle: global=128 local=64
kernel void remainder(global int *out, int n) {
    __requires(n == -3);
    int2 r = (int2)(7, -7) % (int2)(n);
    __assert(r.y == 1);
    out[get_global_id(0)] = r.x;
}

// race: a quotient by zero is some number (6.4), so that the kernel goes on if n is 0
// heddle: global=64 local=64
kernel void divides_by_zero(global int *a, uint n) {
    uint q = 100 / n;
    if (n == 0)
        a[0] = get_local_id(0);
    a[1 + get_local_id(0)] = q;
}

// divergence: nothing follows from a quotient by the index about the index
// heddle: global=64 local=64
kernel void divides_by_the_index(global int *a, uint n) {
    uint t = get_local_id(0);
    a[t] = n / t;
    if (t)
        barrier(CLK_GLOBAL_MEM_FENCE);
}

// race: so with the elements of vectors, and remainders of bytes
// heddle: global=64 local=64
kernel void elements_by_zero(global int *a, uchar n) {
    uchar4 q = (uchar4)(100, 101, 102, 103) % (uchar4)(1, n, 3, 4);
    if (n == 0)
        a[0] = get_local_id(0);
    a[1 + get_local_id(0)] = q.y;
}

// refused: the host chooses the format (6.15.15), of which no run has another one than four floats
// heddle: global=64 local=64
kernel void order_of_channels(read_only image2d_t im, global int *a) {
    if (get_image_channel_order(im) != CLK_RGBA)
        a[0] = get_local_id(0);
}

// refused: printf returns -1 where it fails (6.15.14), which no run shows
// heddle: global=64 local=64
kernel void printed(global int *a) {
    if (printf("%d\n", (int)get_local_id(0)) == 0)
        barrier(CLK_LOCAL_MEM_FENCE);
}

// race: the macro is there in every version (6.11)
// heddle: global=64 local=64
kernel void version(global int *a) {
#if __OPENCL_VERSION__ >= 100 && __IMAGE_SUPPORT__
    a[0] = get_local_id(0);
#endif
}
