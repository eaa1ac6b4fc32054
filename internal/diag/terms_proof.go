package diag

var proofTerms = []Term{
	{
		Name: "proof", Group: ProofTerms,
		Alias: []string{"verify", "static engine", "prover"},
		Title: "an argument, checked by a solver, that covers all inputs of a launch shape",
		Text: `The prover describes one arbitrary thread by formulas, takes two copies of it, and
asks a solver for two threads that race or diverge. If there are none, the kernel is verified.
docs/theory/lock-step.md says why that is enough.`,
		See: []string{"verified", "counterexample", "query"},
	},
	{
		Name: "assumption", Group: ProofTerms,
		Alias: []string{"assuming", "premise"},
		Title: "a condition under which a proof holds and that it does not check",
		Text: `Pointer arguments do not alias, unless the launch says so; accesses stay in arrays of
unknown size; loops end; and what {__requires}, {--assume} and other flags add. {-v} lists the
assumptions of each verdict, and JSON has them as {details}.`,
		See: []string{"verified", "verdict scope"},
	},
	{
		Name: "verdict scope", Group: ProofTerms,
		Alias: []string{"coverage", "covers"},
		Title: "what a verdict covers: launch shape, inputs, runs, assumptions",
		Text: `The text after the kernel's name in the line of a verdict, and the field scope in
JSON. It begins with the launch shape if that is a guess. What it assumes is printed with {-v}.`,
		See: []string{"verified", "clean", "assumption"},
	},
	{
		Name: "counterexample", Group: ProofTerms,
		Alias: []string{"model"},
		Title: "values of a formula with which two threads would race or diverge",
		Text: `It may be spurious: what a proof does not know, such as values of atomics, may be
anything in it. So heddle replays it and reports a bug only if a run shows it.`,
		See: []string{"replay", "unknown"},
	},
	{
		Name: "replay", Group: ProofTerms,
		Title: "a run with the launch and the arguments of a counterexample",
		Text: `The first replay uses the contents of buffers that the counterexample has, others use
further contents. A finding in it makes the verdict a bug.`,
		See: []string{"counterexample", "confirmed"},
	},
	{
		Name: "possible", Group: ProofTerms,
		Alias: []string{"may be spurious"},
		Title: "a counterexample exists, and no run has shown the error",
		Text: `The verdict is unknown. The message names the pair, its threads, iterations and
arguments.`,
		See: []string{"counterexample", "replay", "unknown"},
	},
	{
		Name: "invariant", Group: ProofTerms,
		Alias: []string{"loop invariant", "candidate", "candidate invariant"},
		Title: "a condition that holds at the head of a loop in every iteration",
		Text: `heddle finds most itself: closed forms first, then candidates that rules propose and a
proof selects. {--invariants} lists them, with the reason why each other candidate was dropped.
{__invariant(e)} states one in the source.`,
		See: []string{"closed form", "proof"},
	},
	{
		Name: "closed form", Group: ProofTerms,
		Title: "a formula for a variable of a loop in terms of the iteration number",
		Text:  `For {i = t; i += 64} it is t + 64 k. It is exact and needs no invariant.`,
		See:   []string{"invariant"},
	},
	{
		Name: "uniform", Group: ProofTerms,
		Title: "equal in all threads of a block at the same place and iteration",
		Text:  `A condition that is not uniform can make a barrier behind it diverge.`,
		See:   []string{"barrier divergence"},
	},
	{
		Name: "merge point", Group: ProofTerms,
		Alias: []string{"reconvergence", "postdominator"},
		Title: "the first place that all paths from a branch reach",
		Text: `All threads that reached the branch reach it, so a barrier there does not diverge
because of the branch.`,
		See: []string{"path", "barrier divergence"},
	},
	{
		Name: "path", Group: ProofTerms,
		Title: "a sequence of blocks of the control flow that a thread may execute",
		Text:  `A race on a path is a race of threads whose inputs make them take it.`,
		See:   []string{"merge point"},
	},
	{
		Name: "query", Group: ProofTerms,
		Alias: []string{"solver", "z3", "undecided"},
		Title: "one question to a solver: can this formula be true?",
		Text: `Each pair of accesses and of barriers is one query. The embedded solver is asked
first, then z3 where it is installed. A query that none decides within its steps is undecided, and
the verdict unknown. {--stats} counts them, {--smt-dir} keeps them.`,
		See: []string{"proof", "unknown", "step budget"},
	},
	{
		Name: "trace", Group: ProofTerms,
		Alias: []string{"slice", "command"},
		Title: "one execution of a block that decides its synchronization for all inputs",
		Text: `Only the instructions that decide barriers, shared addresses and branches around them
are executed (the slice), with inputs unknown. If none of them is needed, what holds for this
execution holds for all. docs/theory/traces.md has the proof. The commands of a trace are accesses
to shared memory and registrations at barriers.`,
		See: []string{"named barrier", "generation", "unknown value"},
	},
	{
		Name: "annotation", Group: ProofTerms,
		Alias: []string{"__requires", "__assert", "__assume", "precondition"},
		Title: "a statement of heddle.h about what a kernel assumes or what holds in it",
		Text:  `docs/annotations.md lists them. Other compilers see empty expressions.`,
		See:   []string{"annotation-failed", "outside-assumptions", "invariant"},
	},
	{
		Name: "alias", Group: ProofTerms,
		Alias: []string{"aliasing", "overlap"},
		Title: "two pointer arguments that point into one buffer",
		Text: `Proofs assume that no two do. A launch with {--arg b=alias:a} can be run and traced,
and its proof is unsupported.`,
		See: []string{"assumption", "unsupported"},
	},
	{
		Name: "made-up inputs", Group: ProofTerms,
		Title: "distinct random contents of memory with which a trace is repeated",
		Text: `They show whether a race on a path that depends on unknown values is real, and whether
two racing writes store the same value. What they show is an observation and not a proof.`,
		See: []string{"trace", "benign race"},
	},
	{
		Name: "engine", Group: ProofTerms,
		Title: "one of the three methods to examine a kernel: emulation, trace, proof",
		Text: `{heddle check -v} shows which engines were asked for a kernel, why, and with which
result.`,
		See: []string{"proof", "trace", "observed"},
	},
}
