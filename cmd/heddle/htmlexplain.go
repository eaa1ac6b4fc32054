package main

import (
	"context"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/placement"
	"heddle/internal/report"
)

// verifiedOf are the kernels with a proof, by their inputs.
type verifiedOf map[string]map[string]bool

// add notes a verdict.
func (v verifiedOf) add(verdict *diag.Verdict) {
	if verdict.Kind != diag.Verified {
		return
	}
	if v[verdict.Input] == nil {
		v[verdict.Input] = map[string]bool{}
	}
	v[verdict.Input][verdict.Kernel] = true
}

// explainVerified adds to the page what the barriers of the verified kernels are for. It is an
// extra: what prevents it leaves the page without it.
func (c *checkCommand) explainVerified(ctx context.Context, inputs []driver.Input) {
	for _, in := range inputs {
		kernels := c.verified[in.Name]
		if len(kernels) == 0 || ctx.Err() != nil {
			continue
		}
		list, err := placement.UsesOfBarriers(ctx, placement.Options{Common: c.opt.Options, Run: c.opt.Run},
			in, func(k string) bool { return kernels[k] }, func(diag.Diagnostic) {})
		if err != nil {
			continue
		}
		for _, e := range list {
			one := &report.Explained{Input: in.Name, Kernel: e.Kernel, Body: e.Body}
			for _, u := range e.Uses {
				one.Barriers = append(one.Barriers, report.Barrier{At: u.At, Text: useLines(u.BarrierUse),
					Idle: u.Need == placement.BarrierRedundant})
			}
			c.page.Explain(one)
		}
	}
}
