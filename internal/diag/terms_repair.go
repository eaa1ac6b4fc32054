package diag

var repairTerms = []Term{
	{
		Name: "oracle", Group: RepairTerms,
		Alias: []string{"judge", "static oracle", "dynamic oracle"},
		Title: "what heddle sync asks whether a placement of barriers is right",
		Text: `{static}: a proof for all inputs of the launch shape. {dynamic}: runs of one launch.
{both}: a proof, and runs. A placement is right as far as its oracle can say.`,
		See: []string{"placement", "proof"},
	},
	{
		Name: "placement", Group: RepairTerms,
		Alias: []string{"barrier placement"},
		Title: "a set of places at which a kernel has barriers",
		Text: `heddle sync searches the cheapest one for which the oracle finds no race and no
divergence.`,
		See: []string{"oracle", "placement cost", "minimal"},
	},
	{
		Name: "placement cost", Group: RepairTerms,
		Alias: []string{"cost", "cost model"},
		Title: "an estimate of how often barriers are executed",
		Text: `Each loop around a barrier counts 100 times and each condition half ({--loop-cost},
{--cond-cost}); a barrier of a warp costs a tenth. {--cost measured} counts in a run of the launch
instead.`,
		See: []string{"placement", "minimal"},
	},
	{
		Name: "minimal", Group: RepairTerms,
		Alias: []string{"optimal", "least", "the least"},
		Title: "no right placement costs less, as far as the oracle and the cost model say",
		Text: `docs/theory/placement.md has the proof. Without the word, something cheaper may be
right too.`,
		See: []string{"placement cost", "oracle"},
	},
	{
		Name: "redundant barrier", Group: RepairTerms,
		Alias: []string{"redundant"},
		Title: "a barrier without which the kernel is proved right",
		Text: `Only kernels without atomic or volatile accesses have redundant barriers: elsewhere a
barrier may decide what they read.`,
		See: []string{"placement"},
	},
	{
		Name: "fingerprint", Group: RepairTerms,
		Title: "a name of a finding that does not change when lines move",
		Text: `A hash of the code, the kernel and the text of the lines involved. docs/ci.md has the
details.`,
		See: []string{"baseline", "finding"},
	},
	{
		Name: "baseline", Group: RepairTerms,
		Alias: []string{"known finding", "known"},
		Title: "a file of findings that are accepted for now",
		Text: `{--baseline FILE} leaves them out and reports what is new; {--new-from REV} does the
same against a git revision. A known finding makes no kernel clean that it would not be.`,
		See: []string{"fingerprint", "suppression"},
	},
	{
		Name: "suppression", Group: RepairTerms,
		Alias: []string{"heddle:ignore", "suppressed"},
		Title: "a comment in the source that accepts a finding, with a reason",
		Text: `{// heddle:ignore CODE reason} covers findings at its line, or alone in a line those
at the next.`,
		See: []string{"baseline"},
	},
}
