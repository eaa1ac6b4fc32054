package diag

var mbarrierDocs = []Doc{
	{
		Code: CodeMBarrierUninitialized, Family: Bugs,
		Title: "an operation on an mbarrier that does not exist",
		Text: `A thread arrives at an mbarrier, or waits for it, and no mbarrier.init of these 8 bytes
of shared memory precedes it. The behavior is undefined (PTX ISA 9.7.13.15.3); usually the kernel
hangs. Often one thread initializes the object and nothing makes the others wait for it.`,
		Fix: `Initialize the object in one thread, and put __syncthreads() between that and the first
use.`,
		Example: Example{
			File: "first.cu",
			Text: `__global__ void k(int *x) {
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(b) : "memory"); // too early
    __syncwarp();
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"(b) : "memory");
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *x) {
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"(b) : "memory");
    __syncwarp();
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(b) : "memory");
}
`,
		},
	},
	{
		Code: CodeMBarrierReinit, Family: Bugs,
		Title: "an mbarrier is initialized again while it is in use",
		Text: `mbarrier.init of an object that was initialized before and not invalidated. The behavior
is undefined (PTX ISA 9.7.13.15.9): threads that wait for a phase may miss it.`,
		Fix: `Initialize the object once, in one thread. To give it another count, or to use its memory
for something else, invalidate it first, when no thread uses it any more.`,
		Example: Example{
			File: "twice.cu",
			Text: `__global__ void k(int *x) {
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    // by all threads
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"(b) : "memory");
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *x) {
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" :: "r"(b) : "memory");
}
`,
		},
	},
	{
		Code: CodeMBarrierOverwritten, Family: Bugs,
		Title: "an ordinary access to an mbarrier that is in use",
		Text: `A load, a store or a bulk copy accesses the 8 bytes of an mbarrier. Between
mbarrier.init and mbarrier.inval only operations on mbarriers may access them (PTX ISA
9.7.13.15.3). Often a buffer overlaps the object, or shared memory is cleared after the object
was initialized.`,
		Fix: `Keep the object in memory of its own, or invalidate it before its memory gets another
use.`,
		Example: Example{
			File: "clear.cu",
			Text: `__global__ void k(int *x) {
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
        bar = 0;
    }
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *x) {
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        bar = 0;
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
    }
}
`,
		},
	},
	{
		Code: CodeMBarrierInvalEarly, Family: Bugs,
		Title: "an mbarrier is invalidated while operations that it tracks are under way",
		Text: `mbarrier.inval of an object to which a bulk copy, or cp.async.mbarrier.arrive, will
still signal (PTX ISA 9.7.13.15.10). The signal would change memory that may have another use by
then.`,
		Fix: `Wait for the phase that counts the operation before you invalidate the object.`,
		Example: Example{
			File: "inval.cu",
			Text: `__global__ void k(int *x) {
    __shared__ __align__(16) int s[32];
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" :: "r"(b) : "memory");
        asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 128, [%2];" :: "r"(a), "l"(x), "r"(b) : "memory");
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(b) : "memory");
    }
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *x) {
    __shared__ __align__(16) int s[32];
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" :: "r"(b) : "memory");
        asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 128, [%2];" :: "r"(a), "l"(x), "r"(b) : "memory");
        asm volatile("{ .reg .pred p;\n"
                     "L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
                     "@!p bra L; }" :: "r"(b) : "memory");
        asm volatile("mbarrier.inval.shared::cta.b64 [%0];" :: "r"(b) : "memory");
    }
}
`,
		},
	},
	{
		Code: CodeMBarrierExcess, Family: Bugs,
		Title: "more arrivals at an mbarrier than a phase expects",
		Text: `A thread arrives at an mbarrier whose phase has no arrival left: the count of
mbarrier.init is reached, and bytes are missing, or one arrival counts for more than what is
left. The behavior is undefined (PTX ISA 9.7.13.15.7), and which arrival is the surplus one
depends on the schedule.`,
		Fix: `Initialize the object with the number of arrivals of one phase. mbarrier.arrive.expect_tx
is an arrival too. Do not arrive for the next phase before you have waited for the last one.`,
		Example: Example{
			File: "surplus.cu",
			Text: `__global__ void k(int *x) {
    __shared__ __align__(16) int s[32];
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" :: "r"(b) : "memory");
        // a second arrival
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(b) : "memory");
        asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 128, [%2];" :: "r"(a), "l"(x), "r"(b) : "memory");
        asm volatile("{ .reg .pred p;\n"
                     "L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
                     "@!p bra L; }" :: "r"(b) : "memory");
    }
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *x) {
    __shared__ __align__(16) int s[32];
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" :: "r"(b) : "memory");
        asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 128, [%2];" :: "r"(a), "l"(x), "r"(b) : "memory");
        asm volatile("{ .reg .pred p;\n"
                     "L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
                     "@!p bra L; }" :: "r"(b) : "memory");
    }
}
`,
		},
	},
	{
		Code: CodeMBarrierRange, Family: Bugs,
		Title: "a count of an mbarrier is outside of its limits",
		Text: `The expected and pending arrivals of an mbarrier are at most 2^20-1, and so are the
bytes that a phase expects, in either direction (PTX ISA 9.7.13.15.2). A count of 0 is an error,
as is .noComplete with an arrival that completes the phase.`,
		Fix: `Use a count between 1 and 2^20-1. Divide a larger copy into several phases.`,
		Example: Example{
			File: "zero.cu",
			Text: `__global__ void k(int *x) {
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 0;" :: "r"(b) : "memory");
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *x) {
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
}
`,
		},
	},
	{
		Code: CodeMBarrierBytes, Family: Bugs,
		Title: "the bytes that a phase of an mbarrier expects never arrive",
		Text: `All arrivals of a phase have come, and threads wait for it, but the bytes that its bulk
copies complete are not those that expect_tx has announced: the phase never completes and the
kernel hangs (PTX ISA 9.7.13.15.5). If more bytes arrive than are expected, they count for no
later phase either.`,
		Fix: `Announce exactly the sum of the sizes of the copies of the phase, with
mbarrier.arrive.expect_tx in the thread that issues them.`,
		Example: Example{
			File: "bytes.cu",
			Text: `__global__ void k(int *x) {
    __shared__ __align__(16) int s[32];
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
        // the copy has 128 bytes
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" :: "r"(b) : "memory");
        asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 128, [%2];" :: "r"(a), "l"(x), "r"(b) : "memory");
        asm volatile("{ .reg .pred p;\n"
                     "L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
                     "@!p bra L; }" :: "r"(b) : "memory");
    }
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *x) {
    __shared__ __align__(16) int s[32];
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" :: "r"(b) : "memory");
        asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 128, [%2];" :: "r"(a), "l"(x), "r"(b) : "memory");
        asm volatile("{ .reg .pred p;\n"
                     "L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
                     "@!p bra L; }" :: "r"(b) : "memory");
    }
}
`,
		},
	},
	{
		Code: CodeMBarrierState, Family: Bugs,
		Title: "a wait names a phase that the mbarrier does not know",
		Text: `A wait needs the state that an arrival at the same object has returned, for the current
phase or the one before, or a parity of 0 or 1 (PTX ISA 9.7.13.15.16). mbarrier.pending_count
needs a state that .noComplete has returned.`,
		Fix: `Keep a state with its object, use it before the next phase is over, and pass the lowest
bit of a phase counter as parity.`,
		Example: Example{
			File: "parity.cu",
			Text: `__global__ void k(int *x) {
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(b) : "memory");
        asm volatile("{ .reg .pred p;\n"
                     "mbarrier.test_wait.parity.shared::cta.b64 p, [%0], %1; }"
                     :: "r"(b), "r"(2) : "memory");
    }
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *x) {
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(b) : "memory");
        asm volatile("{ .reg .pred p;\n"
                     "mbarrier.test_wait.parity.shared::cta.b64 p, [%0], %1; }"
                     :: "r"(b), "r"(0) : "memory");
    }
}
`,
		},
	},
	{
		Code: CodeMBarrierRemote, Family: Bugs,
		Title: "an operation that does not reach the mbarrier of another block",
		Text: `The address of an mbarrier is one of another block of the cluster, and the instruction
reaches those of its own block only: a wait, a test, mbarrier.init and mbarrier.inval never
reach another block, and an arrival, expect_tx or complete_tx needs .shared::cluster
(PTX ISA 9.7.13.15). A bulk copy and st.async signal an mbarrier of the block that they write to.`,
		Fix: `Write .shared::cluster, or let a thread of the other block execute the operation.`,
		Example: Example{
			File: "remote.cu",
			Text: clusterHead + `    if (threadIdx.x == 0 && rank == 1)
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(peer) : "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
`,
			Flags: []string{"--grid", "2", "--block", "32", "--arch", "sm_90"},
		},
		Fixed: Example{
			Text: clusterHead + `    if (threadIdx.x == 0 && rank == 1)
        asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" :: "r"(peer) : "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
`,
		},
	},
	{
		Code: CodePeerNotStarted, Family: Bugs,
		Title: "an access to the shared memory of a block that may not have started",
		Text: `The blocks of a cluster run at the same time, but do not start at the same time. Nothing
that the other block has done comes before this access, so that its shared memory may not
exist yet.`,
		Fix: `Let all threads of the cluster pass its barrier before the first access:
barrier.cluster.arrive and barrier.cluster.wait, or cluster.sync().`,
		Example: Example{
			File: "start.cu",
			Text: `__global__ void __cluster_dims__(2, 1, 1) k(int *x) {
    __shared__ int s;
    unsigned a = (unsigned)__cvta_generic_to_shared(&s), peer, rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"(a), "r"(rank ^ 1));
    if (threadIdx.x == 0)
        asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(peer), "r"(rank) : "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    if (threadIdx.x == 0) x[blockIdx.x] = s;
}
`,
			Flags: []string{"--grid", "2", "--block", "32", "--arch", "sm_90"},
		},
		Fixed: Example{
			Text: `__global__ void __cluster_dims__(2, 1, 1) k(int *x) {
    __shared__ int s;
    unsigned a = (unsigned)__cvta_generic_to_shared(&s), peer, rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"(a), "r"(rank ^ 1));
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    if (threadIdx.x == 0)
        asm volatile("st.shared::cluster.u32 [%0], %1;" :: "r"(peer), "r"(rank) : "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    if (threadIdx.x == 0) x[blockIdx.x] = s;
}
`,
		},
	},
	{
		Code: CodePeerExited, Family: Bugs,
		Title: "an access to the shared memory of a block that may have ended",
		Text: `The shared memory of a block exists until its last thread has ended. No thread of the block
waits for this access, so that the block may end first.`,
		Fix: `Let all threads of the cluster pass its barrier behind the last access. The barrier may be
relaxed if nothing else is to be ordered.`,
		Example: Example{
			File: "end.cu",
			Text: `__global__ void __cluster_dims__(2, 1, 1) k(int *x) {
    __shared__ int s;
    unsigned a = (unsigned)__cvta_generic_to_shared(&s), peer, rank;
    int v;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"(a), "r"(rank ^ 1));
    if (threadIdx.x == 0) s = rank;
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    if (threadIdx.x == 0) {
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(peer) : "memory");
        x[blockIdx.x] = v;
    }
}
`,
			Flags: []string{"--grid", "2", "--block", "32", "--arch", "sm_90"},
		},
		Fixed: Example{
			Text: `__global__ void __cluster_dims__(2, 1, 1) k(int *x) {
    __shared__ int s;
    unsigned a = (unsigned)__cvta_generic_to_shared(&s), peer, rank;
    int v;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(peer) : "r"(a), "r"(rank ^ 1));
    if (threadIdx.x == 0) s = rank;
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    if (threadIdx.x == 0) {
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(peer) : "memory");
        x[blockIdx.x] = v;
    }
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}
`,
		},
	},
	{
		Code: CodeCancelAfterFailure, Family: Bugs,
		Title: "a request to cancel a cluster after one that failed",
		Text: `A block that has read from the answer to clusterlaunchcontrol.try_cancel that its request
failed must not make another one: the behavior is undefined (PTX ISA 9.7.13.17). A request that
fails is no sign to try again. It means that no cluster is left to take over.`,
		Fix: `End the loop over the clusters when query_cancel.is_canceled returns False.`,
		Example: Example{
			File:  "tiles.ptx",
			Text:  cancelKernel("@!%more bra ASK; // again"),
			Flags: []string{"--grid", "1", "--block", "1"},
		},
		Fixed: Example{Text: cancelKernel("@%more bra ASK; // the next tile")},
	},
	{
		Code: CodeBulkAlignment, Family: Bugs,
		Title: "a bulk copy whose size or address is not a multiple of 16",
		Text: `The size of cp.async.bulk and both of its addresses must be multiples of 16 bytes; the
behavior is undefined otherwise (PTX ISA 9.7.9.25.4.1).`,
		Fix: `Align the arrays to 16 bytes and pad the size, or copy the rest with ordinary stores.`,
		Example: Example{
			File: "odd.cu",
			Text: `__global__ void k(int *x) {
    __shared__ __align__(16) int s[32];
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    s[threadIdx.x] = 0;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 120;"
                     :: "l"(x), "r"(a) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *x) {
    __shared__ __align__(16) int s[32];
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    s[threadIdx.x] = 0;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncwarp();
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;"
                     :: "l"(x), "r"(a) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
`,
		},
	},
	{
		Code: CodeAsyncUnfinished, Family: Bugs,
		Title: "no thread waits for an asynchronous operation before the block ends",
		Text: `The last thread of a block has ended, and a bulk copy into its shared memory was never
waited for: it may write to memory that belongs to another block by then. A bulk store whose
source was not waited for is a warning only, since libraries differ in this.`,
		Fix: `Wait for the phase of the mbarrier that counts the copy, or end the thread that issues a
bulk store with cp.async.bulk.wait_group.read 0.`,
		Example: Example{
			File: "left.cu",
			Text: `__global__ void k(int *x) {
    __shared__ __align__(16) int s[32];
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" :: "r"(b) : "memory");
        asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 128, [%2];" :: "r"(a), "l"(x), "r"(b) : "memory");
    }
}
`,
			Flags: []string{"--grid", "1", "--block", "32"},
		},
		Fixed: Example{
			Text: `__global__ void k(int *x) {
    __shared__ __align__(16) int s[32];
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 128;" :: "r"(b) : "memory");
        asm volatile("cp.async.bulk.shared::cta.global.mbarrier::complete_tx::bytes "
                     "[%0], [%1], 128, [%2];" :: "r"(a), "l"(x), "r"(b) : "memory");
        asm volatile("{ .reg .pred p;\n"
                     "L: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
                     "@!p bra L; }" :: "r"(b) : "memory");
    }
}
`,
		},
	},
}

// clusterHead begins the examples of a remote mbarrier.
const clusterHead = `__global__ void __cluster_dims__(2, 1, 1) k(int *x) {
    __shared__ unsigned long long bar;
    unsigned b = (unsigned)__cvta_generic_to_shared(&bar), peer, rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm volatile("mapa.shared::cluster.u32 %0, %1, 0;" : "=r"(peer) : "r"(b));
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" :: "r"(b) : "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
`

// cancelKernel is an example in which a block asks for the tiles of others.
func cancelKernel(again string) string {
	return `.version 8.8
.target sm_100a
.address_size 64
.shared .align 16 .b8 answer[16];
.shared .align 8 .b64 full;

.visible .entry k()
{
	.reg .pred %complete, %more;
	.reg .b32 %parity;
	.reg .b128 %q;
	mbarrier.init.shared.b64 [full], 1;
	mov.u32 %parity, 0;
ASK:
	mbarrier.arrive.expect_tx.shared.b64 _, [full], 16;
	clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128
		[answer], [full];
WAIT:
	mbarrier.try_wait.parity.shared.b64 %complete, [full], %parity;
	@!%complete bra WAIT;
	ld.shared.b128 %q, [answer];
	clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 %more, %q;
	xor.b32 %parity, %parity, 1;
	fence.proxy.async.shared::cta;
	` + again + `
	ret;
}
`
}
