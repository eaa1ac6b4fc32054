package fix

import (
	"context"
	"fmt"
	"slices"

	"heddle/internal/driver"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/repair"
	"heddle/internal/verify"
)

// A kernel that cannot be repaired as a whole may have findings that can. A placement that leaves
// some of them is shown if the static engine has fewer findings in the patched text than before, none
// of them new, and if a run showed one that no longer occurs. The rest is named with its reason.

// open is a pair of instructions that a proof leaves open, by their numbers in the kernel without
// its barriers, which a placement does not change.
type open struct {
	kind   verify.Kind
	a, b   int
	across bool // the threads are of different blocks
}

// grade is the grade of a placement that was judged.
func (p *placed) grade() repair.Grade {
	if p == nil || p.form.after == nil {
		return repair.Buggy
	}
	return p.form.after.Grade
}

// partly decides whether the placement is a repair of some findings, and drops it if it is not.
func (x *kernelFix) partly(ctx context.Context) error {
	if x.placed.form.after == nil {
		if err := x.judgePlaced(ctx); err != nil || x.placed == nil {
			return err
		}
	}
	p := x.placed
	x.placed = nil
	before, ops, err := x.judge.open(ctx, x.text)
	if err != nil || ops == nil {
		return err
	}
	after, same, err := x.judge.open(ctx, p.form.ptx)
	if err != nil || !slices.Equal(ops, same) {
		return err
	}
	fresh := func(o open) bool { return !slices.Contains(before, o) }
	if slices.ContainsFunc(after, fresh) || !x.shownGone(after) {
		return nil
	}
	p.remaining = append(p.remaining, p.stuck...)
	for _, o := range after {
		text := x.openText(o)
		if text != "" && !slices.Contains(p.remaining, text) {
			p.remaining = append(p.remaining, text)
		}
	}
	if len(x.opt.Only) > 0 && len(after) > 0 {
		p.remaining = append(p.remaining, "the findings that are not selected")
	}
	if len(p.remaining) > 0 {
		x.placed = p
	}
	return nil
}

// shownGone reports whether a race that a run of the original showed is none of these.
func (x *kernelFix) shownGone(after []open) bool {
	number := numbers(x.kernel.Func)
	at := map[int]int{}
	for in, n := range number {
		at[offsetOf(x.kernel.File, in)] = n
	}
	for _, f := range x.result.Before.Shown() {
		a, okA := at[f.A]
		b, okB := at[f.B]
		same := func(o open) bool {
			return o.kind == verify.Race && (o.a == a && o.b == b || o.a == b && o.b == a)
		}
		if f.Kind == repair.Race && okA && okB && !slices.ContainsFunc(after, same) {
			return true
		}
	}
	return false
}

// openText describes a finding that no placement of barriers can repair; empty for a race within a
// block, which the engine has described.
func (x *kernelFix) openText(o open) string {
	place := func(n int) string {
		for in, m := range numbers(x.k) {
			if m == n {
				return x.d.Files().Format(driver.Place(in).Start)
			}
		}
		return "the end of the kernel"
	}
	switch {
	case o.kind == verify.Divergence:
		return "not all threads of the block reach a barrier"
	case o.across:
		return fmt.Sprintf("the accesses at %s and %s: threads of different blocks race, "+
			"and a block barrier does not order them", place(o.a), place(o.b))
	}
	return ""
}

// numbers are those of the instructions of a kernel without its barriers.
func numbers(k *ir.Func) map[*ir.Instr]int {
	out := map[*ir.Instr]int{}
	for _, b := range k.Blocks {
		for _, in := range b.Instrs {
			if in.Row == nil || in.Row.Category != isa.Barrier {
				out[in] = len(out)
			}
		}
	}
	return out
}

// races returns what a proof of a kernel leaves open, for the arguments that its launches give.
func (j *judge) races(ctx context.Context, k *ir.Func) []verify.Finding {
	var out []verify.Finding
	outlooks := j.f.outlooks(k)
	for _, host := range j.hosts {
		cfg, errs := launch.Resolve(k, j.request(host), j.f.in.Facts)
		if len(errs) > 0 {
			continue
		}
		pr := j.f.prover.Proof(j.f.d.Job(j.f.in, k), cfg)
		pr.Fixed, pr.Steps = pr.Scalars(outlooks[len(outlooks)-1]), proofSteps
		if r, _ := pr.Verify(ctx, 0); r != nil {
			out = append(out, r.Findings...)
		}
	}
	return out
}

// open returns what a proof of a text leaves open, for the arguments that the launch gives, and the
// operations of the kernel without its barriers, by number; nil if there is no answer.
func (j *judge) open(ctx context.Context, text []byte) ([]open, []string, error) {
	p, err := parseKernel(j.f.in.Lowered.Name, j.kernel, text)
	if err != nil {
		return nil, nil, err
	}
	number := numbers(p.kernel)
	ops := make([]string, len(number))
	for in, n := range number {
		ops[n] = in.Op()
	}
	of := func(in *ir.Instr) int {
		if n, ok := number[in]; ok {
			return n
		}
		return -1
	}
	var out []open
	outlooks := j.f.outlooks(p.kernel)
	for _, host := range j.hosts {
		cfg, errs := launch.Resolve(p.kernel, j.request(host), j.f.in.Facts)
		if len(errs) > 0 {
			return nil, nil, nil
		}
		pr := j.f.prover.Proof(j.f.d.Job(j.f.in, p.kernel), cfg)
		pr.Fixed, pr.Steps = pr.Scalars(outlooks[len(outlooks)-1]), proofSteps
		r, _ := pr.Verify(ctx, 0)
		if r == nil {
			return nil, nil, ctx.Err()
		}
		for i := range r.Findings {
			f := &r.Findings[i]
			o := open{f.Kind, min(of(f.A), of(f.B)), max(of(f.A), of(f.B)), f.OtherBlock}
			if !slices.Contains(out, o) {
				out = append(out, o)
			}
		}
	}
	return out, ops, nil
}
