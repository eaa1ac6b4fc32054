package diag

// The definitions of the verdicts. The engines and package check decide between them;
// VerdictKind has the short form.
var verdictTerms = []Term{
	{
		Name: "verified", Group: VerdictTerms,
		Title: "proved for all inputs within the scope that the line states",
		Text: `For every input, every thread and every schedule within the stated scope, the kernel
has no data race, no barrier diverges, no warp hangs at an operation of its lanes, no access is
outside an array that the kernel declares ({--bounds}: nor outside a buffer of known size), and its
annotations hold, provided the listed assumptions hold. What the line names after "apart from" is
excepted. The scope depends on the command: {heddle verify} and {heddle check} cover all inputs of a
launch shape, shared and global memory; {heddle trace} covers deadlock, barrier recycling and
shared memory of a block, as one array. {heddle run} never verifies. A kernel with a finding that a
comment or a baseline covers is never verified.

What to do: read the assumptions ({-v} lists them) and decide whether your launches satisfy
them.`,
		See: []string{"assumption", "launch shape", "clean"},
	},
	{
		Name: "clean", Group: VerdictTerms,
		Title: "nothing was found in what was executed, and nothing was proved",
		Text: `The runs that the line describes (this launch, these inputs, these schedules) were
executed to their end without a finding. Other launches, inputs or schedules may have bugs.
{heddle check} adds why there is no proof. A trace is clean and not verified if it tolerated
writes of the same value, which it observed and did not prove. A proof that holds only for guessed
scalar arguments does not count: the verdict stays clean.

What to do: try other launches, {--arg in=random} and {--seeds 20}; state what the kernel
assumes ({__requires}); give scalar arguments.`,
		See: []string{"verified", "seed", "guess"},
	},
	{
		Name: "bug", Group: VerdictTerms,
		Title: "at least one error in the kernel was found",
		Text: `A finding with a code of the group "bugs in the kernel" counts: it was observed in an
emulated run or in a trace, or it is the counterexample of a proof that a run confirmed. The
report has a command that shows it again. Findings that a comment, a baseline or an older revision
covers do not count.

What to do: repair it. {heddle explain CODE} describes the kind; {heddle sync} and {heddle
fix} propose patches.`,
		See: []string{"finding", "observed", "confirmed"},
	},
	{
		Name: "unknown", Group: VerdictTerms,
		Title: "heddle could not decide whether the kernel has a bug",
		Text: `No bug was found, and what was examined does not cover the launch. The line gives the
reason, which is one of these. A run ended early: the step budget or the memory was used up, every
remaining thread only spun, the run was interrupted or {--total-timeout} was reached, a suppressed
finding ended it, or {__requires} or {__assume} is false for the input.
A proof is undecided: time or steps ran out, no solver decided, there is a counterexample that no
replay confirmed and that may be spurious, assumptions contradict each other, or only a bounded
number of iterations was examined ({--unwind}). A trace found races on paths that no run took. All
findings of {heddle check} rest on guesses about the launch. If the runs of {heddle check} found
nothing and only its proof is undecided, the verdict is clean, and the line says why.

What to do: the reason names what to change: {--max-steps}, {--memory}, {--timeout}, an installed z3, an
annotation, or the launch.`,
		See: []string{"step budget", "counterexample", "guess", "replay"},
	},
	{
		Name: "unsupported", Group: VerdictTerms,
		Title: "the kernel uses something that this engine does not model",
		Text: `The line names the construct and its place: an instruction that is not executed, a
call without a body, machine code without PTX, a kernel that does not compile, or (in runs and
traces) a branch, an address or a barrier that depends on an unknown value. What was found before
that place is reported. In {heddle check} a kernel whose proof is unsupported stays clean, and the
line says so.

What to do: docs/support.md lists what is supported; another engine, or {--arg} for an unknown
value, may decide.`,
		See: []string{"unknown value", "clean"},
	},
}
