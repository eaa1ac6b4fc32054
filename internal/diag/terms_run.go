package diag

var runTerms = []Term{
	{
		Name: "launch", Group: RunTerms,
		Alias: []string{"grid", "block", "launch configuration"},
		Title: "the grid, the block, dynamic shared memory and arguments of an execution",
		Text: `Each part is taken from flags, heddle.toml, a comment above the kernel, host code with
constants, or bounds in the PTX; the rest is guessed. Reports state each value with its origin in
parentheses.`,
		See: []string{"guess", "launch shape"},
	},
	{
		Name: "launch shape", Group: RunTerms,
		Alias: []string{"shape"},
		Title: "the grid and the block of a launch, without its arguments",
		Text: `A proof is about one shape and all arguments, unless {--grid '*'} or {--block '*'}
leave sizes open.`,
		See: []string{"launch", "verified"},
	},
	{
		Name: "guess", Group: RunTerms,
		Alias: []string{"guessed", "default launch"},
		Title: "a launch value that nothing specifies and heddle chose",
		Text: `heddle guesses anything that you leave unspecified and marks it in the report. If a
guess decides whether two accesses meet at one address, heddle check reports the finding as a
warning that names the guess, and the verdict is unknown until the launch is specified. Contents of
buffers that heddle chose are guesses as well.`,
		See: []string{"launch", "unknown"},
	},
	{
		Name: "origin", Group: RunTerms,
		Alias: []string{"host code", "flag", "comment", "configuration"},
		Title: "where a launch value comes from, in parentheses behind it",
		Text: `{flag}: the command line. {configuration}: heddle.toml. {comment}: a {// heddle:} line
above the kernel. {host code}: a {<<<...>>>} with constants in the same file. {PTX}: {.reqntid} or
{.maxntid}. {guessed}: heddle chose it. {counterexample}: heddle took it from a failed proof.`,
		See: []string{"launch", "guess"},
	},
	{
		Name: "seed", Group: RunTerms,
		Alias: []string{"schedule", "schedules", "interleaving"},
		Title: "a number that determines the schedule of a run",
		Text: `The emulator chooses which warp executes next from the seed; the same seed gives the same
run on every machine. Most races are found with any schedule. What depends on the order of locks,
flags or atomics may need others: a kernel that synchronizes through memory runs under 4 schedules,
and {--seeds N} runs N. Seed 0 gives random warps short turns, with blocks in the order of their
numbers; seed 1 is the reverse order; higher seeds draw random priorities of warps, which change at
two random points (PCT, Burckhardt et al., ASPLOS 2010). Such a seed finds a mistake that needs d
orders of k synchronizing accesses by n warps with probability 1/(n*k^(d-1)) at least, for d up to
3.`,
		See: []string{"clean", "happens-before"},
	},
	{
		Name: "step budget", Group: RunTerms,
		Alias: []string{"budget", "step limit", "steps"},
		Title: "the number of warp instructions after which a run is ended",
		Text: `{--max-steps} sets it. A run that is cut off did not cover its launch, so its verdict
is unknown. Proofs have a budget of solver steps; {--timeout} replaces it with a time.`,
		See: []string{"step-limit", "unknown"},
	},
	{
		Name: "finding", Group: RunTerms,
		Alias: []string{"code", "diagnostic"},
		Title: "one report about a kernel, with a code, places and a message",
		Text: `A code names a kind of finding and never changes its meaning. Findings at the same two
source places are reported once, with a count.`,
		See: []string{"bug", "fingerprint"},
	},
	{
		Name: "witness", Group: RunTerms,
		Alias: []string{"evidence"},
		Title: "what was seen: launch, seed, threads, operations and bytes of a finding",
		Text: `JSON output has it for each finding. With its launch and seed the finding can be
reproduced.`,
		See: []string{"observed", "confirmed", "seed"},
	},
	{
		Name: "observed", Group: RunTerms,
		Title: "seen in an emulated run",
		Text:  `The finding was reported by the detector in a run of the launch that the report names.`,
		See:   []string{"confirmed", "witness"},
	},
	{
		Name: "confirmed", Group: RunTerms,
		Title: "predicted by a proof attempt and then seen in a run",
		Text:  `A counterexample was replayed with its own arguments, and the run showed the finding.`,
		See:   []string{"counterexample", "replay"},
	},
	{
		Name: "unknown value", Group: RunTerms,
		Alias: []string{"unknown input", "depends on input"},
		Title: "a value that heddle does not have during an execution",
		Text: `Arguments given as {unknown}, what textures hold, and in a trace all arguments and
global memory. It may be computed with and stored. A branch, an address or a barrier that needs it
ends the run or trace as unsupported.`,
		See: []string{"unsupported", "depends-on-input", "trace"},
	},
}
