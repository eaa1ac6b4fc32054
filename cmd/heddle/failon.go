package main

import (
	"github.com/spf13/pflag"

	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
)

// failOnFlag defines the policy for the exit code.
func failOnFlag(fs *pflag.FlagSet, value *driver.FailOn) {
	fs.Var(newParsed(value, driver.ParseFailOn, append([]string{""}, driver.FailOnWords...)...),
		"fail-on", "exit with 1 or 3 for `WHAT`: default (bugs and undecided kernels), error (bugs "+
			"only), warning (bugs and warnings), unknown (bugs, warnings and undecided kernels) or "+
			"never; the output is the same")
}

// exitCode sums up a run under the policy of --fail-on. A bug that was found decides the code even
// if other kernels could not be checked or the run ended early: a script that blocks a merge on
// code 1 must see it. Otherwise anything that was not examined prevents exitClean. No policy hides
// a mistake in the input, and a signal outranks all of it (execute).
func (c *checkCommand) exitCode(sum *check.Summary, early bool) int {
	bug, warning, unknown := sum.Bugs > 0 || c.streamRaces > 0, c.warnings > 0, false
	for _, v := range sum.Verdicts {
		bug = bug || v.Kind == diag.Bug
		warning = warning || len(v.Apart) > 0 // a proof names them without findings of their own
		unknown = unknown || v.Kind == diag.Unknown || v.Kind == diag.Unsupported
	}
	// Nothing was checked and no error explains why: that must not look clean.
	unknown = unknown || len(sum.Verdicts) == 0 && sum.Skipped == 0 && sum.Printed == 0
	policy := c.out.failOn
	switch {
	case bug && policy.Bugs():
		return exitBugs
	case early && policy.Unknown():
		return exitUnknown
	case sum.InputErrors > 0:
		return exitUsage
	case unknown && policy.Unknown(), warning && policy.Warnings():
		return exitUnknown
	}
	return exitClean
}
