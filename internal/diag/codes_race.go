package diag

var raceDocs = []Doc{
	{
		Code: CodeRaceShared, Family: Bugs,
		Title: "two threads of a block access the same shared memory without synchronization",
		Text: `Two threads of a block access overlapping bytes of shared memory, at least one of them
writes, and no barrier or other synchronization orders the two accesses. This is a data race (PTX
ISA 8.7.1). A read may return the old or the new value, and if the accesses overlap only in part,
the memory model gives the program no meaning at all (8.7.2). heddle reports that the order is
missing; which access happened first in this run does not matter.

The message names the kind: write-write, read-write, or atomic-plain (an atomic operation and an
ordinary access; the atomic does not protect the ordinary one). It also names the level: intra-block
for threads of different warps, intra-warp for lanes of one warp. Since sm_70 the lanes of a warp do
not run in lock step, so code that relies on lock step races. --warp lockstep checks under the older
assumption.`,
		Fix: `Put __syncthreads() between the two accesses, at a place that every thread of the block
reaches. Between lanes of one warp, __syncwarp() is enough. In a loop, check the path from the end
of one iteration to the start of the next as well. If the accesses may happen in any order, make
both atomic.`,
		Example: Example{
			File: "neighbour.cu",
			Text: `__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    out[t] = s[63 - t]; // written by another thread
}
`,
			Flags: []string{"--grid", "1", "--block", "64"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = t;
    __syncthreads();
    out[t] = s[63 - t];
}
`,
		},
	},
	{
		Code: CodeRaceGlobal, Family: Bugs,
		Title: "two threads access the same global memory without synchronization",
		Text: `Two threads access overlapping bytes of global memory, at least one of them writes, and no
synchronization orders the two accesses. This is a data race (PTX ISA 8.7.1): updates are lost and
reads return stale values, depending on the schedule. The level in the message says how far apart
the threads are: inter-block, intra-block or intra-warp.

__syncthreads() does not order accesses of different blocks, and neither does a fence
(__threadfence()) alone. Two fences order accesses only together with a flag (PTX ISA 8.8): one
thread writes the flag after its fence, the other reads that value before its own fence, and both
accesses to the flag are strong (atomic or volatile). The scope of both fences must include both
threads; between blocks, __threadfence_block() is too narrow.`,
		Fix: `Let each block write memory of its own, make all accesses atomic, or split the work into
two kernels. For a flag or a lock, use this order: write the data, __threadfence(), write the flag
atomically; in the other thread, read the flag atomically, __threadfence(), read the data.`,
		Example: Example{
			File: "sum.cu",
			Text: `__global__ void k(int *sum) {
    *sum = *sum + 1; // all threads of all blocks
}
`,
			Flags: []string{"--grid", "2", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *sum) {
    atomicAdd(sum, 1);
}
`,
		},
	},
	{
		Code: CodeBranchOrder, Family: Bugs,
		Title: "the two paths of a branch access the same memory in an undefined order",
		Text: `Lanes of one warp take different paths of a branch. An access on one path overlaps an
access on the other, and at least one of them writes. Under the lock-step model (--warp lockstep)
the hardware runs one path after the other, but it may choose either one first, so the result
depends on the device (Barracuda, PLDI 2017, section 3.3.1). No rule of the PTX ISA orders the two
paths (8.7.1). Under the independent model heddle reports the same pair as an intra-warp race.`,
		Fix: `Move one of the two accesses behind the branch, with __syncwarp() in between, or let the
two paths use different memory.`,
		Example: Example{
			File: "paths.cu",
			Text: `__global__ void k(int *out) {
    __shared__ int s;
    if (threadIdx.x < 16)
        s = 1;
    else
        s = 2;
    __syncthreads();
    out[threadIdx.x] = s;
}
`,
			Flags: []string{"--warp", "lockstep", "--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) {
    __shared__ int s;
    if (threadIdx.x < 16)
        s = 1;
    __syncwarp();
    if (threadIdx.x >= 16)
        s = 2;
    __syncthreads();
    out[threadIdx.x] = s;
}
`,
		},
	},
	{
		Code: CodeAsyncCopy, Family: Bugs,
		Title: "nothing orders an asynchronous copy and another access to the same memory",
		Text: `cp.async (__pipeline_memcpy_async, memcpy_async) copies from global to shared memory in
the background. Until the issuing thread waits for the copy's group, nothing orders the copy before
later accesses, not even those of the same thread (PTX ISA 8.9.1.1, 9.7.9.25.1). A reader of the
destination may see old bytes, and a writer of the source may change what is copied. Barriers and
fences do not wait for copies.

Three cases are reported: an access before the wait; an access by another thread without a barrier
after the wait; and a copy into a buffer that other threads may still use, because no barrier
precedes the copy.

cp.async.wait_group N waits for all groups except the N most recent ones. Copies that no
cp.async.commit_group has closed belong to no group yet; only cp.async.wait_all waits for them too.

A bulk copy (cp.async.bulk) is ordered before what follows a wait for the phase of the mbarrier that
counts its bytes, or cp.async.bulk.wait_group in the thread that issued it, and behind what its
thread did and knew before. That wait orders the copy alone, and not what its thread did before it.
cp.async.bulk.wait_group.read waits for the reads of its source only.`,
		Fix: `Before the first access to the bytes, let the issuing thread commit the group and wait for
it, with an N small enough to include it. If other threads read the bytes, put __syncthreads() after
the wait, not before it. Before a buffer is refilled, put __syncthreads() between its last use and
the copy.`,
		Example: Example{
			File: "stage.cu",
			Text: `#include <cuda_pipeline.h>
__global__ void k(const int *in, int *out) {
    __shared__ int s[32];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
    __syncthreads(); // does not wait for copies
    out[threadIdx.x] = s[threadIdx.x];
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `#include <cuda_pipeline.h>
__global__ void k(const int *in, int *out) {
    __shared__ int s[32];
    __pipeline_memcpy_async(&s[threadIdx.x], &in[threadIdx.x], sizeof(int));
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads(); // now the copies of all threads are visible
    out[threadIdx.x] = s[threadIdx.x];
}
`,
		},
	},
	{
		Code: CodeNoncoherent, Family: Bugs,
		Title: "a non-coherent load reads data that the kernel writes",
		Text: `ld.global.nc (__ldg, and loads through const __restrict__ pointers) reads through the
texture cache, which is not coherent with writes of the same kernel (PTX ISA 2.3, 9.7.9.9). The load
uses another proxy than ordinary accesses (8.6). No barrier or fence orders the two, not even for
writes of the same thread (8.9.5). The load may therefore return a stale value, or a value that is
written later. Data read in this way must be read-only for the entire kernel.`,
		Fix: `Use an ordinary load: no __ldg(), and no const __restrict__ on pointers to memory that the
kernel also writes. Or write to another array.`,
		Example: Example{
			File: "ldg.cu",
			Text: `__global__ void k(int *a, int *out) {
    a[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = __ldg(&a[31 - threadIdx.x]);
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *a, int *out) {
    a[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = a[31 - threadIdx.x];
}
`,
		},
	},
	{
		Code: CodeRaceUnorderedStrong, Family: Bugs,
		Title: "nothing orders two volatile or relaxed accesses to the same memory",
		Text: `Two threads access the same memory, at least one of them writes, and no barrier or other
synchronization orders the two accesses. Both are strong: volatile, relaxed, or a relaxed access
beside an acquire or a release. So this is not a data race (PTX ISA 8.7), and neither value is torn.
But which access comes first is open, and a thread that reads may get the old value or the new one.
The common case is a reduction of a warp in volatile shared memory, without __syncwarp(): it was
right while the lanes of a warp ran in lock step, and is wrong since sm_70.

It is an error if a thread reads a value that another thread stores, both in shared memory or both
in one warp. It is a warning, which does not change the verdict, if the location may belong to a
protocol that is right in any order: a loop repeats the load until the value ends it; an atomic
operation, an acquire or a release uses the same location; the store writes a constant; both
accesses are stores; or threads of different warps use global memory. Nothing is reported for a flag
on which a loop only waits and whose value arrives with a release pattern (8.8), for two stores of
one constant, and for pairs with an atomic read-modify-write. The data that such a protocol protects
is checked like all other data.`,
		Fix: `Put __syncwarp() between the store and the load of two lanes of a warp, __syncthreads()
between threads of a block. In "v[t] += v[t + 16]" one is needed between the load and the store as
well, unless only the lower lanes execute it; __shfl_down_sync needs none. For a flag, use
cuda::atomic_ref or the pattern of race-global: fence before the store, fence after the load.`,
		Example: Example{
			File: "pair.cu",
			Text: `__global__ void k(const int *in, int *out) {
    __shared__ volatile int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    out[t] = s[t] + s[t ^ 1]; // the other lane may not have stored yet
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(const int *in, int *out) {
    __shared__ volatile int s[32];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncwarp();
    out[t] = s[t] + s[t ^ 1];
}
`,
		},
	},
	{
		Code: CodeRaceStream, Family: Bugs,
		Title: "launches or copies of different streams access the same memory without an order",
		Text: `A launch, copy or memset in one stream and one in another stream access the same bytes, at least
one of them writes, and nothing orders the two. Work in one stream is executed in order; work in
different streams may overlap, or be executed in either order (CUDA C++ Programming Guide,
"Asynchronous Concurrent Execution"). A launch may read data that is not there yet, or overwrite
what another one still reads. On a GPU that is idle the program mostly works, because the earlier
launch has ended when the later one starts.

What orders work of different streams: cudaEventRecord in one and cudaStreamWaitEvent in the other;
the host waiting for the first (cudaStreamSynchronize, cudaEventSynchronize, cudaDeviceSynchronize)
before it enqueues the second; and the default stream, except for streams that were created with
cudaStreamNonBlocking. cudaMemcpyAsync and kernel launches do not wait for anything else.
cudaMemset, and cudaMemcpy within the device, do not wait for the host either: they are work in the
default stream. cudaMemcpy from pageable memory may return before the last bytes have arrived on
the device.

Only heddle exec finds this: it sees all launches of a program.`,
		Fix: `Record an event after the first and let the stream of the second wait for it, or enqueue
both in one stream. Waiting on the host works, too, but keeps the GPU idle.`,
		Example: Example{
			Command: "exec", File: "two_streams.cu",
			Text: `__global__ void fill(int *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }

int main() {
    int *p;
    cudaStream_t a, b;
    cudaMalloc(&p, 32 * sizeof(int));
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    fill<<<1, 32, 0, a>>>(p);
    twice<<<1, 32, 0, b>>>(p); // may start before fill has ended
    return cudaDeviceSynchronize();
}
`,
		},
		Fixed: Example{
			Text: `__global__ void fill(int *p) { p[threadIdx.x] = threadIdx.x; }
__global__ void twice(int *p) { p[threadIdx.x] *= 2; }

int main() {
    int *p;
    cudaStream_t a, b;
    cudaEvent_t filled;
    cudaMalloc(&p, 32 * sizeof(int));
    cudaStreamCreate(&a);
    cudaStreamCreate(&b);
    cudaEventCreate(&filled);
    fill<<<1, 32, 0, a>>>(p);
    cudaEventRecord(filled, a);
    cudaStreamWaitEvent(b, filled);
    twice<<<1, 32, 0, b>>>(p);
    return cudaDeviceSynchronize();
}
`,
		},
	},
}
