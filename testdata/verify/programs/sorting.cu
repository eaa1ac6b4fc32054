// Sorting networks and merging.
#define N 64

// verified: bitonic sort: the pairs of a step are disjoint
// heddle: grid=4 block=64
__global__ void bitonic(int *data) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int k = 2; k <= N; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t) {
                bool up = (t & k) == 0;
                if ((s[t] > s[other]) == up) {
                    int v = s[t];
                    s[t] = s[other];
                    s[other] = v;
                }
            }
            __syncthreads();
        }
    }
    data[blockIdx.x * N + t] = s[t];
}

// race: the barrier is after the inner loop
// heddle: grid=4 block=64
__global__ void bitonic_barrier_outside(int *data) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int k = 2; k <= N; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t) {
                bool up = (t & k) == 0;
                if ((s[t] > s[other]) == up) {
                    int v = s[t];
                    s[t] = s[other];
                    s[other] = v;
                }
            }
        }
        __syncthreads();
    }
    data[blockIdx.x * N + t] = s[t];
}

// race: both threads of a pair exchange the elements
// heddle: grid=4 block=64
__global__ void bitonic_both_exchange(int *data) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int k = 2; k <= N; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            bool up = (t & k) == 0;
            if ((s[t] > s[other]) == up) {
                int v = s[t];
                s[t] = s[other];
                s[other] = v;
            }
            __syncthreads();
        }
    }
    data[blockIdx.x * N + t] = s[t];
}

// divergence: only one thread of a pair reaches the barrier
// heddle: grid=4 block=64
__global__ void bitonic_barrier_in_branch(int *data) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int k = 2; k <= N; k *= 2) {
        for (int j = k / 2; j > 0; j /= 2) {
            int other = t ^ j;
            if (other > t) {
                int v = min(s[t], s[other]);
                s[t] = v;
                __syncthreads();
            }
        }
    }
    data[blockIdx.x * N + t] = s[t];
}

// verified: odd-even transposition: even pairs and odd pairs alternate
// heddle: grid=4 block=64
__global__ void odd_even(int *data) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < N; i++) {
        if ((t & 1) == (i & 1) && t + 1 < N && s[t] > s[t + 1]) {
            int v = s[t];
            s[t] = s[t + 1];
            s[t + 1] = v;
        }
        __syncthreads();
    }
    data[blockIdx.x * N + t] = s[t];
}

// race: all pairs in the same interval
// heddle: grid=4 block=64
__global__ void odd_even_at_once(int *data) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < N; i++) {
        if (t + 1 < N && s[t] > s[t + 1]) {
            int v = s[t];
            s[t] = s[t + 1];
            s[t + 1] = v;
        }
        __syncthreads();
    }
    data[blockIdx.x * N + t] = s[t];
}

// race: no barrier between even and odd pairs
// heddle: grid=4 block=64
__global__ void odd_even_missing_barrier(int *data) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = data[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < N; i += 2) {
        if ((t & 1) == 0 && s[t] > s[t + 1])
            s[t] = s[t + 1];
        if ((t & 1) == 1 && t + 1 < N && s[t] > s[t + 1])
            s[t] = s[t + 1];
        __syncthreads();
    }
    data[blockIdx.x * N + t] = s[t];
}

// unknown: the ranks are distinct because of a property of the order
// heddle: grid=4 block=64
__global__ void rank_sort(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x, rank = 0;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < N; i++)
        if (s[i] < s[t] || (s[i] == s[t] && i < t))
            rank++;
    out[blockIdx.x * N + rank] = s[t];
}

// race: equal elements have equal ranks
// heddle: grid=4 block=64
__global__ void rank_sort_ties(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x, rank = 0;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int i = 0; i < N; i++)
        if (s[i] < s[t])
            rank++;
    out[blockIdx.x * N + rank] = t;
}

// verified: two sorted halves are merged by one step of a network into another array
// heddle: grid=4 block=64
__global__ void merge_halves(const int *in, int *out) {
    __shared__ int a[N], b[N];
    int t = threadIdx.x;
    a[t] = in[blockIdx.x * N + t];
    __syncthreads();
    b[t] = t < N / 2 ? min(a[t], a[N - 1 - t]) : max(a[t], a[N - 1 - t]);
    __syncthreads();
    out[blockIdx.x * N + t] = b[t ^ 1];
}

// race: into the same array
// heddle: grid=4 block=64
__global__ void merge_halves_in_place(const int *in, int *out) {
    __shared__ int a[N];
    int t = threadIdx.x;
    a[t] = in[blockIdx.x * N + t];
    __syncthreads();
    a[t] = t < N / 2 ? min(a[t], a[N - 1 - t]) : max(a[t], a[N - 1 - t]);
    __syncthreads();
    out[blockIdx.x * N + t] = a[t ^ 1];
}
