// Kernels for way_test.go: in each the read A and the write B of another thread meet in the iterations that its name says.
#define K extern "C" __global__ void
#define T int t = threadIdx.x, x = 0
#define END out[t] = x

// No loop: in the order of the text.
K straight(int *a, int *out) { T; x = a[t + 1]; a[t] = x; END; }

// Each iteration has elements of its own.
K same_iteration(int *a, int *out) { T; for (int i = 0; i < 8; i++) { x += a[64 * i + t + 1]; a[64 * i + t] = x; } END; }

// What iteration i writes, i+1 reads: B, then A.
K next_iteration(int *a, int *out) { T; for (int i = 0; i < 8; i++) { x += a[64 * i + t + 1]; a[64 * (i + 1) + t] = x; } END; }

// What iteration i reads, i+1 writes: A, then B.
K previous_iteration(int *a, int *out) { T; for (int i = 0; i < 8; i++) { x += a[64 * (i + 1) + t + 1]; a[64 * i + t] = x; } END; }

// What iteration i writes, i+2 reads.
K two_apart(int *a, int *out) { T; for (int i = 0; i < 8; i++) { x += a[64 * i + t + 1]; a[64 * (i + 2) + t] = x; } END; }

// All iterations use the same elements.
K any_iteration(int *a, int *out) { T; for (int i = 0; i < 8; i++) { x += a[t + 1]; a[t] = x; } END; }

// From an iteration of the outer loop to the next, and in no other way.
K outer(int *a, int *out)
{
    T;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) {
            x += a[64 * i + t + 1];
            a[64 * (i + 1) + t] = x;
        }
    END;
}

// From an iteration of the inner loop to the next.
K inner(int *a, int *out)
{
    T;
    for (int i = 0; i < 8; i++)
        for (int j = 0; j < 4; j++) {
            x += a[1024 * i + 64 * j + t + 1];
            a[1024 * i + 64 * (j + 1) + t] = x;
        }
    END;
}

// All threads reach both barriers in every iteration.
K even(int *a, int n) { for (int i = 0; i < n; i++) { __syncthreads(); a[threadIdx.x] = i; } __syncthreads(); }

// Not all threads enter the conditional.
K some(int *a, int n) { if (threadIdx.x < 7) { __syncthreads(); a[threadIdx.x] = n; } __syncthreads(); }

// Some run the loop once more.
K trips(int *a, int n) { for (int i = 0; i < 3 + (int)(threadIdx.x & 1); i++) { __syncthreads(); a[threadIdx.x] = i; } __syncthreads(); }

// Some end before the second.
K left(int *a, int n) { __syncthreads(); a[threadIdx.x] = n; if (threadIdx.x > 20) return; __syncthreads(); }

// All threads reach both barriers, and end at two places. An end is no barrier.
K ends(int *a, int n) { __syncthreads(); a[threadIdx.x] = n; __syncthreads(); if (threadIdx.x < n) asm volatile("exit;"); a[threadIdx.x] = 3; }
