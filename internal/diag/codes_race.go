package diag

var raceDocs = []Doc{
	{
		Code: CodeRaceShared, Family: Bugs,
		Title: "two threads of a block access the same shared memory, and nothing orders them",
		Text: `Two accesses by different threads of a block overlap in shared memory, at least one of them writes, and no
synchronization orders them: the result depends on which comes first (PTX ISA 8.7.1). Which one came first in this
run does not matter; heddle reports what is unordered, not what went wrong this time.

The message names the kind: write-write, read-write, or atomic-plain, where an atomic operation meets an ordinary
access, which it does not protect. And it names the level: intra-block for threads of different warps, intra-warp for
lanes of one warp. The lanes of a warp do not run in lock step since sm_70, so that code which relies on it races;
--warp lockstep checks under the older assumption.`,
		Fix: `Put __syncthreads() between the two accesses, where all threads of the block come by; between lanes of one warp
__syncwarp() is enough. In a loop, look also from the end of one iteration to the start of the next. If both accesses
should happen at any time, make both atomic.`,
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
		Title: "two threads access the same global memory, and nothing orders them",
		Text: `Two accesses by different threads overlap in global memory, at least one of them writes, and no synchronization
orders them (PTX ISA 8.7.1). The level says how far apart the threads are: inter-block, intra-block or intra-warp.

Between blocks __syncthreads() orders nothing. A fence (__threadfence()) alone does not either: it takes a write after
the fence in one thread (a flag, a counter, a lock), and a read of that value before a fence in the other thread, both
strong (atomic or volatile), with fences whose scope includes both threads: __threadfence_block() is too narrow
between blocks (PTX ISA 8.8).`,
		Fix: `Let each block write memory of its own, or use atomics for all accesses to it, or end the kernel and start
another. For a flag or a lock: write data, __threadfence(), atomic write of the flag; atomic read of the flag,
__threadfence(), read data.`,
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
		Title: "the two paths of one branch access the same memory, and their order is not defined",
		Text: `Lanes of one warp take different paths of a branch, and an access on one path overlaps an access on the other, at
least one of them a write. Under the lock-step model (--warp lockstep) the hardware runs the paths one after the other,
but which one comes first is its choice (Barracuda, PLDI 2017, 3.3.1). Under the independent model the same is reported
as an intra-warp race.`,
		Fix: `Move one of the two accesses behind the branch, with __syncwarp() before it; or let the paths use different memory.`,
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
		Text: `cp.async (__pipeline_memcpy_async, memcpy_async) copies from global to shared memory in the background. Until the
thread that issued it waits for its group, the copy is ordered before nothing, not even before later accesses of that
thread itself: who reads the destination may see old bytes, who writes the source may change what is copied (PTX ISA
8.9.1.1, 9.7.9.25.1). Barriers and fences do not wait for copies. Two copies to one place without a wait between them are
not ordered either. After the wait a copy is like an access of its thread before the wait: other threads see it behind a
barrier that comes after the wait. And a copy is issued after the accesses of its own thread only: where other threads
may still use the destination, a barrier must come before the copy.

cp.async.wait_group N waits for all groups but the N that were committed last; copies that no cp.async.commit_group has
closed belong to no group yet, and only cp.async.wait_all waits for them too.`,
		Fix: `Before the first access to the bytes, let the thread that issued the copy commit its group and wait for it, with an N
small enough to cover it. If other threads read the bytes, put __syncthreads() behind the wait, not before it. Before a
buffer is filled again, put __syncthreads() between its last use and the copy.`,
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
    __syncthreads(); // now the copies of all threads are seen
    out[threadIdx.x] = s[threadIdx.x];
}
`,
		},
	},
	{
		Code: CodeNoncoherent, Family: Bugs,
		Title: "a non-coherent load reads data that the kernel writes",
		Text: `ld.global.nc (__ldg, and loads through const __restrict__ pointers) reads by way of the texture cache, which is not
kept coherent with writes of the same kernel (PTX ISA 2.3, 9.7.9.9). It is another proxy than the one of ordinary accesses
(8.6), and no barrier or fence orders it with them: not with writes by other threads, and not with those of the thread
itself (8.9.5). So data that is read in this way must be read-only for the whole kernel, or a load may return what was there
before, or, if a write follows it, what comes later.`,
		Fix: `Use an ordinary load: no __ldg(), and no const __restrict__ on pointers to memory that the kernel also writes; or
write to another array.`,
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
}
