// expect: other_member bug race-global; padding_only verified; first_bytes bug race-shared; member_copy verified; byte_copy bug race-global; not_set bug|unknown
// A copy is of all bytes that the program can tell from padding, whatever LLVM's type has there.
union word { struct { char c; double d; } s; int w[4]; };
struct pair { int n; double v; };

// heddle: grid=1 block=64
__global__ void other_member(word *p, const word *q) { // s has padding where w has w[1]
  if (threadIdx.x & 1)
    p[threadIdx.x / 2].w[1] = 1;
  else
    p[threadIdx.x / 2] = q[threadIdx.x];
}

// heddle: grid=1 block=64
__global__ void padding_only(pair *p, const pair *q) { // no access to the bytes 4 to 7
  __shared__ pair s[64];
  s[threadIdx.x].n = threadIdx.x;
  s[threadIdx.x].v = q[threadIdx.x].v;
  p[threadIdx.x] = s[threadIdx.x];
}

// heddle: grid=1 block=64
__global__ void first_bytes(int *out, const int2 *q) { // half of y
  __shared__ int2 s[64];
  memcpy(&s[threadIdx.x], &q[threadIdx.x], 6);
  out[threadIdx.x] = s[threadIdx.x ^ 1].y;
}

// heddle: grid=1 block=64
__global__ void member_copy(pair *p, const pair *q) { // an assignment copies n and v
  if (threadIdx.x & 1)
    ((char *)&p[threadIdx.x / 2])[5] = 1;
  else
    p[threadIdx.x / 2] = q[threadIdx.x];
}

// heddle: grid=1 block=64
__global__ void byte_copy(pair *p, const pair *q) { // memcpy copies byte 5, too
  if (threadIdx.x & 1)
    ((char *)&p[threadIdx.x / 2])[5] = 1;
  else
    memcpy(&p[threadIdx.x / 2], &q[threadIdx.x], sizeof(pair));
}

// heddle: grid=1 block=64
__global__ void not_set(int *out, int n) { // for n = 0 the index is a value that nobody has set
  word u;
  if (n)
    u.w[1] = threadIdx.x;
  out[u.w[1] & 63] = threadIdx.x;
}
