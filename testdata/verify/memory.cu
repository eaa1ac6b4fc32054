// Memory other than arrays of numbers: structs, copies, private arrays, selected pointers, reserved
// slots, and warp barriers. Every launch has 4 blocks of 64 threads.
#define N 64
struct view { int *p; int n; float f; };
struct row { int a[8]; };

// verified: the pointer is in a struct
__global__ void struct_argument(view v) { v.p[blockIdx.x * N + threadIdx.x] = v.n; }

// race: two threads write the same element of the struct's pointer
__global__ void struct_argument_halved(view v) { v.p[threadIdx.x / 2] = threadIdx.x; }

// verified: each thread has its own element in either array
__global__ void chosen_in_struct(int *a, int *b, int n) {
    view v;
    v.p = n > 3 ? a : b;
    v.n = blockIdx.x * N + threadIdx.x;
    v.p[v.n] = 1;
}

// race: threads choose differently, and the halves of the first array overlap
__global__ void chosen_by_thread(int *a, int *b) {
    int *p = threadIdx.x % 4 ? a : b;
    p[blockIdx.x * N + threadIdx.x / 2] = threadIdx.x;
}

// verified: complete structs
__global__ void copy_struct(row *in, row *out) {
    int i = blockIdx.x * N + threadIdx.x;
    memcpy(&out[i], &in[i], sizeof(row));
}

// verified: four words for each thread
__global__ void set_words(int *out) { memset(out + 4 * (blockIdx.x * N + threadIdx.x), 0, 16); }

// race: four words for each thread, at a distance of three
__global__ void set_overlapping_words(int *out) {
    int i = blockIdx.x * N + threadIdx.x;
    memset(out + 3 * i, i, 16);
}

// verified: as many bytes as the buffer has
__global__ void copy_bytes(char *in, char *out, int n) {
    int i = blockIdx.x * N + threadIdx.x;
    if (n >= 0 && n <= 32)
        memcpy(out + 32 * i, in + 32 * i, n);
}

// race: one byte more than the buffer has
__global__ void copy_bytes_beyond(char *in, char *out, int n) {
    int i = blockIdx.x * N + threadIdx.x;
    if (n >= 0 && n <= 33)
        memcpy(out + 32 * i, in + 32 * i, n);
}

// verified: the array is private, so any index is safe
__global__ void own_array(int *out, const int *in) {
    int a[16];
    for (int i = 0; i < 16; i++)
        a[i] = i;
    int i = blockIdx.x * N + threadIdx.x;
    a[in[i] & 15] = 3;
    out[i] = a[in[i + 1] & 15];
}

// race: threads that read the same input use the same element
__global__ void index_from_own_array(int *out, const int *in) {
    int a[16];
    for (int i = 0; i < 16; i++)
        a[i] = i;
    out[a[in[threadIdx.x] & 15]] = threadIdx.x;
}

// verified: the branch compares a float that is the same for all threads
__global__ void float_of_all(float *a, float x) {
    if (x > 0.5f)
        __syncthreads();
    a[blockIdx.x * N + threadIdx.x] = x;
}

// divergence: the branch compares a different float in each thread
__global__ void float_of_each(float *a) {
    if (a[threadIdx.x] > 0.5f)
        __syncthreads();
}

// verified: either all threads return from the loop or none
__global__ void return_from_loop(int *out, const int *in, int n) {
    for (int i = 0; i < n; i++)
        if (in[i] == 7)
            return;
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = 2;
}

// divergence: a thread returns from the loop when it finds its index
__global__ void find_own(int *out, const int *in, int n) {
    for (int i = 0; i < n; i++)
        if (in[i] == threadIdx.x)
            return;
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = 2;
}

// verified: structs in shared memory, accessed by fields and as a whole
__global__ void shared_structs(view *out) {
    __shared__ view s[N];
    s[threadIdx.x].n = threadIdx.x;
    s[threadIdx.x].f = 2;
    s[threadIdx.x].p = 0;
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = s[N - 1 - threadIdx.x];
}

// race: reads a field of the neighbor without a barrier
__global__ void shared_structs_no_barrier(view *out) {
    __shared__ view s[N];
    s[threadIdx.x].n = threadIdx.x;
    out[blockIdx.x * N + threadIdx.x].n = s[N - 1 - threadIdx.x].n;
}

// verified: a 64-bit counter returns a different value to each thread
__global__ void slots(unsigned long long *count, int *out) { out[atomicAdd(count, 1ull)] = threadIdx.x; }

// race: an exchange can return the same value to several threads
__global__ void exchanged(unsigned long long *count, int *out) {
    out[atomicExch(count, (unsigned long long)threadIdx.x / 2)] = threadIdx.x;
}

// verified: the last 32 threads add with barriers of their warp
__global__ void warp_sum(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    if (t < 32) {
        for (int d = 32; d > 0; d >>= 1) {
            int v = s[t + d];
            __syncwarp();
            s[t] += v;
            __syncwarp();
        }
        if (t == 0)
            out[blockIdx.x] = s[0];
    }
}

// race: no barrier between an addition and the next read
__global__ void warp_sum_half(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    if (t < 32) {
        for (int d = 32; d > 0; d >>= 1) {
            int v = s[t + d];
            __syncwarp();
            s[t] += v;
        }
        if (t == 0)
            out[blockIdx.x] = s[0];
    }
}

// race: only five threads write the variable, and it can be equal in the others
__global__ void index_some_write(int *out) {
    int i;
    if (threadIdx.x < 5)
        i = threadIdx.x;
    out[blockIdx.x * N + (i & 63)] = threadIdx.x;
}

// divergence: the variable can be zero in the other threads
__global__ void condition_some_write(int *out) {
    bool all;
    if (threadIdx.x < 5)
        all = true;
    if (all)
        __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = 1;
}

// race: the same for a member of a struct
__global__ void member_some_write(int *out) {
    view v;
    v.p = out + blockIdx.x * N;
    if (threadIdx.x < 5)
        v.n = threadIdx.x;
    v.p[v.n & 63] = threadIdx.x;
}

// verified: every path writes the variable or does not read it
__global__ void index_each_writes(int *out, int k) {
    int i, j;
    if (threadIdx.x & 1)
        i = threadIdx.x;
    else
        i = 62 - threadIdx.x;
    if (k > 3)
        j = i;
    if (k > 4)
        out[blockIdx.x * N + j] = k;
}

// verified: a table selects one of two shared arrays
__global__ void shared_table(int *out, int k) {
    __shared__ int x[N], y[N];
    int *t[2] = {x, y};
    t[k & 1][threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = t[k & 1][threadIdx.x ^ 1];
}

// race: two threads share an element of the array that the table selects
__global__ void shared_table_halved(int *out, int k) {
    __shared__ int x[N], y[N];
    int *t[2] = {x, y};
    t[k & 1][threadIdx.x / 2] = threadIdx.x;
}

__device__ int first_five(int i) {
    if (i < 5)
        return i;
    int unset;
    return unset;
}

// race: the function can return the same value to the other threads
__global__ void index_some_return(int *out) { out[blockIdx.x * N + (first_five(threadIdx.x) & 63)] = threadIdx.x; }

// race: only some threads write the element of the array
__global__ void index_from_part_of_array(int *out) {
    int a[2];
    if (threadIdx.x < 5)
        a[0] = threadIdx.x;
    a[1] = 3;
    out[blockIdx.x * N + (a[0] & 63)] = a[1] + threadIdx.x;
}

// race: a goto skips the initialization of a variable, which can then be equal in several threads
__global__ void index_past_declaration(int *out) {
    if (threadIdx.x >= 5)
        goto there;
    int i;
    i = threadIdx.x;
there:
    out[blockIdx.x * N + (i & 63)] = threadIdx.x;
}

struct Pair {
    int first, second[2];
};

__device__ Pair some_pair(int i) {
    Pair p;
    if (i < 5)
        p.second[1] = i;
    return p;
}

// race: most threads return a struct with an element that was not written
__global__ void index_from_returned_struct(int *out) { out[blockIdx.x * N + (some_pair(threadIdx.x).second[1] & 63)] = threadIdx.x; }

__device__ int forgets_to_return(int i) {
    if (i < 5)
        return i;
}

// race: most threads return without a value
__global__ void index_not_returned(int *out) { out[blockIdx.x * N + (forgets_to_return(threadIdx.x) & 63)] = threadIdx.x; }

// race: the loop replaces what the thread stored before it, so all threads write out[0]
__global__ void stored_again(int *out, int n) {
    __shared__ int s[N];
    __syncwarp();
    s[threadIdx.x] = threadIdx.x;
    for (int i = 0; i < n; i++)
        s[threadIdx.x] = 0;
    out[s[threadIdx.x]] = threadIdx.x;
}

// race: from the second iteration on, the threads read what the first one stored
__global__ void stored_in_loop(int *out, int n) {
    __shared__ int s[N];
    __syncwarp();
    s[threadIdx.x] = threadIdx.x;
    for (int i = 0; i < n; i++) {
        out[N * blockIdx.x + s[threadIdx.x]] = i;
        s[threadIdx.x] /= 2;
    }
}

// race: the loop adds one to the elements of some threads
__global__ void counted_again(int *out, int n) {
    __shared__ int s[N];
    if (n > 5)
        __syncwarp();
    s[threadIdx.x] = threadIdx.x;
    for (int i = 0; i < (n & threadIdx.x & 1); i++)
        s[threadIdx.x]++;
    out[N * blockIdx.x + s[threadIdx.x]] = threadIdx.x;
}

// race: a store through an unknown pointer takes the place of the barrier; all threads write out[0]
__global__ void stored_through_pointer(int *out, int **p, int n) {
    __shared__ int s[N];
    if (n == 12345)
        p[0][N * blockIdx.x + threadIdx.x] = 1;
    s[threadIdx.x] = threadIdx.x;
    for (int i = 0; i < n; i++)
        s[threadIdx.x] = 0;
    out[s[threadIdx.x]] = threadIdx.x;
}

// verified: the loop writes another array than the one whose elements are indices
__global__ void stored_beside(int *out, int n) {
    __shared__ int s[N], other[N];
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    s[threadIdx.x] = threadIdx.x;
    for (int i = 0; i < n; i++)
        other[threadIdx.x] = i;
    out[N * blockIdx.x + s[threadIdx.x]] = threadIdx.x;
}
