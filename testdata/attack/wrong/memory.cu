// expect: not verified
// Bytes that overlap although the source names different things: fields, vectors, unions, pointers through memory.

// Bit fields of one word: each store reads and writes the whole word.
struct Flags { unsigned low : 16, high : 16; };
__global__ void bit_fields(Flags *f) {
  if (threadIdx.x == 0) f->low = 1;
  if (threadIdx.x == 32) f->high = 1;
}
// A bit of a shared bitmap for each thread.
__global__ void bitmap(unsigned *out) {
  __shared__ unsigned bits[2];
  if (threadIdx.x < 2) bits[threadIdx.x] = 0;
  __syncthreads();
  bits[threadIdx.x / 32] |= 1u << threadIdx.x % 32;
  __syncthreads();
  out[threadIdx.x] = bits[threadIdx.x / 32];
}
// A union: one member is written, the other read as bytes by another thread.
union Word { int i; char c[4]; };
__global__ void union_member(Word *w, int *out) {
  if (threadIdx.x < 16) w[threadIdx.x].i = 1;
  else out[threadIdx.x] = w[(threadIdx.x - 16) / 4].c[threadIdx.x & 3];
}
// A packed struct of 5 bytes: the int of one element is copied as bytes, the tag of the next is read as a word.
struct __attribute__((packed)) Five { char tag; int v; };
__global__ void packed(Five *f) { f[threadIdx.x].v = 1; int *w = (int *)f; w[threadIdx.x] += 1; }
// An int4 store covers the words of three other threads.
__global__ void vector(int *a) { if (threadIdx.x % 4 == 0) *(int4 *)(a + threadIdx.x) = make_int4(0, 0, 0, 0); else a[threadIdx.x] = 1; }
// A double and the two floats in its place.
__global__ void halves(double *d) {
  if (threadIdx.x & 1) ((float *)d)[threadIdx.x] = 1; else d[threadIdx.x / 2] = 2;
}
// Two dynamic shared arrays start at one address.
extern __shared__ int first[];
extern __shared__ float second[];
// heddle: grid=1 block=64 shared=512
__global__ void two_extern(int *a) { first[threadIdx.x] = 1; a[threadIdx.x] = (int)second[threadIdx.x ^ 1]; }
// The second array is carved out too early by one row.
// heddle: grid=1 block=64 shared=1024
__global__ void carved(int *a) {
  extern __shared__ int all[];
  int *x = all, *y = all + 63;
  x[threadIdx.x] = 1;
  y[threadIdx.x] = 2;
  a[threadIdx.x] = x[threadIdx.x];
}
// The address of a shared variable kept in another shared variable.
__global__ void kept(int *a) {
  __shared__ int s[64];
  __shared__ int *p;
  if (threadIdx.x == 0) p = s;
  __syncthreads();
  p[threadIdx.x] = 1;
  a[threadIdx.x] = s[threadIdx.x ^ 1];
}
// A device variable that holds the address of another.
__device__ int target[64];
__device__ int *indirect = target;
__global__ void through_variable(int *a) { target[threadIdx.x] = 1; a[threadIdx.x] = indirect[threadIdx.x ^ 1]; }
// A table of pointers in constant memory, of which two are equal.
__device__ int one[64], two[64];
__constant__ int *const tables[4] = {one, two, one, two};
__global__ void table_of_pointers(int *a) { tables[threadIdx.x & 3][threadIdx.x / 4] = threadIdx.x; }
// p + (q - p) is q.
__global__ void difference(int *a) {
  __shared__ int x[64], y[64];
  int *p = x + (y - x) * (threadIdx.x & 1);
  p[threadIdx.x] = 1;
  __threadfence_block();
  a[threadIdx.x] = y[threadIdx.x ^ 2];
}
// The xor trick on addresses: both pointers are swapped by integers.
__global__ void xor_swap(int *a) {
  __shared__ int x[64], y[64];
  unsigned long p = (unsigned long)x, q = (unsigned long)y;
  if (threadIdx.x & 1) { p ^= q; q ^= p; p ^= q; }
  ((int *)p)[threadIdx.x] = 1;
  a[threadIdx.x] = ((int *)q)[threadIdx.x ^ 1];
}
// A pointer's low bit is a tag that one side forgets to clear... and the masked pointer meets the neighbour's.
__global__ void tagged(char *a) {
  char *p = a + threadIdx.x;
  *(char *)((unsigned long)p & ~1ul) = threadIdx.x;
}
// The address travels through a float's bits.
__global__ void bits_of_float(int *a) {
  __shared__ int s[64];
  float f = __int_as_float((int)__cvta_generic_to_shared(s + (threadIdx.x ^ 1)));
  s[threadIdx.x] = 1;
  a[threadIdx.x] = *(int *)__cvta_shared_to_generic(__float_as_int(f));
}
// A local array of pointers, indexed by an input: two entries are one array.
__global__ void local_pointers(int *a, int k) {
  __shared__ int x[64], y[64];
  int *p[3] = {x, y, x};
  p[k][threadIdx.x] = 1;
  a[threadIdx.x] = x[threadIdx.x ^ 1];
}
// A struct that holds two pointers is copied through shared memory.
struct Views { int *read, *write; };
__global__ void views(int *a) {
  __shared__ int s[64];
  __shared__ Views v;
  if (threadIdx.x == 0) v = Views{s, s + 1};
  __syncthreads();
  v.write[threadIdx.x % 63] = threadIdx.x;
  a[threadIdx.x] = v.read[threadIdx.x];
}
// A linked list in global memory may run through one node twice.
struct Node { Node *next; int v; };
__global__ void list(Node **heads) { for (Node *n = heads[threadIdx.x]; n; n = n->next) n->v++; }
// A row pointer array, whose rows the host may have made equal.
__global__ void rows(int **row) { row[threadIdx.x][0] = threadIdx.x; }
// A const pointer does not make memory constant.
__global__ void const_cast_write(const int *a, int *out) {
  out[threadIdx.x] = a[threadIdx.x ^ 1];
  ((int *)a)[threadIdx.x] = 1;
}
// __restrict__ is a promise about other pointers, not about threads.
__global__ void restricted(int *__restrict__ a, const int *__restrict__ b) { a[threadIdx.x] = b[0]; a[threadIdx.x ^ 1] += 1; }
// A mutable lambda's captured array is per thread; the reference to a shared one is not.
__global__ void reference(int *a) {
  __shared__ int s[64];
  int &mine = s[threadIdx.x], &his = s[(threadIdx.x + 1) % 64];
  mine = 1;
  a[threadIdx.x] = his;
}
// Byte stores by 4 threads, and a word load by one of them.
__global__ void bytes_word(int *a) {
  __shared__ char c[64];
  c[threadIdx.x] = 1;
  a[threadIdx.x] = *(int *)(c + (threadIdx.x & ~3));
}
// short stores into halves of words whose owner adds to the word.
__global__ void half_words(int *a) {
  __shared__ int s[32];
  ((short *)s)[threadIdx.x] = 1;
  if (threadIdx.x < 32) s[threadIdx.x] += 1;
  __syncthreads();
  a[threadIdx.x] = s[threadIdx.x / 2];
}
// memcpy of 8 bytes from an address that is 4 bytes into the neighbour's 8.
__global__ void copied(int *a) {
  __shared__ int s[130];
  int v[2] = {1, 2};
  memcpy(s + 2 * threadIdx.x + 1, v, 8);
  a[threadIdx.x] = s[2 * threadIdx.x];
}
// memset of 5 bytes for 4.
__global__ void set_bytes(char *a) { memset(a + 4 * threadIdx.x, 0, 5); }
// A struct assignment copies the field that another thread counts in.
struct Pair { int value, count; };
__global__ void struct_copy(Pair *p) { p[threadIdx.x] = p[threadIdx.x ^ 1]; }
// A static shared variable of a device function, used by two callers.
__device__ int *scratch() { static __shared__ int s[64]; return s; }
__global__ void one_static(int *a) {
  int *x = scratch(), *y = scratch();
  x[threadIdx.x] = 1;
  y[threadIdx.x ^ 1] = 2;
  a[threadIdx.x] = x[threadIdx.x];
}
// A local array whose address escapes is still the thread's own; the shared one next to it is not.
__global__ void chosen(int *a, int n) {
  __shared__ int s[2];
  int own[2];
  int *p = threadIdx.x < n ? own : s;
  p[0] = threadIdx.x;
  a[threadIdx.x] = p[0];
}
// A row of a two-dimensional array is overrun into the next row: in bounds of the array, and a race.
__global__ void overrun(int *a) {
  __shared__ int s[8][8];
  int *row = s[threadIdx.x / 8];
  row[threadIdx.x % 8 + 1 - (threadIdx.x == 63)] = 1;
  __syncwarp();
  row[threadIdx.x % 8] = 2;
  a[threadIdx.x] = row[0];
}
// A volatile store does not order the plain one behind it.
__global__ void half_volatile(int *a) {
  __shared__ volatile int ready;
  __shared__ int data;
  if (threadIdx.x == 0) { ready = 0; }
  __syncthreads();
  if (threadIdx.x == 0) { data = 42; ready = 1; }
  if (threadIdx.x == 32) { while (!ready) {} a[0] = data; }
}
