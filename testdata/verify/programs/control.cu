// Unstructured control flow around barriers. verified: correct for every input. race, divergence:
// some input shows the bug.
#define N 64

// verified: the mode is the same for the entire block, and every case that falls through passes its barrier
// heddle: grid=4 block=64
__global__ void phases(const int *in, int *out, int mode) {
    __shared__ int s[N];
    int t = threadIdx.x, r = 0;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    switch (mode) {
    case 0:
        r = s[N - 1 - t];
        __syncthreads();
        s[t] = r;
        // fall through
    case 1:
        __syncthreads();
        r += s[(t + 1) % N];
        break;
    case 2:
    case 3:
        r = s[t ^ mode];
        break;
    default:
        r = -1;
    }
    out[blockIdx.x * N + t] = r;
}

// race: case 0 falls through to a case that reads what the neighbors have just written
// heddle: grid=4 block=64
__global__ void phases_missing_barrier(const int *in, int *out, int mode) {
    __shared__ int s[N];
    int t = threadIdx.x, r = 0;
    s[t] = in[blockIdx.x * N + t];
    __syncthreads();
    switch (mode) {
    case 0:
        r = s[N - 1 - t];
        __syncthreads();
        s[t] = r;
        // fall through
    case 1:
        r += s[(t + 1) % N];
        break;
    default:
        r = -1;
    }
    out[blockIdx.x * N + t] = r;
}

// divergence: the switch is on the thread's own element
// heddle: grid=4 block=64
__global__ void phases_private_mode(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x, r = 0;
    s[t] = t;
    switch (in[blockIdx.x * N + t] & 3) {
    case 0:
        __syncthreads();
        r = s[N - 1 - t];
        break;
    case 1:
        r = 1;
        break;
    default:
        r = -1;
    }
    out[blockIdx.x * N + t] = r;
}

// verified: each operand of the condition is uniform, wherever its evaluation stops
// heddle: grid=4 block=64
__global__ void short_circuit(const int *flags, int *out, int n, int m) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = t * n;
    if ((n > 4 && m != 2) || flags[blockIdx.x] == 7) {
        __syncthreads();
        out[blockIdx.x * N + t] = s[(t + 5) % N];
    } else {
        out[blockIdx.x * N + t] = s[t];
    }
}

// divergence: the last operand of the condition is read at the thread's index
// heddle: grid=4 block=64
__global__ void short_circuit_private(const int *flags, int *out, int n, int m) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = t * n;
    if ((n > 4 && m != 2) || flags[t] == 7) {
        __syncthreads();
        out[blockIdx.x * N + t] = s[(t + 5) % N];
    } else {
        out[blockIdx.x * N + t] = s[t];
    }
}

// race: || instead of &&, so the write can happen without the barrier
// heddle: grid=4 block=64
__global__ void short_circuit_wrong_operator(int *out, int n, int m) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = t * n;
    if (n > 4 && m > 4)
        __syncthreads();
    if (n > 4 || m > 4)
        out[blockIdx.x * N + t] = s[(t + 5) % N];
}

// verified: a do-while loop whose trip count is an argument
// heddle: grid=4 block=64
__global__ void relax(int *out, int rounds) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = t;
    do {
        __syncthreads();
        int left = s[(t + N - 1) % N], right = s[(t + 1) % N];
        __syncthreads();
        s[t] = (left + right) / 2;
    } while (--rounds > 0);
    out[blockIdx.x * N + t] = s[t];
}

// race: the new value is written before the neighbors have read the old one
// heddle: grid=4 block=64
__global__ void relax_missing_barrier(int *out, int rounds) {
    __shared__ int s[N];
    int t = threadIdx.x;
    s[t] = t;
    do {
        __syncthreads();
        int left = s[(t + N - 1) % N], right = s[(t + 1) % N];
        s[t] = (left + right) / 2;
    } while (--rounds > 0);
    out[blockIdx.x * N + t] = s[t];
}

// divergence: a thread stops when its own value is small
// heddle: grid=4 block=64
__global__ void relax_private_end(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x, v = in[t] & 7;
    do {
        s[t] = v;
        __syncthreads();
        v--;
    } while (v > 0);
    out[blockIdx.x * N + t] = s[t];
}

// verified: both loops are left at once, on a value that thread 0 has published
// heddle: grid=4 block=64
__global__ void search(const int *in, int *out, int key) {
    __shared__ int row[N];
    __shared__ int found;
    int t = threadIdx.x;
    if (t == 0)
        found = -1;
    for (int i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) {
            row[t] = in[(i * 8 + j) * N + t];
            __syncthreads();
            if (t == 0 && row[j] == key)
                found = i;
            __syncthreads();
            if (found >= 0)
                goto done;
        }
        __syncthreads();
    }
done:
    out[blockIdx.x * N + t] = row[t];
}

// race: the flag is read while thread 0 writes it
// heddle: grid=4 block=64
__global__ void search_missing_barrier(const int *in, int *out, int key) {
    __shared__ int row[N];
    __shared__ int found;
    int t = threadIdx.x;
    if (t == 0)
        found = -1;
    for (int i = 0; i < 8; i++) {
        row[t] = in[i * N + t];
        __syncthreads();
        if (t == 0 && row[i] == key)
            found = i;
        if (found >= 0)
            goto done;
        __syncthreads();
    }
done:
    out[blockIdx.x * N + t] = row[t];
}

// divergence: each thread searches for its own key and leaves the loops when it finds it
// heddle: grid=4 block=64
__global__ void search_private_goto(const int *in, int *out) {
    __shared__ int row[N];
    int t = threadIdx.x, i = 0;
    for (i = 0; i < 8; i++) {
        for (int j = 0; j < 8; j++) {
            row[t] = in[(i * 8 + j) * N + t];
            __syncthreads();
            if (row[t] == t)
                goto done;
        }
    }
done:
    out[blockIdx.x * N + t] = i;
}

// verified: blocks beyond the end leave as a whole
// heddle: grid=4 block=64
__global__ void tail_block(const int *in, int *out, unsigned n) {
    __shared__ int s[N];
    unsigned start = blockIdx.x * N;
    if (start + N > n)
        return;
    s[threadIdx.x] = in[start + threadIdx.x];
    __syncthreads();
    out[start + threadIdx.x] = s[N - 1 - threadIdx.x];
}

// divergence: only the threads beyond the end of the last block leave
// heddle: grid=4 block=64
__global__ void tail_block_early_return(const int *in, int *out, unsigned n) {
    __shared__ int s[N];
    unsigned i = blockIdx.x * N + threadIdx.x;
    if (i >= n)
        return;
    s[threadIdx.x] = in[i];
    __syncthreads();
    out[i] = s[N - 1 - threadIdx.x];
}

// verified: threads without work skip the work but not the barrier
// heddle: grid=4 block=64
__global__ void guarded_tail(const int *in, int *out, unsigned n) {
    __shared__ int s[N];
    unsigned i = blockIdx.x * N + threadIdx.x;
    s[threadIdx.x] = 0;
    if (i < n)
        s[threadIdx.x] = in[i];
    __syncthreads();
    if (i < n)
        out[i] = s[N - 1 - threadIdx.x];
}

// race: threads skip the store that the barrier should order
// heddle: grid=4 block=64
__global__ void guarded_tail_late_clear(const int *in, int *out, unsigned n) {
    __shared__ int s[N];
    unsigned i = blockIdx.x * N + threadIdx.x;
    if (i < n)
        s[threadIdx.x] = in[i];
    __syncthreads();
    if (i >= n)
        s[threadIdx.x] = 0;
    out[i] = s[N - 1 - threadIdx.x];
}

// verified: every thread counts its own steps, and all paths merge after the loop
// heddle: grid=4 block=64
__global__ void collatz(int *out) {
    __shared__ int steps[N];
    int t = threadIdx.x, n = 0;
    for (unsigned v = blockIdx.x * N + t + 1; v != 1; n++)
        v = v & 1 ? 3 * v + 1 : v / 2;
    steps[t] = n;
    __syncthreads();
    out[blockIdx.x * N + t] = max(steps[t], steps[(t + 1) % N]);
}

// divergence: each thread executes one barrier per step
// heddle: grid=4 block=64
__global__ void collatz_barrier_inside(int *out) {
    __shared__ int steps[N];
    int t = threadIdx.x, n = 0;
    for (unsigned v = t + 1; v != 1; n++) {
        v = v & 1 ? 3 * v + 1 : v / 2;
        steps[t] = n;
        __syncthreads();
    }
    out[blockIdx.x * N + t] = n;
}

// verified: the loop runs while any thread has work, which the barrier itself determines
// heddle: grid=4 block=64
__global__ void while_any(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x, left = in[blockIdx.x * N + t] & 15;
    s[t] = 0;
    while (__syncthreads_or(left > 0)) {
        int v = s[(t + 1) % N];
        __syncthreads();
        if (left > 0) {
            s[t] = v + left;
            left--;
        }
    }
    out[blockIdx.x * N + t] = s[t];
}

// race: the value of the neighbor is read in the interval in which it is written
// heddle: grid=4 block=64
__global__ void while_any_missing_barrier(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x, left = in[blockIdx.x * N + t] & 15;
    s[t] = 0;
    while (__syncthreads_or(left > 0)) {
        int v = s[(t + 1) % N];
        if (left > 0) {
            s[t] = v + left;
            left--;
        }
    }
    out[blockIdx.x * N + t] = s[t];
}

// divergence: each thread tests its own condition
// heddle: grid=4 block=64
__global__ void while_mine(const int *in, int *out) {
    __shared__ int s[N];
    int t = threadIdx.x, left = in[blockIdx.x * N + t] & 15;
    s[t] = 0;
    while (left > 0) {
        __syncthreads();
        left--;
    }
    out[blockIdx.x * N + t] = s[t];
}

// verified: continue skips both barriers of an odd iteration in all threads
// heddle: grid=4 block=64
__global__ void every_other(int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i++) {
        if (i & 1)
            continue;
        s[t] = i + t;
        __syncthreads();
        sum += s[(t + i) % N];
        __syncthreads();
    }
    out[blockIdx.x * N + t] = sum;
}

// divergence: continue skips the barriers in odd threads
// heddle: grid=4 block=64
__global__ void every_other_thread(int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i++) {
        if (t & 1)
            continue;
        s[t] = i + t;
        __syncthreads();
        sum += s[t];
    }
    out[blockIdx.x * N + t] = sum;
}

// race: continue skips only the second barrier, so the next write conflicts with this read
// heddle: grid=4 block=64
__global__ void every_other_half(int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, sum = 0;
    for (int i = 0; i < n; i++) {
        s[t] = i + t;
        __syncthreads();
        sum += s[(t + i) % N];
        if (i & 1)
            continue;
        __syncthreads();
    }
    out[blockIdx.x * N + t] = sum;
}

// verified: a loop with two exits between its barriers, both uniform
// heddle: grid=4 block=64
__global__ void two_exits(int *out, int n, int m) {
    __shared__ int s[N];
    int t = threadIdx.x, i = 0;
    for (;;) {
        if (i >= n)
            break;
        s[t] = i;
        __syncthreads();
        if (i == m)
            break;
        out[blockIdx.x * N + t] += s[(t + 3) % N];
        __syncthreads();
        i++;
    }
}

// divergence: the second exit depends on the thread
// heddle: grid=4 block=64
__global__ void two_exits_private(int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, i = 0;
    for (;;) {
        if (i >= n)
            break;
        s[t] = i;
        __syncthreads();
        if (i == t)
            break;
        out[blockIdx.x * N + t] += s[(t + 3) % N];
        __syncthreads();
        i++;
    }
}

// unknown: the loops of this three-state machine share a header; heddle does not find that threads stay together
// heddle: grid=4 block=64
__global__ void machine(const int *program, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, pc = 0, acc = 0;
fetch:
    if (pc >= n)
        goto stop;
    if (program[pc] == 1)
        goto shift;
    if (program[pc] == 2)
        goto add;
    pc++;
    goto fetch;
shift:
    s[t] = acc + t;
    __syncthreads();
    acc = s[(t + 1) % N];
    __syncthreads();
    pc++;
    goto fetch;
add:
    acc += pc;
    pc++;
    goto fetch;
stop:
    out[blockIdx.x * N + t] = acc;
}

// race: the shifting state returns before the others have read
// heddle: grid=4 block=64
__global__ void machine_missing_barrier(const int *program, int *out, int n) {
    __shared__ int s[N];
    int t = threadIdx.x, pc = 0, acc = 0;
fetch:
    if (pc >= n)
        goto stop;
    if (program[pc] == 1)
        goto shift;
    acc += pc;
    pc++;
    goto fetch;
shift:
    s[t] = acc + t;
    __syncthreads();
    acc = s[(t + 1) % N];
    pc++;
    goto fetch;
stop:
    out[blockIdx.x * N + t] = acc;
}
