#include <cuda/atomic>

// Memory orders that may be relaxed, and that may not.
using device = cuda::atomic_ref<unsigned, cuda::thread_scope_device>;
using block = cuda::atomic_ref<unsigned, cuda::thread_scope_block>;

// A histogram in global memory, with the default order.
__global__ void histogram(unsigned *bins, const unsigned char *in) {
    device bin(bins[in[blockIdx.x * 256 + threadIdx.x]]);
    bin.fetch_add(1); // offer: relaxed: nobody uses the result, and nothing is stored before it
}

// The same with an order, of the block and in shared memory.
__global__ void inBlock(unsigned *out, const unsigned char *in) {
    __shared__ unsigned s[256];
    s[threadIdx.x] = 0;
    __syncthreads();
    block bin(s[in[threadIdx.x]]);
    bin.fetch_add(1, cuda::memory_order_acq_rel); // offer: relaxed: the barrier orders the sums
    __syncthreads();
    out[blockIdx.x * 256 + threadIdx.x] = s[threadIdx.x];
}

// One counter of tickets: coherence orders its updates, whatever their order.
__global__ void compact(unsigned *count, unsigned *out, const unsigned *in) {
    unsigned i = blockIdx.x * 256 + threadIdx.x, v = in[i];
    if (v != 0) {
        device next(*count);
        out[next.fetch_add(1, cuda::memory_order_acq_rel)] = v; // offer: relaxed: one counter, and a slot for each
    }
}

// A maximum; no thread reads it.
__global__ void largest(unsigned *most, const unsigned *in) {
    device m(*most);
    m.fetch_max(in[blockIdx.x * 256 + threadIdx.x], cuda::std::memory_order_release); // offer: relaxed: nothing is stored before it
}

// The last block of a reduction: the order makes the parts visible.
__global__ void lastBlock(unsigned *out, unsigned *parts, unsigned *done, const unsigned *in) {
    if (threadIdx.x == 0) {
        parts[blockIdx.x] = in[blockIdx.x];
        device d(*done);
        if (d.fetch_add(1, cuda::memory_order_acq_rel) == gridDim.x - 1) { // keep: the last block reads all parts
            unsigned sum = 0;
            for (unsigned b = 0; b < gridDim.x; b++)
                sum += parts[b];
            out[0] = sum;
        }
    }
}

// Code outside the kernel may wait for the counter.
__global__ void producer(unsigned *data, unsigned *done, const unsigned *in) {
    unsigned i = blockIdx.x * 256 + threadIdx.x;
    data[i] = in[i];
    device d(*done);
    d.fetch_add(1, cuda::memory_order_release); // keep: data is stored before it
}

// Two counters: their orders may be observed together.
__global__ void twoCounters(unsigned *a, unsigned *b, unsigned *out) {
    if (threadIdx.x == 0) {
        device x(*a), y(*b);
        unsigned first, second;
        if (blockIdx.x == 0) {
            first = x.fetch_add(1, cuda::memory_order_acq_rel); // keep: seen before y by block 1
            second = y.fetch_add(1, cuda::memory_order_acq_rel); // keep: block 1 updates y first
        } else {
            first = y.fetch_add(1, cuda::memory_order_acq_rel); // keep: as above
            second = x.fetch_add(1, cuda::memory_order_acq_rel); // keep: as above
        }
        out[2 * blockIdx.x] = first;
        out[2 * blockIdx.x + 1] = second;
    }
}

// A lock: the order keeps the update within it.
__global__ void lock(unsigned *taken, unsigned *sum) {
    if (threadIdx.x == 0) {
        device l(*taken);
        while (l.fetch_or(1, cuda::memory_order_acquire) != 0) { // keep: acquires the lock
        }
        *sum += 1;
        l.fetch_and(0, cuda::memory_order_release); // keep: releases it
    }
}

// A sum and a maximum of one location do not commute, but their order is open whatever the memory
// order is.
__global__ void mixed(unsigned *a) {
    device x(*a);
    if (threadIdx.x == 0)
        x.fetch_add(1, cuda::memory_order_acq_rel); // offer: relaxed: one location
    else
        x.fetch_max(threadIdx.x, cuda::memory_order_acq_rel); // offer: relaxed: one location
}

// With two locations the memory order excludes that the sum is last in both.
__global__ void mixedTwo(unsigned *a, unsigned *b) {
    device x(*a), y(*b);
    if (threadIdx.x == 0) {
        x.fetch_add(1, cuda::memory_order_acq_rel); // keep: precedes the maximum of y
        y.fetch_max(7, cuda::memory_order_acq_rel); // keep: as above
    } else {
        y.fetch_add(1, cuda::memory_order_acq_rel); // keep: precedes the maximum of x
        x.fetch_max(7, cuda::memory_order_acq_rel); // keep: as above
    }
}

// The scope of the system, without a launch that shows where the memory is.
__global__ void everywhere(unsigned *sum) {
    cuda::atomic_ref<unsigned> s(*sum);
    s.fetch_add(1); // keep: the host may wait for it
}

int main() {
    unsigned *a, *b, *c, *d, *unknown = elsewhere();
    unsigned char *text;
    cudaMalloc(&a, 1 << 20);
    cudaMalloc(&b, 1 << 20);
    cudaMalloc(&c, 1 << 20);
    cudaMalloc(&d, 1 << 20);
    cudaMalloc(&text, 1 << 20);
    histogram<<<16, 256>>>(a, text);
    inBlock<<<16, 256>>>(a, text);
    compact<<<16, 256>>>(a, b, c);
    largest<<<16, 256>>>(a, b);
    lastBlock<<<16, 64>>>(a, b, c, d);
    producer<<<16, 256>>>(a, b, c);
    twoCounters<<<2, 32>>>(a, b, c);
    lock<<<16, 32>>>(a, b);
    mixed<<<1, 64>>>(a);
    mixedTwo<<<1, 64>>>(a, b);
    everywhere<<<16, 64>>>(unknown);
}
