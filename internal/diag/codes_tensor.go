package diag

// tensorKernel is the start of the examples: 32 columns of tensor memory, matrices of zeros in
// shared memory of which no part is permuted, and 128 threads. wait is a wait for the first phase
// of the mbarrier.
const tensorKernel = `__global__ __launch_bounds__(128) void k(int *out) {
    __shared__ __align__(128) int s[1024 + 64]; // A is 128 x 16, B is 8 x 16, of half precision
    __shared__ unsigned base;
    __shared__ __align__(8) unsigned long long bar;
    unsigned a = (unsigned)__cvta_generic_to_shared(s), b = a + 4096;
    unsigned m = (unsigned)__cvta_generic_to_shared(&bar);
    for (int i = threadIdx.x; i < 1088; i += 128) s[i] = 0;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" :: "r"(m) : "memory");
    if (threadIdx.x < 32)
        asm volatile("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 32;"
                     :: "r"((unsigned)__cvta_generic_to_shared(&base)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned d = base, warp = threadIdx.x / 32;
    // strides of columns and of rows, in 16 bytes, and the constant 1
    unsigned long long fields = 8ull << 16 | 16ull << 32 | 1ull << 46;
    unsigned long long da = a >> 4 | fields, db = b >> 4 | fields;
    unsigned shape = 1 << 4 | 1 << 17 | 8 << 24; // f32 = f16 x f16, N is 8, M is 128
    int x;
`

const (
	tensorMultiply = `    if (threadIdx.x == 0)
        asm volatile("{ .reg .pred p; setp.ne.u32 p, %3, %3;"
                     "tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }"
                     :: "r"(d), "l"(da), "l"(db), "r"(shape) : "memory");
`
	tensorCommit = `    if (threadIdx.x == 0)
        asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];"
                     :: "r"(m) : "memory");
`
	tensorAwait = `    asm volatile("{ .reg .pred p; L: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;"
                 "@!p bra L; }" :: "r"(m) : "memory");
`
	tensorAfter = `    asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
`
	tensorLoad = `    asm volatile("tcgen05.ld.sync.aligned.32x32b.x1.b32 {%0}, [%1];"
                 : "=r"(x) : "r"(d + (warp * 32 << 16)) : "memory");
    asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
    out[threadIdx.x] = x;
`
	tensorFree = `    __syncthreads();
    if (threadIdx.x < 32)
        asm volatile("tcgen05.dealloc.cta_group::1.sync.aligned.b32 %0, 32;" :: "r"(d) : "memory");
`
	tensorEnd = `}
`
	tensorRight = tensorKernel + tensorMultiply + tensorCommit + tensorAwait + tensorAfter + tensorLoad +
		tensorFree + tensorEnd
)

var tensorDocs = []Doc{
	{
		Code: CodeRaceTensor, Family: Bugs,
		Title: "data race on tensor memory",
		Text: `Operations on tensor memory (tcgen05.mma, cp, shift, ld, st) happen at some time behind
their issue, and not in the order of the program. One of them comes behind another one if its thread
knew that the other one was complete: by waiting for an mbarrier that tcgen05.commit makes track it,
or by tcgen05.wait::ld or wait::st for loads and stores. Only some pairs of one thread form a
pipeline: mma behind mma with the same accumulator and shape, mma behind cp or shift, shift behind
mma, and cp.4x256b behind shift. For another thread such a pair needs
tcgen05.fence::before_thread_sync and after_thread_sync around the synchronization (PTX ISA
9.7.16.6). Other pairs that access the same cells, one of them to write, may happen in either order.`,
		Fix: `Wait for the first operation: commit it to an mbarrier and wait for that, or execute
tcgen05.wait::ld or wait::st in the warp, and let the other thread synchronize behind that.`,
		Example: Example{
			File:  "early.cu",
			Text:  tensorKernel + tensorMultiply + tensorCommit + tensorLoad + tensorAwait + tensorFree + tensorEnd,
			Flags: []string{"--grid", "1", "--block", "128"},
		},
		Fixed: Example{Text: tensorRight},
	},
	{
		Code: CodeTensorFence, Family: Bugs,
		Title: "no tcgen05.fence::after_thread_sync lies between a wait and a tcgen05 operation",
		Text: `A thread has waited for an operation on tensor memory, and issues another one on the same
cells with no tcgen05.fence::after_thread_sync in between. tcgen05.ld, st, mma, cp and shift are
asynchronous, and all patterns of the PTX ISA have that fence there (9.7.16.6.4). The wait acquires,
and "the standard memory consistency model synchronization mechanisms also apply" (9.7.16.6.3);
libraries rely on that. This is a warning. Behind a relaxed wait, where nothing but the fence orders
the two, it is a race.`,
		Fix: `Execute tcgen05.fence::after_thread_sync behind the wait, in each thread that issues
the operation.`,
		Example: Example{
			File: "fence.cu",
			Text: tensorKernel + tensorMultiply + tensorCommit + tensorAwait + tensorLoad + tensorFree +
				tensorEnd,
			Flags: []string{"--grid", "1", "--block", "128"},
		},
		Fixed: Example{Text: tensorRight},
	},
	{
		Code: CodeTensorAllocation, Family: Bugs,
		Title: "tensor memory is allocated or freed in a way that is not allowed",
		Text: `tcgen05.alloc takes a power of two from 32 to 512 columns, never more than the allocation
before, and none behind tcgen05.relinquish_alloc_permit. tcgen05.dealloc takes the address and the
number of columns of an allocation, and a block frees all of its tensor memory before it ends (PTX
ISA 9.7.16.7.1). Otherwise the behavior is undefined: the next block on the multiprocessor may wait
for ever for the columns.`,
		Fix: `Free each allocation once, behind the last access to it and before the block ends.`,
		Example: Example{
			File: "leak.cu",
			Text: tensorKernel + tensorMultiply + tensorCommit + tensorAwait + tensorAfter + tensorLoad +
				tensorEnd,
			Flags: []string{"--grid", "1", "--block", "128"},
		},
		Fixed: Example{Text: tensorRight},
	},
	{
		Code: CodeTensorBounds, Family: Bugs,
		Title: "an access to tensor memory outside of what may be accessed",
		Text: `An operation takes columns of tensor memory that are not allocated, or a warp loads or
stores lanes that it does not reach: of each four warps, the first reaches lanes 0 to 31 by
tcgen05.ld and st, the second lanes 32 to 63, and so on (PTX ISA 9.7.16.1.2, 9.7.16.8.1). D takes a
column for each column of B, also if its elements have 16 bits (9.7.16.10.4.1).`,
		Fix: `Allocate as many columns as all matrices in tensor memory need, and add 32 times the
number of the warp within its four to the lane of the address, which is in bits 16 and up.`,
		Example: Example{
			File: "columns.cu",
			Text: tensorKernel + "    shape = 1 << 4 | 8 << 17 | 8 << 24; // N is 64\n" + tensorMultiply +
				tensorCommit + tensorAwait + tensorAfter + tensorLoad + tensorFree + tensorEnd,
			Flags: []string{"--grid", "1", "--block", "128"},
		},
		Fixed: Example{Text: tensorRight},
	},
	{
		Code: CodeTensorOperand, Family: Bugs,
		Title: "an operand of a tcgen05 instruction does not exist",
		Text: `A shape or a type in an instruction descriptor, a field of a matrix descriptor, or the
place of a matrix in tensor memory is one that the instruction does not have, or the threads of a
warp have different addresses or numbers of columns (PTX ISA 9.7.16.2.1, 9.7.16.4, 9.7.16.7,
9.7.16.8, 9.7.16.10). The behavior is undefined.`,
		Fix: `Compute descriptors as the PTX ISA describes them: bits 46 to 48 of a matrix descriptor
are 1, and an instruction descriptor has N / 8 in bits 17 to 22 and M / 16 in bits 24 to 28.`,
		Example: Example{
			File: "shape.cu",
			Text: tensorKernel + "    shape = 1 << 4 | 1 << 17 | 6 << 24; // M is 96\n" + tensorMultiply +
				tensorCommit + tensorAwait + tensorAfter + tensorLoad + tensorFree + tensorEnd,
			Flags: []string{"--grid", "1", "--block", "128"},
		},
		Fixed: Example{Text: tensorRight},
	},
}
