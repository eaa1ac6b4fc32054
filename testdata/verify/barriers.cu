// Small kernels for the static engine, each with its expected result and the reason. Launches have
// 4 blocks of 64 threads. verified: correct for every input. race, divergence: some input shows it.
#define N 64

// verified: n is the same for every thread of the block
__global__ void uniform_conditional_barrier(int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = t;
    if (n > 3) {
        __syncthreads();
        out[blockIdx.x * N + t] = s[N - 1 - t];
    }
}

// divergence: half of the block never reaches the barrier
__global__ void divergent_conditional_barrier(int *out) {
    if (threadIdx.x < 32)
        __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = 1;
}

// divergence: whether a thread reaches the barrier depends on its own data
__global__ void data_conditional_barrier(const int *in, int *out) {
    if (in[threadIdx.x] > 0)
        __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = 1;
}

// verified: either the entire block leaves or none of it
__global__ void uniform_early_return(int *out, int n) {
    __shared__ int s[N];
    if (n == 0)
        return;
    s[threadIdx.x] = 1;
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = s[threadIdx.x ^ 1];
}

// divergence: threads beyond n have exited when the others wait
__global__ void early_return(int *out, int n) {
    if (threadIdx.x >= n)
        return;
    __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = 1;
}

// divergence: two barriers, each reached by a part of the block
__global__ void barrier_in_both_branches(int *out) {
    if (threadIdx.x & 1)
        __syncthreads();
    else
        __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = 1;
}

// verified: write, barrier, read, barrier, in each iteration
__global__ void two_barriers_an_iteration(int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i++) {
        s[t] = i + t;
        __syncthreads();
        sum += s[(t + i) % N];
        __syncthreads();
    }
    out[blockIdx.x * N + t] = sum;
}

// race: the write of the next iteration conflicts with the read of this one
__global__ void one_barrier_an_iteration(int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i++) {
        s[t] = i + t;
        __syncthreads();
        sum += s[(t + i) % N];
    }
    out[blockIdx.x * N + t] = sum;
}

// divergence: each thread executes as many barriers as its index
__global__ void trip_count_by_thread(int *out) {
    for (int i = 0; i < threadIdx.x; i++)
        __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = 1;
}

// verified: barriers in the inner loop and between the loops
__global__ void nested_loops(int *out, int n, int m) {
    __shared__ int s[N];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            s[t] = i * j;
            __syncthreads();
            sum += s[(t + 1) % N];
            __syncthreads();
        }
        s[N - 1 - t] = i;
        __syncthreads();
        sum += s[(t + 2) % N];
        __syncthreads();
    }
    out[blockIdx.x * N + t] = sum;
}

// race: without a barrier after the inner loop, its last read conflicts with the next write
__global__ void nested_loops_racy(int *out, int n, int m) {
    __shared__ int s[N];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < m; j++) {
            __syncthreads();
            s[t] = i * j;
            __syncthreads();
            sum += s[(t + 1) % N];
        }
        s[N - 1 - t] = i;
        __syncthreads();
        sum += s[(t + 2) % N];
        __syncthreads();
    }
    out[blockIdx.x * N + t] = sum;
}

// verified: a do-while loop
__global__ void do_while(int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, i = 0;
    do {
        s[t] = i;
        __syncthreads();
        out[blockIdx.x * N + t] += s[(t + 1) % N];
        __syncthreads();
        i++;
    } while (i < n);
}

// verified: the bound is read from shared memory after a barrier, so it is uniform
__global__ void bound_from_shared(int *out, const int *in) {
    __shared__ int bound, s[N];
    int t = threadIdx.x, sum = 0;
    if (t == 0)
        bound = in[blockIdx.x];
    __syncthreads();
    int b = bound;
    for (int i = 0; i < b; i++) {
        s[t] = i;
        __syncthreads();
        sum += s[(t + 1) % N];
        __syncthreads();
    }
    out[blockIdx.x * N + t] = sum;
}

// verified: both loops are left at once, at a place without a barrier
__global__ void break_out_of_nested(int *out, const int *in, int n) {
    int t = threadIdx.x, found = 0;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            if (in[i * n + j] == t) {
                found = j;
                goto done;
            }
        }
    }
done:
    __syncthreads();
    out[blockIdx.x * N + t] = found;
}

// divergence: threads leave the loop with the barrier in different iterations
__global__ void break_before_barrier(int *out, const int *in, int n) {
    int t = threadIdx.x;
    for (int i = 0; i < n; i++) {
        if (in[i] == t)
            break;
        __syncthreads();
    }
    out[blockIdx.x * N + t] = 1;
}

// verified: a switch on a uniform value, with a barrier in one case
__global__ void uniform_switch(int *out, int mode) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = t;
    switch (mode) {
    case 0: out[blockIdx.x * N + t] = s[t]; break;
    case 1: __syncthreads(); out[blockIdx.x * N + t] = s[N - 1 - t]; break;
    default: out[blockIdx.x * N + t] = 7;
    }
}

// race: case 0 reads without a barrier
__global__ void switch_racy(int *out, int mode) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = t;
    switch (mode) {
    case 0: out[blockIdx.x * N + t] = s[N - 1 - t]; break;
    case 1: __syncthreads(); out[blockIdx.x * N + t] = s[N - 1 - t]; break;
    default: out[blockIdx.x * N + t] = 7;
    }
}

// verified: a tree reduction with a halving distance
__global__ void halving(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = N / 2; d > 0; d >>= 1) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// race: the condition lets the upper half add as well
__global__ void halving_racy(const int *in, int *out) {
    __shared__ int s[2 * N];
    int t = threadIdx.x;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    for (int d = N / 2; d > 0; d >>= 1) {
        if (t <= d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

// verified: all threads of a block read the same bound of the inner loop
__global__ void loaded_bound(int *out, const int *n) {
    __shared__ int s[N];
    int t = threadIdx.x, sum = 0;
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < n[blockIdx.x * 4 + y]; x++) {
            __syncthreads();
            s[t] = x;
            __syncthreads();
            sum += s[N - 1 - t];
        }
    out[blockIdx.x * N + t] = sum;
}

// divergence: each warp reads another bound
__global__ void loaded_bound_of_warp(int *out, const int *n) {
    int sum = 0;
    for (int y = 0; y < 4; y++)
        for (int x = 0; x < n[threadIdx.x / 32 * 4 + y]; x++) {
            __syncthreads();
            sum++;
        }
    out[blockIdx.x * N + threadIdx.x] = sum;
}

// verified: all threads read the flag that thread 0 has set, and only then it changes
__global__ void shared_flag(int *out, const int *todo) {
    __shared__ int more;
    int rounds = 0;
    do {
        __syncthreads();
        if (threadIdx.x == 0)
            more = todo[rounds * 4 + blockIdx.x];
        __syncthreads();
        rounds++;
    } while (more != 0 && rounds < 100);
    out[blockIdx.x * N + threadIdx.x] = rounds;
}

// race: with one barrier, thread 0 may set the flag for the next round before others have read it
__global__ void shared_flag_racy(int *out, const int *todo) {
    __shared__ int more;
    int rounds = 0;
    do {
        if (threadIdx.x == 0)
            more = todo[rounds * 4 + blockIdx.x];
        __syncthreads();
        rounds++;
    } while (more != 0 && rounds < 100);
    out[blockIdx.x * N + threadIdx.x] = rounds;
}

// divergence: the number of rounds after a loop that threads leave at different iterations
__global__ void rounds_of_thread(int *out, const int *in) {
    int rounds = 0;
    while (rounds < 100 && in[threadIdx.x + rounds] != 0)
        rounds++;
    for (int k = 0; k < rounds; k++)
        __syncthreads();
    out[blockIdx.x * N + threadIdx.x] = rounds;
}

// divergence: half of the threads leave the outer loop before its second barrier
__global__ void leaves_outer_loop(int *out, int n) {
    for (int k = 0; k < n; k++) {
        __syncthreads();
        if (k == 3 && threadIdx.x < 32)
            break;
        __syncthreads();
    }
    out[blockIdx.x * N + threadIdx.x] = n;
}
