// expect: one bug|unknown; bounds bug|unknown; indirect bug|unknown; list bug|unknown; walk bug|unknown
// Two threads increment one word for some contents of the arrays, and for none if all are zero: no verdict may say that
// nothing is wrong.
// heddle: grid=1 block=32
__global__ void one(const int *a, int *sum) { if (a[threadIdx.x] > 0) ++*sum; }
// heddle: grid=1 block=32
__global__ void bounds(const int *a, int *sum) { if (a[threadIdx.x] < a[threadIdx.x + 1]) ++*sum; }
// heddle: grid=1 block=32
__global__ void indirect(const int *a, const int *b, int *sum) { if (b[a[threadIdx.x]] > 0) ++*sum; }
// heddle: grid=1 block=32
__global__ void list(const int *a, const int *b, int *sum) {
  int from = a[threadIdx.x], to = a[threadIdx.x + 1];
  if (from < to && (int)threadIdx.x < b[from]) ++*sum;
}
// heddle: grid=1 block=32
__global__ void walk(const int *a, const int *b, int *sum) {
  for (int i = a[threadIdx.x]; i < a[threadIdx.x + 1]; i++)
    if ((int)threadIdx.x < b[i]) ++*sum;
}
