package diag

// wgmmaKernel is the start of the examples: matrices of zeros in shared memory, of which no part is
// permuted, and 128 threads. The accumulators are d[0] to d[3].
const wgmmaKernel = `__global__ __launch_bounds__(128) void k(float *out) {
    __shared__ __align__(128) int s[512 + 64]; // A is 64 x 16, B is 16 x 8, of half precision
    unsigned a = (unsigned)__cvta_generic_to_shared(s), b = a + 2048;
    for (int i = threadIdx.x; i < 576; i += 128) s[i] = 0;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned long long strides = 8ull << 16 | 16ull << 32; // of columns and of rows, in 16 bytes
    unsigned long long da = a >> 4 | strides, db = b >> 4 | strides;
    float d0 = 0, d1 = 0, d2 = 0, d3 = 0;
`

const (
	wgmmaFence = `    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
`
	wgmmaMultiply = `    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 "
                 "{%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) : "l"(da), "l"(db) : "memory");
`
	wgmmaCommit = `    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
`
	wgmmaWait = `    asm volatile("wgmma.wait_group.sync.aligned 0;"
                 : "+f"(d0), "+f"(d1), "+f"(d2), "+f"(d3) :: "memory");
`
	wgmmaStore = `    out[threadIdx.x] = d0 + d1 + d2 + d3;
}
`
	wgmmaRight = wgmmaKernel + wgmmaFence + wgmmaMultiply + wgmmaCommit + wgmmaWait + wgmmaStore
)

var wgmmaDocs = []Doc{
	{
		Code: CodeWarpgroupRegister, Family: Bugs,
		Title: "a register of a wgmma is accessed before the wait for it",
		Text: `wgmma.mma_async reads and writes its accumulators, and reads fragments of A in registers,
at some time between its issue and the wgmma.wait_group that covers its group. An access to them
before that wait is undefined (PTX ISA 9.7.15.7.3): a thread may read an old value, or its write
may be lost. wait_group N leaves the last N groups under way. An operation of the same shape may
use the same accumulators without a wait.`,
		Fix: `Commit the operations and wait for the group with wgmma.wait_group before the registers
are used, with a number of groups that may stay under way that leaves this one out.`,
		Example: Example{
			File:  "early.cu",
			Text:  wgmmaKernel + wgmmaFence + wgmmaMultiply + wgmmaCommit + wgmmaStore,
			Flags: []string{"--grid", "1", "--block", "128"},
		},
		Fixed: Example{Text: wgmmaRight},
	},
	{
		Code: CodeWarpgroupFence, Family: Bugs,
		Title: "no wgmma.fence lies between an access to a register and a wgmma that uses it",
		Text: `wgmma.mma_async uses its registers at a time of its own. A wgmma.fence orders what a
thread did to its accumulators and its fragments of A before. It is needed before the first
operation of a warp, and between an access to these registers and the next operation that uses
them, apart from accumulators between operations of one shape; otherwise the behavior is
undefined (PTX ISA 9.7.15.7.1).`,
		Fix: `Execute wgmma.fence.sync.aligned in all warps of the warpgroup behind the last access to
the registers and before the operation.`,
		Example: Example{
			File:  "fence.cu",
			Text:  wgmmaKernel + wgmmaMultiply + wgmmaCommit + wgmmaWait + wgmmaStore,
			Flags: []string{"--grid", "1", "--block", "128"},
		},
		Fixed: Example{Text: wgmmaRight},
	},
	{
		Code: CodeWarpgroupDivergence, Family: Bugs,
		Title: "the threads of a warpgroup do not execute the same wgmma instructions",
		Text: `A wgmma instruction is .aligned: all threads of the four warps of a warpgroup must
execute the same one, with the same matrix descriptors (PTX ISA 9.7.15.5.2). A warpgroup begins
at a warp whose number is a multiple of four. The behavior is undefined if a warp is missing, if
its descriptor differs, or if the block has fewer than four warps there.`,
		Fix: `Let all four warps take the same way to the instruction, and compute descriptors from
values that are the same in all of them.`,
		Example: Example{
			File: "warp.cu",
			Text: wgmmaKernel + `    if (threadIdx.x >= 96) // the last warp computes nothing
        return;
` + wgmmaFence + wgmmaMultiply + wgmmaCommit + wgmmaWait + wgmmaStore,
			Flags: []string{"--grid", "1", "--block", "128"},
		},
		Fixed: Example{Text: wgmmaRight},
	},
	{
		Code: CodeRegisterPool, Family: Bugs,
		Title: "setmaxnreg.inc waits for registers that nobody gives back",
		Text: `A block has the registers with which its threads began. setmaxnreg.dec gives some of a warp
back, and setmaxnreg.inc waits until there are as many as it asks for (PTX ISA 9.7.19.5). The
threads begin with the number of .maxnreg (__maxnreg__), or else with as many as the blocks of
.minnctapersm (the second number of __launch_bounds__, or one block) can have: 65536 by their
threads, rounded down to a multiple of 8. With 384 threads that is 168, so that three warpgroups
have 504 together: 24, 240 and 240 fit, 40, 240 and 240 do not, and the last warps wait for ever.`,
		Fix: `Let the numbers of all warps add up to what the block has, and give registers back before
anything for which the threads that ask for more are needed.`,
		Example: Example{
			File:  "registers.cu",
			Text:  registersKernel("40", "240"),
			Flags: []string{"--grid", "1", "--block", "384"},
		},
		Fixed: Example{Text: registersKernel("40", "232")},
	},
}

// registersKernel is an example in which one warpgroup has few registers and two have many.
func registersKernel(few, many string) string {
	return `__global__ __launch_bounds__(384) void k(float *out) {
    if (threadIdx.x < 128) {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 ` + few + `;");
    } else {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 ` + many + `;");
        out[threadIdx.x] = 1;
    }
}
`
}
