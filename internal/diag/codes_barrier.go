package diag

var barrierDocs = []Doc{
	{
		Code: CodeBarrierDivergence, Family: Bugs,
		Title: "not all threads of the block reach the same barrier",
		Text: `Some threads of a block wait at a barrier while others wait at a different one or have
left the kernel. In conditional code, a barrier may be used only if the condition has the same value
for all threads of the block; otherwise the behavior is undefined (PTX ISA 9.7.13.1; CUDA C++
Programming Guide, "Synchronization Functions"). The kernel may hang. Newer devices continue when
the missing threads have exited, but the code is still wrong: the barrier orders nothing for the
threads that did not take part.`,
		Fix: `Move the barrier out of the conditional code. Let threads without work skip the work, not
the barrier, and do not return before the last barrier.`,
		Example: Example{
			File: "half.cu",
			Text: `__global__ void k(int *out) {
    __shared__ int s[64];
    if (threadIdx.x < 32) {
        s[threadIdx.x] = 1;
        __syncthreads(); // the other 32 threads never reach it
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
		Title: "threads wait at barriers that no remaining thread can complete",
		Text: `Every thread of the block that has not exited is waiting, so no thread is left that could
arrive at any of the barriers. The kernel hangs. Typical causes: warps use two named barriers in
opposite order, a producer and a consumer wait for each other, or a barrier expects more threads
than reach it (PTX ISA 9.7.13.1). The message names each place where threads wait.

Threads that wait at an mbarrier poll it, and are reported if nothing can change any more: no other
thread can run, and no asynchronous operation is under way. The message names the phase and the
arrivals and bytes that it misses. A thread that has ended does not count as arrived.`,
		Fix: `Let all warps use the barriers in the same order. Set the thread count of each barrier to
the number of threads that arrive at it or wait for it in one generation. Initialize an mbarrier
with the number of arrivals of one phase, and wait for each phase by the parity of its number.`,
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
		Title: "participants of a barrier disagree on its thread count or form",
		Text: `All threads that take part in one generation of a named barrier must specify the same
number of threads, and either all or none must use the reducing form (.red) (PTX ISA 9.7.13.1).
Otherwise the behavior is undefined: the barrier may release its threads too early or never.`,
		Fix: `Specify the same count everywhere, and use a different barrier number for a different
group of threads.`,
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
		Title: "a warp operation waits for lanes that never arrive",
		Text: `Lanes wait at bar.warp.sync (__syncwarp), or at a shuffle or vote with a mask, for all
lanes named in the mask. Some of those lanes wait somewhere else, so neither side continues and the
warp hangs (PTX ISA 9.7.13.2). Lanes that have exited are not waited for. Matrix instructions
(ldmatrix, stmatrix, mma, wmma) are stricter: all threads of the warp must execute them, otherwise
the behavior is undefined (9.7.14).`,
		Fix: `Name exactly the lanes that reach this place in the mask: compute it with __ballot_sync
before the branch, or move the operation to code that the entire warp executes.`,
		Example: Example{
			File: "mask.cu",
			Text: `__global__ void k(int *out) {
    if (threadIdx.x < 16)
        __syncwarp(0xffffffff); // waits for all lanes
    else
        __syncthreads(); // half of the warp waits here for the others
    out[threadIdx.x] = 1;
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *out) {
    if (threadIdx.x < 16)
        __syncwarp(0x0000ffff); // the lanes that reach this place
    __syncthreads();
    out[threadIdx.x] = 1;
}
`,
		},
	},
	{
		Code: CodeBadBarrier, Family: Bugs,
		Title: "a barrier has an invalid operand",
		Text: `The barrier number is above 15, or the thread count is not a multiple of the warp size, is
0 for bar.arrive, or exceeds the size of the block. The PTX ISA forbids these operands (9.7.13.1);
the hardware may stop the kernel or hang.`,
		Fix: `Use barriers 0 to 15, and thread counts that are whole warps.`,
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
		Title: "a barrier is reused before its previous generation is over",
		Text: `A named barrier starts its next generation as soon as the current one is complete (PTX ISA
9.7.13.1). Here, threads may reach it for the next generation while threads of the previous one have
not arrived yet. They then take part in the wrong generation, and which threads wait for which
depends on the schedule.

A thread may reuse a barrier only if it knows that the previous generation is over: because it
waited in that generation, or because a chain of other barriers leads to it from a thread that did.
An arrival (bar.arrive) is not enough, since it does not wait (R. Sharma, M. Bauer, A. Aiken,
"Verification of Producer-Consumer Synchronization in GPU Programs", PLDI 2015).`,
		Fix: `Use a different barrier number, or synchronize the threads with another barrier in
between.`,
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
    int pair = 1 + threadIdx.x / 64; // each pair of warps has its own barrier
    asm volatile("bar.sync %0, 64;" :: "r"(pair) : "memory");
    out[threadIdx.x] = 1;
}
`,
		},
	},
	{
		Code: CodeBarrierTooMany, Family: Bugs,
		Title: "more threads reach a barrier than it counts",
		Text: `A generation of a named barrier is complete when as many threads have arrived as its count
says (PTX ISA 9.7.13.1). Here more threads arrive, and nothing makes the surplus threads wait for a
later generation. Which threads form the generation depends on the schedule, and the remaining
threads may wait forever.`,
		Fix: `Set the count to the number of threads that arrive in one generation, or give the other
threads a barrier of their own.`,
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
		Text: `Every thread that took part in a generation of a named barrier executed bar.arrive, which
does not wait (PTX ISA 9.7.13.1). No thread learns that the others have arrived, so the barrier
orders nothing. A thread that should have waited most likely missed the barrier.`,
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
	{
		Code: CodeBarrierSplit, Family: Bugs,
		Title: "threads of the block meet at different barriers of the source",
		Text: `Some threads of a block wait at one __syncthreads() while the others wait at another one,
for instance in the two branches of an if. In CUDA C++ and in OpenCL C the behavior is undefined:
in conditional code, a barrier may be used only if the condition has the same value for all threads
of the block (CUDA C++ Programming Guide, "Synchronization Functions"; OpenCL C 3.0, 6.15.8). PTX
identifies a barrier by its number and lets different instructions meet (PTX ISA 9.7.13.1), so such
code may happen to work. It stops working when a warp takes both branches, or when the compiler uses
the rule.

This is a warning, which does not change the verdict. It is not reported for PTX and inline
assembly, for barriers with a number above 0 or a count of threads, and for one barrier of the
source that the compiler has duplicated. Two calls of a function that has a barrier are two
barriers.`,
		Fix: `Move the barrier behind the if, so that all threads of the block reach the same one.`,
		Example: Example{
			File: "branches.cu",
			Text: `__global__ void k(int *a) {
    if (threadIdx.x < 32) {
        a[threadIdx.x]++;
        __syncthreads();
    } else {
        a[threadIdx.x]--;
        __syncthreads(); // not the barrier of the other branch
    }
}
`,
			Flags: []string{"--grid", "1", "--block", "64"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *a) {
    if (threadIdx.x < 32)
        a[threadIdx.x]++;
    else
        a[threadIdx.x]--;
    __syncthreads();
}
`,
		},
	},
}
