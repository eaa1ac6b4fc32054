package diag

var barrierDocs = []Doc{
	{
		Code: CodeBarrierDivergence, Family: Bugs,
		Title: "not all threads of the block come to the same barrier",
		Text: `Some threads of a block wait at a barrier, while others are at another one, or have left the kernel. CUDA allows
__syncthreads() in conditional code only if the condition is the same for the whole block; otherwise the code is likely
to hang or to have unintended effects (CUDA C++ Programming Guide, "Synchronization Functions"). That newer devices go
on when the missing threads have exited makes it no less an error: what the barrier should order is not ordered for the
threads that did not take part.`,
		Fix: `Move the barrier out of the conditional code; let threads without work skip the work and not the barrier; do not
return before the last barrier.`,
		Example: Example{
			File: "half.cu",
			Text: `__global__ void k(int *out) {
    __shared__ int s[64];
    if (threadIdx.x < 32) {
        s[threadIdx.x] = 1;
        __syncthreads(); // the other 32 threads never come
    }
    out[threadIdx.x] = 0;
}
`,
			Flags: []string{"--grid", "1", "--block", "64"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) {
    __shared__ int s[64];
    if (threadIdx.x < 32)
        s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = 0;
}
`,
		},
	},
	{
		Code: CodeBarrierDeadlock, Family: Bugs,
		Title: "threads wait at barriers that nobody can complete",
		Text: `All threads of a block that have not exited wait, and no one is left to arrive where they wait: warps that take two
named barriers in opposite order, a producer and a consumer that wait for each other, or a barrier that counts more
threads than come to it. Each place where threads wait is named.`,
		Fix: `Let all warps take the barriers in one order, and make the thread count of each barrier the number of threads that
arrive at or wait for it in one generation.`,
		Example: Example{
			File: "crossed.cu",
			Text: `__global__ void k(int *out) {
    if (threadIdx.x < 32) {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        asm volatile("bar.sync 2, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 2, 64;" ::: "memory");
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
    out[threadIdx.x] = 1;
}
`,
			Flags: []string{"--grid", "1", "--block", "64"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    asm volatile("bar.sync 2, 64;" ::: "memory");
    out[threadIdx.x] = 1;
}
`,
		},
	},
	{
		Code: CodeBarrierCount, Family: Bugs,
		Title: "participants of one barrier disagree on its thread count or form",
		Text: `All threads that take part in one generation of a named barrier must name the same number of threads, and must all
use the reducing form (.red) or none (PTX ISA 9.7.13.1). Otherwise the hardware's behaviour is not defined.`,
		Fix: `Give the same count everywhere; use another barrier number for another group of threads.`,
		Example: Example{
			File: "counts.cu",
			Text: `__global__ void k(int *out) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 1, 96;" ::: "memory");
    out[threadIdx.x] = 1;
}
`,
			Flags: []string{"--grid", "1", "--block", "96"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) {
    asm volatile("bar.sync 1, 96;" ::: "memory");
    out[threadIdx.x] = 1;
}
`,
		},
	},
	{
		Code: CodeWarpSyncHang, Family: Bugs,
		Title: "__syncwarp waits for lanes that never come",
		Text: `Lanes wait at bar.warp.sync (__syncwarp), or at a shuffle or vote with a mask, for the lanes that the mask names, and
some of those wait somewhere else, so that neither comes. The hardware hangs (PTX ISA 9.7.13.2). Lanes that have exited
are not waited for, except by matrix instructions (ldmatrix, stmatrix, mma, wmma): those all threads of the warp must
execute, and what they do otherwise is undefined (9.7.14).`,
		Fix: `Name in the mask exactly the lanes that come to this place: compute it with __ballot_sync before the branch, or move
the operation to where the whole warp comes by.`,
		Example: Example{
			File: "mask.cu",
			Text: `__global__ void k(int *out) {
    if (threadIdx.x < 16)
        __syncwarp(0xffffffff); // waits for all lanes
    else
        __syncthreads(); // and half of them wait here, for the others
    out[threadIdx.x] = 1;
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) {
    if (threadIdx.x < 16)
        __syncwarp(0x0000ffff); // the lanes that come here
    __syncthreads();
    out[threadIdx.x] = 1;
}
`,
		},
	},
	{
		Code: CodeBadBarrier, Family: Bugs,
		Title: "a barrier has an operand that no barrier can have",
		Text: `The barrier number is above 15, or the thread count is no multiple of the warp size, is 0 for bar.arrive, or exceeds
the block (PTX ISA 9.7.13.1).`,
		Fix: `Use barriers 0 to 15 and counts in whole warps.`,
		Example: Example{
			File: "number.cu",
			Text: `__global__ void k(int *out, int b) {
    asm volatile("bar.sync %0;" :: "r"(b) : "memory");
    out[threadIdx.x] = 1;
}
`,
			Flags: []string{"--grid", "1", "--block", "32", "--arg", "b=16"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out, int b) {
    asm volatile("bar.sync %0;" :: "r"(b & 15) : "memory");
    out[threadIdx.x] = 1;
}
`,
		},
	},
	{
		Code: CodeBarrierRecycle, Family: Bugs,
		Title: "a barrier is used again before its last use is over",
		Text: `A named barrier begins its next generation as soon as one is complete. Here threads may come for the next generation
while threads of the last one are still on their way, and take part in the wrong one: who waits for whom is then a
matter of luck. A thread that comes to a barrier again must know that the last generation is over: because it waited in
it, or because a chain of other barriers leads from a thread that did. To have arrived (bar.arrive) is not enough, since
that does not wait (R. Sharma, M. Bauer, A. Aiken, "Verification of Producer-Consumer Synchronization in GPU Programs",
PLDI 2015).`,
		Fix: `Use another barrier number, or let the threads synchronize on another barrier in between.`,
		Example: Example{
			File: "again.cu",
			Text: `__global__ void k(int *out) {
    asm volatile("bar.sync 1, 64;" ::: "memory"); // two pairs of warps share one barrier
    out[threadIdx.x] = 1;
}
`,
			Flags: []string{"--grid", "1", "--block", "128"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) {
    int pair = 1 + threadIdx.x / 64; // each pair of warps has a barrier of its own
    asm volatile("bar.sync %0, 64;" :: "r"(pair) : "memory");
    out[threadIdx.x] = 1;
}
`,
		},
	},
	{
		Code: CodeBarrierTooMany, Family: Bugs,
		Title: "more threads come to a barrier than it counts",
		Text: `A generation of a named barrier is complete when as many threads have come as it counts. Here more come, and nothing
makes those that are left over wait for the next generation, so that it is a matter of luck who takes part; the others
find no partners.`,
		Fix: `Make the count the number of threads that come in one generation, or give the other threads a barrier of their own.`,
		Example: Example{
			File: "over.cu",
			Text: `__global__ void k(int *out) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.arrive 1, 64;" ::: "memory"); // two warps
    out[threadIdx.x] = 1;
}
`,
			Flags: []string{"--grid", "1", "--block", "96"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 96;" ::: "memory");
    else
        asm volatile("bar.arrive 1, 96;" ::: "memory"); // two warps
    out[threadIdx.x] = 1;
}
`,
		},
	},
	{
		Code: CodeBarrierNoWaiter, Family: Bugs,
		Title: "a barrier is completed by arrivals alone",
		Text: `All threads that took part in a generation of a named barrier came by bar.arrive, which does not wait. Nobody learns
that the others have come: the barrier orders nothing. A thread that was meant to wait has most likely missed it.`,
		Fix: `Let the threads that need the others' work wait: bar.sync with the same number and count.`,
		Example: Example{
			File: "arrivals.cu",
			Text: `__global__ void k(int *out) {
    asm volatile("bar.arrive 1, 64;" ::: "memory");
    out[threadIdx.x] = 1;
}
`,
			Flags: []string{"--grid", "1", "--block", "64"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) {
    asm volatile("bar.sync 1, 64;" ::: "memory");
    out[threadIdx.x] = 1;
}
`,
		},
	},
}
