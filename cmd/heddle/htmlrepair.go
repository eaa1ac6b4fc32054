package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"heddle/internal/command/fix"
	"heddle/internal/engine/placement"
	"heddle/internal/report"
)

// withPage creates the report of --html, or returns nil without the flag. The methods of a nil
// report do nothing. The file is created before any work, as in createReport.
func (c *oneFile) withPage(ctx context.Context) (*reportFile, error) {
	if c.html == "" {
		return nil, nil
	}
	return createReport(c.html, c.opt.Files, commandLine(ctx))
}

// addFix adds the repairs of heddle fix to the file name to a report and completes it. printed says
// that the patch is only printed. Good, the green mark, requires that the output that the user
// works with is repaired: a repair in the PTX alone does not count.
func (r *reportFile) addFix(res *fix.Result, name string, printed bool) error {
	if r == nil {
		return nil
	}
	var err error
	for i := range res.Fixes {
		f := &res.Fixes[i]
		why, _, _ := strings.Cut(f.Why, "; the repaired kernel is ") // After says it
		if n := len(f.Wrong); n > 0 {
			why = fmt.Sprintf("before the patch: bug, with %s below; %s", counted(n, "finding"), why)
		}
		one := &report.Repair{Kernel: f.Kernel, Status: f.Status.String(), Why: why, Notes: f.Notes,
			After: &f.After,
			Good:  f.Status == fix.NothingToFix || f.Status == fix.Repaired && f.PTXOnly == ""}
		switch {
		case f.Status == fix.NotRepaired:
			one.Why = "No repair found: " + f.Why
		case f.Status == fix.PartlyRepaired:
			for _, r := range f.Remaining {
				one.Notes = append(one.Notes, "not repaired: "+r)
			}
		case f.PTXOnly != "":
			one.Status += ", but not in the source"
			one.Notes = append(one.Notes, "repaired in the PTX only (--emit ptx), because "+f.PTXOnly)
		case len(f.Edits) > 0:
			one.Notes = append(one.Notes, fmt.Sprintf("the patched source was compiled and checked "+
				"again: %s", f.Source.Kind))
		}
		if f.Status == fix.Repaired || f.Status == fix.PartlyRepaired {
			one.Cost = &report.Cost{Before: f.CostBefore, After: f.CostAfter}
		}
		for _, ch := range f.Changes {
			one.Steps = append(one.Steps, report.Step{Text: ch.Text, At: ch.Span.Start, Why: ch.Why})
		}
		for _, ch := range f.Redundant {
			one.Steps = append(one.Steps, report.Step{Text: ch.Text, At: ch.Span.Start})
		}
		for _, alt := range f.Alternatives {
			other := report.Other{Title: "at the same cost"}
			for _, ch := range alt {
				other.Steps = append(other.Steps, report.Step{Text: ch.Text, At: ch.Span.Start})
			}
			one.Others = append(one.Others, other)
		}
		r.Repair(one)
		for _, wrong := range f.Wrong {
			wrong.Fixes = nil // the page has the patch once
			if f.Status == fix.Repaired && f.PTXOnly == "" {
				err = errors.Join(err, r.Ended(&wrong))
			} else {
				err = errors.Join(err, r.Finding(&wrong))
			}
		}
		after := f.After
		after.Input = cmp.Or(after.Input, name)
		err = errors.Join(err, r.Verdict(&after))
	}
	if printed && res.Diff != "" {
		r.Unapplied()
	}
	if res.User != nil {
		r.Patch(res.User, res.Diff)
	}
	return errors.Join(err, r.Close())
}

// addSync adds the placements of heddle sync to a report and completes it. A kernel is marked good
// by the rule of the exit code. printed says that the patch is only printed. Stuck is copied before
// it grows, because its array belongs to res.
func (r *reportFile) addSync(res *placement.Result, printed bool) error {
	if r == nil {
		return nil
	}
	var err error
	for i := range res.Kernels {
		k := &res.Kernels[i]
		one := &report.Repair{Kernel: k.Kernel, Status: k.Status.String(), After: &k.Verdict,
			Notes: append(k.Stuck[:len(k.Stuck):len(k.Stuck)], syncNotes(k)...),
			Good:  syncExit(&placement.Result{Kernels: res.Kernels[i : i+1]}) == exitClean}
		if k.Status == placement.Unchanged || k.Status == placement.Changed {
			one.Cost = &report.Cost{Before: k.Before, After: k.After, Least: k.Optimal,
				By: fmt.Sprintf("%d oracle calls: %s", k.Calls, k.Oracle)}
		}
		for j := range k.Barriers {
			b := &k.Barriers[j]
			one.Steps = append(one.Steps, report.Step{Text: barrierSays(b), At: b.At,
				Why: barrierReasons(b)})
		}
		r.Repair(one)
		err = errors.Join(err, r.Verdict(&k.Verdict))
	}
	if printed && len(res.Edits) > 0 {
		r.Unapplied()
	}
	return errors.Join(err, r.Edits(res.Edits), r.Close())
}

// barrierSays returns one line about a barrier of the result: whether it was inserted, kept or
// removed, and its place. Both the text and the HTML report print it.
func barrierSays(b *placement.Barrier) string {
	switch {
	case b.Warp && b.Kept:
		return "kept: the warp barrier " + b.Place
	case b.Warp:
		return "added: a warp barrier " + b.Place
	case b.Gone:
		return "not needed: the barrier " + b.Place
	case b.Kept:
		return "kept: the barrier " + b.Place
	}
	return "added: a barrier " + b.Place
}

// syncNotes returns what the user must know beside the barriers: that the placement holds for the
// arguments of this launch only, and races between blocks, which no block barrier can separate.
func syncNotes(k *placement.Kernel) []string {
	var out []string
	if k.Given {
		note := "valid only for the arguments of this launch"
		if len(k.Elsewhere) > 0 {
			note += "; with other arguments: " + k.Elsewhere[0]
		}
		out = append(out, note)
	}
	if len(k.OtherBlocks) > 0 {
		note := fmt.Sprintf("block barriers cannot separate %s, which race between blocks",
			k.OtherBlocks[0])
		if n := len(k.OtherBlocks) - 1; n > 0 {
			note += fmt.Sprintf(", and %d more", n)
		}
		out = append(out, note+"; split the kernel, synchronize the grid (cooperative launch), or use "+
			"atomic operations")
	}
	return out
}
