package diag

var raceTerms = []Term{
	{
		Name: "race", Group: RaceTerms,
		Alias: []string{"data race", "hazard"},
		Title: "two conflicting accesses that nothing orders",
		Text: `Two accesses conflict if they touch a common byte, at least one of them writes, and
they are not morally strong. They race if neither happens before the other. Which one came first
in a run does not matter. A report numbers them (1) and (2) in the order
of the program, where that is known, and else in that of the run.`,
		See: []string{"conflict", "happens-before", "morally strong", "race-shared", "race-global"},
	},
	{
		Name: "conflict", Group: RaceTerms,
		Alias: []string{"conflicting accesses"},
		Title: "two accesses to common bytes, at least one a write, not morally strong",
		Text: `The definition of PTX ISA 8.7.1. A report counts the conflicting accesses that it
represents: the pairs of a thread and a location at the same two source places.`,
		See: []string{"race", "morally strong"},
	},
	{
		Name: "read-write", Group: RaceTerms,
		Alias: []string{"write-write", "atomic-plain", "write-read", "race kind"},
		Title: "the kind of a race: what the two accesses do",
		Text: `{read-write}: one reads and one writes. {write-write}: both write. {atomic-plain}: one
is an atomic operation and the other is not; the atomic does not protect an ordinary access.`,
		See: []string{"race"},
	},
	{
		Name: "race level", Group: RaceTerms,
		Alias: []string{"level", "intra-warp", "intra-block", "inter-block", "branch-ordering"},
		Title: "how far apart the two threads of a race are",
		Text: `{intra-warp}: lanes of one warp; {__syncwarp()} orders them. {intra-block}: threads of
one block in different warps; {__syncthreads()} orders them. {inter-block}: threads of different
blocks; only atomics with fences, a grid barrier or the end of the kernel orders them.
{branch-ordering}: lanes of one warp on different sides of a branch, which nothing orders even in
lock step.`,
		See: []string{"warp", "lock step", "race-branch-order"},
	},
	{
		Name: "happens-before", Group: RaceTerms,
		Alias: []string{"ordered", "synchronization order"},
		Title: "the order of accesses that synchronization guarantees",
		Text: `The transitive closure of the order of each thread's own operations, of barriers, of
warp barriers, and of release and acquire patterns. Two conflicting accesses that it does not
order race, in whatever sequence they were executed. docs/theory/happens-before.md has the exact
rules.`,
		See: []string{"race", "barrier", "release and acquire", "epoch"},
	},
	{
		Name: "release and acquire", Group: RaceTerms,
		Alias: []string{"release", "acquire", "fence", "release pattern", "acquire pattern"},
		Title: "a write and a read that carry order from one thread to another",
		Text: `A thread writes data, executes a fence, and writes a flag; another reads the flag's
new value, executes a fence, and reads the data. The accesses to the flag must be strong (atomic,
volatile or relaxed) and both scopes must include the other thread (PTX ISA 8.8). A fence alone
orders nothing.`,
		See: []string{"scope", "morally strong"},
	},
	{
		Name: "morally strong", Group: RaceTerms,
		Alias: []string{"strong", "weak", "moral strength"},
		Title: "two accesses that may be unordered without being a race",
		Text: `Both are strong (atomic, volatile, relaxed, acquire or release), the scope of each
includes the thread of the other, both use the same path to memory, and they access exactly the
same bytes (PTX ISA 8.7). An ordinary load or store is weak and never morally strong.`,
		See: []string{"scope", "conflict", "proxy"},
	},
	{
		Name: "scope", Group: RaceTerms,
		Alias: []string{"memory scope", "cta", "gpu", "sys"},
		Title: "the set of threads for which a fence or a strong access takes effect",
		Text: `{.cta}: the block. {.cluster}: the blocks of a cluster. {.gpu}: the grid. {.sys}:
everything. {__threadfence_block()} has the scope of the block, {__threadfence()} that of the GPU.
A scope that does not include the other thread orders nothing for it. The scope of a verdict is
something else: what the verdict covers.`,
		See: []string{"release and acquire", "morally strong", "verdict scope"},
	},
	{
		Name: "proxy", Group: RaceTerms,
		Alias: []string{"non-coherent", "proxies"},
		Title: "a path by which an access reaches memory",
		Text: `Ordinary accesses use the generic proxy. {ld.global.nc} ({__ldg}) reads through
another one, which no barrier and no fence keeps coherent with writes of the same kernel (PTX ISA
8.6). Bulk copies use the async proxy: a proxy fence joins it to the generic one. Copies of tensors
read their tensor map through a third one, which has fences of its own.`,
		See: []string{"race-noncoherent", "proxy fence"},
	},
	{
		Name: "proxy fence", Group: RaceTerms,
		Alias: []string{"fence.proxy.async"},
		Title: "a fence that orders ordinary accesses before bulk copies",
		Text: `A barrier orders accesses through one proxy. Between an ordinary access and a later
bulk copy on the same bytes, a {fence.proxy.async} must lie on the way, best in each thread that made
an access and in front of the barrier. The completion of a bulk copy is such a fence itself.`,
		See: []string{"proxy", "bulk copy", "race-proxy"},
	},
	{
		Name: "benign race", Group: RaceTerms,
		Alias: []string{"benign", "tolerated"},
		Title: "writes of one value to one place, which are tolerated",
		Text: `The order of two writes of the same value does not change what memory holds. By
default heddle tolerates them between the lanes of one instruction of a warp; {--benign all}
tolerates them everywhere and {--benign none} reports them. The verdict counts what was tolerated.`,
		See: []string{"race", "clean"},
	},
	{
		Name: "atomic operation", Group: RaceTerms,
		Alias: []string{"atomic", "atomics", "reduction"},
		Title: "a read and a write of one location that no other access separates",
		Text: `{atomicAdd}, {atomicCAS} and the like. Atomics of the same size on the same bytes do
not race with each other if their scopes include both threads. They do not order other accesses,
unless they are part of a release or acquire pattern, and they do not protect a location from
ordinary accesses.`,
		See: []string{"morally strong", "release and acquire", "read-write"},
	},
	{
		Name: "memory space", Group: RaceTerms,
		Alias: []string{"shared memory", "global memory", "local memory", "generic address", "space"},
		Title: "which memory an access refers to: shared, global or local",
		Text: `Shared memory belongs to a block (OpenCL calls it local memory), global memory to the
grid, and local memory in the sense of CUDA to one thread. A generic address may point to any of
them.`,
		See: []string{"race-shared", "race-global"},
	},
	{
		Name: "work-group", Group: RaceTerms,
		Alias: []string{"work-item", "sub-group", "opencl"},
		Title: "OpenCL's word for a block; a work-item is a thread, a sub-group a warp",
		Text:  `Reports use the words of CUDA. {--global} and {--local} take sizes in work-items.`,
		See:   []string{"warp", "launch", "memory space"},
	},
	{
		Name: "warp", Group: RaceTerms,
		Alias: []string{"lane", "lanes"},
		Title: "32 threads of a block with consecutive numbers; each is a lane",
		Text: `A warp issues one instruction for the lanes that are active. Since sm_70 the lanes of
a warp are scheduled independently: nothing orders them but {__syncwarp()} and the other
operations that wait.`,
		See: []string{"lock step", "warp model", "warp barrier"},
	},
	{
		Name: "lock step", Group: RaceTerms,
		Alias: []string{"lockstep"},
		Title: "all active lanes of a warp execute an instruction before the next one",
		Text: `Hardware before sm_70 worked so, and older code relies on it. {--warp lockstep} checks
under this assumption. The same words name the semantics of proofs, in which all threads of a
block execute one statement after the other; this is a method of proof and assumes nothing about
hardware.`,
		See: []string{"warp model", "race level"},
	},
	{
		Name: "warp model", Group: RaceTerms,
		Alias: []string{"independent"},
		Title: "the assumption about the order of lanes: independent or lockstep",
		Text: `{--warp independent}, the default, orders lanes only by synchronization. {--warp
lockstep} orders active lanes after each instruction, but not the two sides of a branch.`,
		See: []string{"warp", "lock step"},
	},
	{
		Name: "epoch", Group: RaceTerms,
		Alias: []string{"vector clock", "clock"},
		Title: "a thread and a value of its clock, which counts its synchronizations",
		Text: `The detector stores an epoch with each access, and for each thread a vector clock: the
last epoch of every other thread that happens before now. An access is ordered if its epoch is
covered.`,
		See: []string{"happens-before"},
	},
	{
		Name: "asynchronous copy", Group: RaceTerms,
		Alias: []string{"cp.async", "memcpy_async"},
		Title: "a copy that may happen at any time until a wait covers it",
		Text: `{cp.async} and the functions built on it return before the data is copied. Until the
thread has waited, the copy is concurrent with everything; after the wait, a barrier publishes it
to other threads.`,
		See: []string{"race-async-copy", "bulk copy"},
	},
	{
		Name: "bulk copy", Group: RaceTerms,
		Alias: []string{"cp.async.bulk", "TMA", "bulk group"},
		Title: "a copy of a piece of memory by a copy engine, which one thread issues",
		Text: `It happens between its issue and the wait for the phase of the mbarrier that counts
its bytes, or, of a copy to global memory, for its bulk group. That wait orders the copy, and not
what its thread did before it.`,
		See: []string{"mbarrier", "proxy fence", "race-async-copy"},
	},
}
