package fix

import (
	"context"
	"errors"

	"heddle/internal/repair"
)

// search looks for a repair of the kernel: a placement of barriers, else what package repair finds.
// A proof counts more than runs without a finding.
func (x *kernelFix) search(ctx context.Context, p *parsed) error {
	x.judge = newJudge(x.fixer, x.kernel.Func)
	before, err := x.judge.Judge(ctx, x.text, true)
	x.result = &repair.Result{Before: before, Judged: 1}
	switch {
	case err != nil:
		return err
	case before.Grade == repair.Unknown && x.judge.suspect != nil:
		return x.secure(ctx, p)
	case before.Grade != repair.Buggy:
		return nil
	case len(x.opt.Only) > 0:
		return x.searchOnly(ctx, p)
	}
	// The places of PTX are finer than those of its label tree.
	first, second := x.place, x.searchPTX
	if x.source == nil {
		first, second = second, first
	}
	for _, ask := range []func(context.Context, *parsed) error{first, second} {
		if err := ask(ctx, p); errors.Is(err, errLimit) {
			x.result.Reason = err.Error()
		} else if err != nil {
			return err
		}
		if x.found() {
			break
		}
	}
	x.texts, x.ran = 0, 0 // what was found is still judged
	return x.choose(ctx)
}

// secure repairs a kernel of which only a race is known that rests on contents of memory, or on
// arguments that no host code names, which heddle guessed. No run shows that the user's data has it,
// so nothing is tried; but a placement with which the kernel is proved right for all of them is worth
// its barriers.
func (x *kernelFix) secure(ctx context.Context, p *parsed) error {
	if err := x.place(ctx, p); err != nil {
		return err
	}
	if x.placed.grade() != repair.Verified {
		x.placed = nil
		return nil
	}
	x.judge.witnesses = append(x.judge.witnesses, *x.judge.suspect)
	x.out.Notes = append(x.out.Notes, x.result.Before.Reason)
	return nil
}

// found reports whether a verified repair was found.
func (x *kernelFix) found() bool {
	return x.placed.grade() == repair.Verified ||
		x.result.Patch != nil && x.result.After.Grade == repair.Verified
}

// choose drops the placement if it repairs the kernel no better than the result of package repair.
// Without any repair of all findings it looks for one of some.
func (x *kernelFix) choose(ctx context.Context) error {
	grade := x.placed.grade()
	switch {
	case x.placed == nil:
	case x.result.Patch != nil && x.result.After.Grade >= grade:
		x.placed = nil
	case grade < repair.Clean:
		return x.partly(ctx)
	}
	return nil
}

// searchPTX looks for a repair in the PTX, and if there is none, for one with copies of the
// functions that the kernel calls. Copies come second because the repair then exists in the PTX
// only.
func (x *kernelFix) searchPTX(ctx context.Context, p *parsed) error {
	opt := repair.Options{Atomic: x.opt.Atomic}
	found, err := repair.Repair(ctx, x.kernel, x.judge, opt)
	if err != nil {
		return err
	}
	if x.result = found; found.Reason == "" {
		return nil
	}
	switch c, why := x.repairCalls(ctx, p); {
	case c != nil && c.result.Patch == nil:
		x.result.Reason = c.result.Reason // which knows where in the function it is
	case c != nil:
		c.judge.spent += x.judge.spent
		x.attempt = *c
	case why != "":
		x.out.Notes = append(x.out.Notes,
			"heddle could not repair copies of the functions that it calls: "+why)
	}
	return nil
}
