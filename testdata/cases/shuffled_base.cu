// expect: other_lane bug|unknown; own verified
// A base that comes from another lane is still a; the field that is added to it is no array.
struct offsets { long off; int k; };

// heddle: grid=1 block=64
__global__ void other_lane(char *a, offsets d) {
  char *p = (char *)__shfl_sync(~0u, (unsigned long long)a, 0);
  if (threadIdx.x == 0)
    p[d.off] = 1;
  if (threadIdx.x == 1)
    a[5] = 2;
}

// heddle: grid=1 block=64
__global__ void own(char *a, offsets d) { // the field is an index here as well
  a[d.off + threadIdx.x] = d.k;
}
