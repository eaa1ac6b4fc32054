package diag

var proxyDocs = []Doc{
	{
		Code: CodeRaceProxy, Family: Bugs,
		Title: "no proxy fence lies between an ordinary access and a bulk operation",
		Text: `Bulk copies (cp.async.bulk, TMA) access memory through the async proxy, loads and stores
through the generic proxy. A barrier orders accesses of one proxy only: between an ordinary
access and a later bulk operation on the same bytes there must also be a fence.proxy.async (PTX
ISA 8.6, 8.9.5, 9.7.13.4; CUDA C++ Programming Guide, "Asynchronous Data Copies"). Without it, a
bulk store may copy what the bytes held before they were written, and a bulk load may overwrite
bytes that are still being read. The other direction needs no fence: the completion of a bulk
operation is one. Matrix operations of a warpgroup (wgmma) read their operands through the async
proxy, too.

Copies of tensors read their tensor map through a third proxy. Between a write of a map in global
memory and a copy that uses it there must be a pair of fences: one that releases the map
(fence.proxy.tensormap::generic.release or tensormap.cp_fenceproxy) and, in the block of the copy,
one that acquires it (fence.proxy.tensormap::generic.acquire). If an earlier launch has changed the
map, each block that uses it needs the acquire, of scope .gpu or .sys.`,
		Fix: `Let each thread execute fence.proxy.async (cuda::ptx::fence_proxy_async) behind its
accesses and in front of the barrier, or of its arrival at the mbarrier. For a tensor map, execute
the release fence behind the change and the acquire fence in front of the copy.`,
		Example: Example{
			File: "store.cu",
			Text: `__global__ void k(int *x) {
    __shared__ __align__(16) int s[32];
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    s[threadIdx.x] = threadIdx.x;
    __syncwarp(); // orders the stores, but not for the async proxy
    if (threadIdx.x == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;"
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
    s[threadIdx.x] = threadIdx.x;
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
		Code: CodeProxyFenceLate, Family: Bugs,
		Title: "the proxy fence is executed by another thread than the access",
		Text: `A proxy fence lies between an ordinary access and a bulk operation, but the thread that
issues the operation has executed it, behind the barrier, and not the thread that made the
access. The model of proxies accepts that, since the fence is on the way (PTX ISA 8.9.5). The
CUDA C++ Programming Guide describes the other order, with a fence by each thread in front of the
barrier, and libraries were changed to it. This is a warning.`,
		Fix: `Execute fence.proxy.async in every thread that made an access, in front of the barrier.`,
		Example: Example{
			File: "late.cu",
			Text: `__global__ void k(int *x) {
    __shared__ __align__(16) int s[32];
    unsigned a = (unsigned)__cvta_generic_to_shared(s);
    s[threadIdx.x] = threadIdx.x;
    __syncwarp();
    if (threadIdx.x == 0) {
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory"); // behind the barrier
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 128;"
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
    s[threadIdx.x] = threadIdx.x;
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
}
