package diag

var barrierTerms = []Term{
	{
		Name: "barrier", Group: BarrierTerms,
		Alias: []string{"block barrier", "__syncthreads", "bar.sync"},
		Title: "a point that no thread passes before all participants have reached it",
		Text: `{__syncthreads()} is the barrier of all threads of a block. Everything before it, in
all participants, happens before everything after it.`,
		See: []string{"named barrier", "warp barrier", "barrier interval", "barrier divergence"},
	},
	{
		Name: "barrier interval", Group: BarrierTerms,
		Alias: []string{"interval"},
		Title: "the time between two barriers of all threads of a block",
		Text: `Interval 0 is before the first block barrier, interval n after the n-th. Two accesses
of different threads in one interval are not ordered by a block barrier. A report of a race names
the interval: a barrier that separates the two accesses is missing within it.`,
		See: []string{"barrier", "race"},
	},
	{
		Name: "named barrier", Group: BarrierTerms,
		Alias: []string{"counted barrier", "bar.arrive"},
		Title: "one of 16 numbered barriers of a block that some of its threads use",
		Text: `A thread registers with {bar.sync} (and waits) or {bar.arrive} (and continues), and
names how many threads take part. Warp-specialized kernels use them. {heddle trace} decides such
kernels for all inputs.`,
		See: []string{"generation", "recycling", "trace"},
	},
	{
		Name: "generation", Group: BarrierTerms,
		Alias: []string{"dynamic barrier"},
		Title: "one completion of a barrier: the registrations that complete it together",
		Text: `A barrier starts its next generation as soon as one is complete. If the same
registrations form each generation in all executions, the block is well-synchronized.`,
		See: []string{"recycling", "named barrier"},
	},
	{
		Name: "mbarrier", Group: BarrierTerms,
		Alias: []string{"phase", "arrival"},
		Title: "a barrier that is an object in shared memory",
		Text: `It expects a number of arrivals in each phase, and the bytes that threads announce
with {expect_tx} and bulk copies complete. Threads wait for a phase by a state that an arrival has
returned, or by parity: the lowest bit of its number.`,
		See: []string{"bulk copy", "deadlock", "mbarrier-tx-mismatch"},
	},
	{
		Name: "recycling", Group: BarrierTerms,
		Alias: []string{"barrier recycling", "unsafe reuse"},
		Title: "using a barrier again for its next generation",
		Text: `It is safe only if each thread that registers for the next generation does so after
the previous one is over. Otherwise the thread may take part in the previous generation in another
execution, and which threads synchronize with each other depends on timing.`,
		See: []string{"generation", "barrier-recycling"},
	},
	{
		Name: "barrier divergence", Group: BarrierTerms,
		Alias: []string{"divergence"},
		Title: "some threads of a block reach a barrier that others do not reach",
		Text: `All threads of a block must execute the same block barrier, in the same iteration (PTX
ISA 9.7.13.1). A thread that has returned counts as not reaching it: hardware goes on, and the
program is wrong.`,
		See: []string{"barrier-divergence", "deadlock"},
	},
	{
		Name: "deadlock", Group: BarrierTerms,
		Alias: []string{"hang"},
		Title: "threads wait at barriers that no remaining thread can complete",
		Text: `The report lists which threads wait where. A loop that spins on memory is not
recognized as a deadlock: it ends by the step budget, as unknown. Loops around a wait for an
mbarrier are recognized.`,
		See: []string{"barrier-deadlock", "step budget"},
	},
	{
		Name: "warp barrier", Group: BarrierTerms,
		Alias: []string{"__syncwarp", "bar.warp.sync", "full mask", "mask"},
		Title: "a barrier of the lanes of a warp that its mask names",
		Text: `{__syncwarp()} orders the lanes of its mask. Shuffles, votes and matches wait for the
lanes of their mask but order no memory.`,
		See: []string{"warp", "warp-sync-hang"},
	},
	{
		Name: "grid barrier", Group: BarrierTerms,
		Alias: []string{"grid.sync", "cooperative groups"},
		Title: "a barrier of all threads of all blocks",
		Text: `{grid.sync()} of cooperative groups. heddle's header implements it with an atomic
counter; proofs treat it as a barrier.`,
		See: []string{"barrier"},
	},
}
