// Kernels with the synchronization bugs of table I of "Automating CUDA Synchronization via Program Transformation"
// (ASE 2019), written anew by the pattern of each row. The comment above each has the expected result of heddle fix and
// the reason. NAME_ref is the intended version: fix must not change it, and the repaired kernel must compute the same.
#define N 64

// repaired: even threads write what odd threads read, and no place in the branches is common to both
// heddle: grid=1 block=64 n=64
__global__ void device_global(unsigned *in, unsigned n) {
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        if (i % 2 == 0)
            in[i] = i;
        else
            in[i] = in[i - 1] + 1;
    }
}

// heddle: grid=1 block=64 n=64
__global__ void device_global_ref(unsigned *in, unsigned n) {
    unsigned i = threadIdx.x;
    if (i < n && i % 2 == 0)
        in[i] = i;
    __syncthreads();
    if (i < n && i % 2 == 1)
        in[i] = in[i - 1] + 1;
}

// not repaired: at the same instruction: two threads update one word
// atomic: the update is one of integers
// heddle: grid=1 block=64
__global__ void colonel(int *in) {
    in[threadIdx.x % 32]++;
}

// heddle: grid=1 block=64
__global__ void colonel_ref(int *in) {
    atomicAdd(&in[threadIdx.x % 32], 1);
}

// repaired: one warp reaches a different barrier than the others
// heddle: grid=1 block=64
__global__ void deadlock_one(int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = t * 3;
    if (t < 32) {
        __syncthreads();
        out[t] = s[t + 32];
    } else {
        out[t] = -t;
    }
}

// heddle: grid=1 block=64
__global__ void deadlock_one_ref(int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = t * 3;
    __syncthreads();
    if (t < 32)
        out[t] = s[t + 32];
    else
        out[t] = -t;
}

// repaired: one warp executes two barriers, the other one
// heddle: grid=1 block=64
__global__ void deadlock_two(int *out, int *in) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[t];
    if (t >= 32) {
        __syncthreads();
        s[t] += s[t - 32];
        __syncthreads();
    } else {
        __syncthreads();
    }
    __syncthreads();
    out[t] = s[N - 1 - t];
}

// heddle: grid=1 block=64
__global__ void deadlock_two_ref(int *out, int *in) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t >= 32)
        s[t] += s[t - 32];
    __syncthreads();
    out[t] = s[N - 1 - t];
}

// repaired: the sums of the next point overwrite sums that are still read
// heddle: grid=1 block=64 n=4
__global__ void homography(const int *x, int *h, int n) {
    __shared__ int acc[N];
    int t = threadIdx.x;
    int sum = 0;
    for (int k = 0; k < n; k++) {
        acc[t] = x[k * N + t] * (t + 1);
        __syncthreads();
        sum += acc[(t + 9) % N] - acc[(t + 17) % N];
    }
    h[t] = sum;
}

// heddle: grid=1 block=64 n=4
__global__ void homography_ref(const int *x, int *h, int n) {
    __shared__ int acc[N];
    int t = threadIdx.x;
    int sum = 0;
    for (int k = 0; k < n; k++) {
        acc[t] = x[k * N + t] * (t + 1);
        __syncthreads();
        sum += acc[(t + 9) % N] - acc[(t + 17) % N];
        __syncthreads();
    }
    h[t] = sum;
}

// repaired: each step of the scan reads the results of the previous step
// heddle: grid=1 block=64
__global__ void scan_nonfinal(const int *in, int *out) {
    __shared__ int s[2][N];
    int t = threadIdx.x, now = 0;
    s[0][t] = in[t];
    for (int d = 1; d < N; d *= 2) {
        int v = s[now][t];
        if (t >= d)
            v += s[now][t - d];
        now = 1 - now;
        s[now][t] = v;
    }
    out[t] = s[now][t];
}

// heddle: grid=1 block=64
__global__ void scan_nonfinal_ref(const int *in, int *out) {
    __shared__ int s[2][N];
    int t = threadIdx.x, now = 0;
    s[0][t] = in[t];
    __syncthreads();
    for (int d = 1; d < N; d *= 2) {
        int v = s[now][t];
        if (t >= d)
            v += s[now][t - d];
        now = 1 - now;
        s[now][t] = v;
        __syncthreads();
    }
    out[t] = s[now][t];
}

// repaired: one thread writes the carry from one row to the next, and all read it
// heddle: grid=1 block=64 rows=3
__global__ void scan_dim_nonfinal(const int *in, int *out, int rows) {
    __shared__ int carry;
    __shared__ int s[N];
    int t = threadIdx.x;
    if (t == 0)
        carry = 0;
    for (int r = 0; r < rows; r++) {
        s[t] = in[r * N + t];
        __syncthreads();
        int left = t > 0 ? s[t - 1] : carry;
        out[r * N + t] = s[t] - left;
        if (t == N - 1)
            carry = s[t];
    }
}

// heddle: grid=1 block=64 rows=3
__global__ void scan_dim_nonfinal_ref(const int *in, int *out, int rows) {
    __shared__ int carry;
    __shared__ int s[N];
    int t = threadIdx.x;
    if (t == 0)
        carry = 0;
    for (int r = 0; r < rows; r++) {
        s[t] = in[r * N + t];
        __syncthreads();
        int left = t > 0 ? s[t - 1] : carry;
        out[r * N + t] = s[t] - left;
        __syncthreads();
        if (t == N - 1)
            carry = s[t];
        __syncthreads();
    }
}

// repaired: the minimum distance is computed by halving, without a barrier between the steps
// heddle: grid=1 block=64
__global__ void hamming_matcher(const unsigned *query, const unsigned *train, unsigned *best) {
    __shared__ unsigned dist[N];
    int t = threadIdx.x;
    unsigned x = query[0] ^ train[t];
    dist[t] = (x & 255) * 64 + t;
    __syncthreads();
    for (int h = N / 2; h > 0; h /= 2) {
        if (t < h)
            dist[t] = min(dist[t], dist[t + h]);
    }
    if (t == 0)
        best[0] = dist[0];
}

// heddle: grid=1 block=64
__global__ void hamming_matcher_ref(const unsigned *query, const unsigned *train, unsigned *best) {
    __shared__ unsigned dist[N];
    int t = threadIdx.x;
    unsigned x = query[0] ^ train[t];
    dist[t] = (x & 255) * 64 + t;
    __syncthreads();
    for (int h = N / 2; h > 0; h /= 2) {
        if (t < h)
            dist[t] = min(dist[t], dist[t + h]);
        __syncthreads();
    }
    if (t == 0)
        best[0] = dist[0];
}

// repaired: the same with the loop unrolled
// heddle: grid=1 block=64
__global__ void hamming_matcher_unroll(const unsigned *query, const unsigned *train, unsigned *best) {
    __shared__ unsigned dist[N];
    int t = threadIdx.x;
    unsigned x = query[0] ^ train[t];
    dist[t] = (x & 255) * 64 + t;
    if (t < 32)
        dist[t] = min(dist[t], dist[t + 32]);
    __syncthreads();
    if (t < 16)
        dist[t] = min(dist[t], dist[t + 16]);
    __syncthreads();
    if (t < 8)
        dist[t] = min(dist[t], dist[t + 8]);
    __syncthreads();
    if (t == 0) {
        unsigned m = dist[0];
        for (int i = 1; i < 8; i++)
            m = min(m, dist[i]);
        best[0] = m;
    }
}

// heddle: grid=1 block=64
__global__ void hamming_matcher_unroll_ref(const unsigned *query, const unsigned *train, unsigned *best) {
    __shared__ unsigned dist[N];
    int t = threadIdx.x;
    unsigned x = query[0] ^ train[t];
    dist[t] = (x & 255) * 64 + t;
    __syncthreads();
    if (t == 0) {
        unsigned m = dist[0];
        for (int i = 1; i < N; i++)
            m = min(m, dist[i]);
        best[0] = m;
    }
}

// repaired: a rotation mixes two columns whose products other threads still sum
// heddle: grid=1 block=64 sweeps=3
__global__ void jacobi_svd(int *a, int sweeps) {
    __shared__ int col[2][N];
    __shared__ int prod[N];
    int t = threadIdx.x;
    col[0][t] = a[t];
    col[1][t] = a[N + t];
    for (int k = 0; k < sweeps; k++) {
        prod[t] = col[0][t] * col[1][t];
        int alpha = 0;
        for (int i = 0; i < N; i++)
            alpha += prod[i];
        int x = col[0][t], y = col[1][t];
        col[0][t] = x + (alpha & 3) * y;
        col[1][t] = y - (alpha & 3) * x;
    }
    a[t] = col[0][t];
    a[N + t] = col[1][t];
}

// heddle: grid=1 block=64 sweeps=3
__global__ void jacobi_svd_ref(int *a, int sweeps) {
    __shared__ int col[2][N];
    __shared__ int prod[N];
    int t = threadIdx.x;
    col[0][t] = a[t];
    col[1][t] = a[N + t];
    for (int k = 0; k < sweeps; k++) {
        prod[t] = col[0][t] * col[1][t];
        __syncthreads();
        int alpha = 0;
        for (int i = 0; i < N; i++)
            alpha += prod[i];
        int x = col[0][t], y = col[1][t];
        col[0][t] = x + (alpha & 3) * y;
        col[1][t] = y - (alpha & 3) * x;
        __syncthreads();
    }
    a[t] = col[0][t];
    a[N + t] = col[1][t];
}

// repaired: lanes exchange values through shared memory and rely on lock step
// heddle: grid=1 block=64
__global__ void warp_reduce(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x, lane = t % 32;
    s[t] = in[t];
    for (int d = 16; d > 0; d /= 2) {
        if (lane < d)
            s[t] += s[t + d];
    }
    if (lane == 0)
        out[t / 32] = s[t];
}

// heddle: grid=1 block=64
__global__ void warp_reduce_ref(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x, lane = t % 32;
    s[t] = in[t];
    __syncwarp();
    for (int d = 16; d > 0; d /= 2) {
        if (lane < d)
            s[t] += s[t + d];
        __syncwarp();
    }
    if (lane == 0)
        out[t / 32] = s[t];
}

// repaired: only one warp reaches the barrier
// heddle: grid=1 block=64
__global__ void warp_reduce_divergent(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32) {
        s[t] += s[t + 32];
        __syncthreads();
        if (t < 16)
            s[t] += s[t + 16];
        __syncthreads();
        if (t < 8)
            s[t] += s[t + 8];
    }
    __syncthreads();
    if (t < 8)
        out[t] = s[t];
}

// heddle: grid=1 block=64
__global__ void warp_reduce_divergent_ref(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    if (t < 32)
        s[t] += s[t + 32];
    __syncthreads();
    if (t < 16)
        s[t] += s[t + 16];
    __syncthreads();
    if (t < 8)
        s[t] += s[t + 8];
    __syncthreads();
    if (t < 8)
        out[t] = s[t];
}

// repaired: the last row of a column is passed on before the next column may be written
// heddle: grid=1 block=64 n=3
__global__ void scan_dim(const int *in, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x;
    for (int k = 0; k < n; k++) {
        s[t] = in[k * N + t];
        if (t < 32)
            s[t + 32] += s[t];
        out[k * N + t] = s[t];
    }
}

// heddle: grid=1 block=64 n=3
__global__ void scan_dim_ref(const int *in, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x;
    for (int k = 0; k < n; k++) {
        s[t] = in[k * N + t];
        __syncthreads();
        if (t < 32)
            s[t + 32] += s[t];
        __syncthreads();
        out[k * N + t] = s[t];
        __syncthreads();
    }
}

// repaired: two barriers under a condition that holds for a part of the block only
// heddle: grid=1 block=64 total=40
__global__ void compute_descriptor(const int *in, int *desc, int total) {
    __shared__ int hist[N];
    __shared__ int out[N];
    int t = threadIdx.x;
    if (t < total) {
        hist[t] = in[t];
        __syncthreads();
        int left = hist[(t + 7) % total];
        out[t] = left * 2;
        __syncthreads();
        desc[t] = out[(t + 3) % total] - left;
    }
}

// heddle: grid=1 block=64 total=40
__global__ void compute_descriptor_ref(const int *in, int *desc, int total) {
    __shared__ int hist[N];
    __shared__ int out[N];
    int t = threadIdx.x;
    int left = 0;
    if (t < total)
        hist[t] = in[t];
    __syncthreads();
    if (t < total) {
        left = hist[(t + 7) % total];
        out[t] = left * 2;
    }
    __syncthreads();
    if (t < total)
        desc[t] = out[(t + 3) % total] - left;
}

// repaired: the barrier is in a branch
// heddle: grid=1 block=64 n=50
__global__ void select_matches(const int *in, int *out, int n) {
    __shared__ int dist[N];
    int t = threadIdx.x;
    if (t < n) {
        dist[t] = in[t];
        __syncthreads();
    } else {
        dist[t] = 1 << 30;
    }
    int d = dist[(t + 1) % N];
    out[t] = d < dist[t] ? d : dist[t];
}

// heddle: grid=1 block=64 n=50
__global__ void select_matches_ref(const int *in, int *out, int n) {
    __shared__ int dist[N];
    int t = threadIdx.x;
    dist[t] = t < n ? in[t] : 1 << 30;
    __syncthreads();
    int d = dist[(t + 1) % N];
    out[t] = d < dist[t] ? d : dist[t];
}

// repaired: the number of iterations of a loop with a barrier differs between threads
// heddle: grid=1 block=64 n=150
__global__ void select_matches_loop(const int *in, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x;
    int sum = 0;
    s[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += N) {
        s[t] = in[i];
        __syncthreads();
        sum += s[(t + 1) % N];
        __syncthreads();
    }
    out[t] = sum;
}

// heddle: grid=1 block=64 n=150
__global__ void select_matches_loop_ref(const int *in, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x;
    int sum = 0;
    s[t] = 0;
    __syncthreads();
    for (int base = 0; base < n; base += N) {
        int i = base + t;
        if (i < n)
            s[t] = in[i];
        __syncthreads();
        if (i < n)
            sum += s[(t + 1) % N];
        __syncthreads();
    }
    out[t] = sum;
}

// repaired: a loop over the training set ends earlier for some threads, and its race needs a barrier
// heddle: grid=1 block=64 n=100
__global__ void hamming_unroll_loop(const unsigned *train, unsigned *best, int n) {
    __shared__ unsigned s[N];
    int t = threadIdx.x;
    unsigned m = ~0u;
    s[t] = 0;
    __syncthreads();
    for (int i = t; i < n; i += N) {
        s[t] = train[i];
        __syncthreads();
        m = min(m, s[t ^ 1]);
    }
    best[t] = m;
}

// heddle: grid=1 block=64 n=100
__global__ void hamming_unroll_loop_ref(const unsigned *train, unsigned *best, int n) {
    __shared__ unsigned s[N];
    int t = threadIdx.x;
    unsigned m = ~0u;
    s[t] = 0;
    for (int i = 0; i < n; i += N) {
        __syncthreads();
        if (i + t < n)
            s[t] = train[i + t];
        __syncthreads();
        if (i + t < n)
            m = min(m, s[t ^ 1]);
    }
    best[t] = m;
}

// redundant: only the writer reads the word
// heddle: grid=1 block=64
__global__ void compute_median(const int *in, int *out) {
    __shared__ int median, idx;
    int t = threadIdx.x;
    if (t == 0) {
        median = in[0];
        idx = 0;
    }
    __syncthreads();
    if (t == 0) {
        for (int i = 1; i < N; i++)
            if (in[i] < median) {
                median = in[i];
                idx = i;
            }
        out[0] = median;
        out[1] = idx;
    }
}

// heddle: grid=1 block=64
__global__ void compute_median_ref(const int *in, int *out) {
    int t = threadIdx.x;
    if (t == 0) {
        int median = in[0], idx = 0;
        for (int i = 1; i < N; i++)
            if (in[i] < median) {
                median = in[i];
                idx = i;
            }
        out[0] = median;
        out[1] = idx;
    }
}

// redundant: every thread reads only what it wrote itself
// heddle: grid=1 block=64
__global__ void harris_response(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[t] * in[t];
    __syncthreads();
    out[t] = s[t] - in[t];
}

// heddle: grid=1 block=64
__global__ void harris_response_ref(const int *in, int *out) {
    int t = threadIdx.x;
    out[t] = in[t] * in[t] - in[t];
}

// repaired: rows of different lengths are summed with barriers in the loop
// heddle: grid=1 block=64 cols=5
__global__ void add_diag_mat_mat(const int *m, const int *v, int *out, int cols) {
    __shared__ int s[N];
    int t = threadIdx.x;
    int acc = 0;
    s[t] = 0;
    __syncthreads();
    for (int j = t % 4; j < cols; j++) {
        s[t] = m[j * N + t] * v[j];
        __syncthreads();
        if (t >= 32)
            acc += s[t - 32];
        else
            acc += s[t + 32];
        __syncthreads();
    }
    out[t] = acc;
}

// redundant: before the first barrier of the loop, a thread only writes its own word, as it did before
// heddle: grid=1 block=64 cols=5
__global__ void add_diag_mat_mat_ref(const int *m, const int *v, int *out, int cols) {
    __shared__ int s[N];
    int t = threadIdx.x;
    int acc = 0;
    s[t] = 0;
    __syncthreads();
    for (int k = 0; k < cols; k++) {
        int j = t % 4 + k;
        if (j < cols)
            s[t] = m[j * N + t] * v[j];
        __syncthreads();
        if (j < cols)
            acc += s[t ^ 32];
        __syncthreads();
    }
    out[t] = acc;
}

// repaired: the second minimum is searched in the array from which the first is still read
// heddle: grid=1 block=64
__global__ void nu_smo_solve(const int *f, const int *y, int *out) {
    __shared__ int val[N];
    int t = threadIdx.x;
    val[t] = y[t] > 0 ? f[t] : 1 << 30;
    __syncthreads();
    for (int h = N / 2; h > 0; h /= 2) {
        if (t < h)
            val[t] = min(val[t], val[t + h]);
        __syncthreads();
    }
    int up = val[0];
    val[t] = y[t] > 0 ? 1 << 30 : -f[t];
    __syncthreads();
    for (int h = N / 2; h > 0; h /= 2) {
        if (t < h)
            val[t] = min(val[t], val[t + h]);
        __syncthreads();
    }
    out[t] = up + val[0];
}

// heddle: grid=1 block=64
__global__ void nu_smo_solve_ref(const int *f, const int *y, int *out) {
    int t = threadIdx.x;
    int up = 1 << 30, low = 1 << 30;
    for (int i = 0; i < N; i++) {
        up = min(up, y[i] > 0 ? f[i] : 1 << 30);
        low = min(low, y[i] > 0 ? 1 << 30 : -f[i]);
    }
    out[t] = up + low;
}
