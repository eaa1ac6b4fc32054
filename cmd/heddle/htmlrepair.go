package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"heddle/internal/command/fix"
	"heddle/internal/command/sync"
	"heddle/internal/report"
)

// withPage writes the report that --html asks for. It is created before anything is done, so that a wrong name is told at once.
func (c *oneFile) withPage(ctx context.Context) (*reportFile, error) {
	if c.html == "" {
		return nil, nil
	}
	return createReport(c.html, c.opt.Files, commandLine(ctx))
}

// addFix says in a report what heddle fix did, and ends it.
func (r *reportFile) addFix(res *fix.Result) error {
	if r == nil {
		return nil
	}
	var err error
	for i := range res.Fixes {
		f := &res.Fixes[i]
		one := &report.Repair{Kernel: f.Kernel, Status: f.Status.String(), Why: f.Why, Notes: f.Notes, After: &f.After,
			Good: f.Status == fix.NothingToFix || f.Status == fix.Repaired && f.PTXOnly == ""}
		switch {
		case f.Status == fix.NotRepaired:
			one.Why = "No repair found: " + f.Why
		case f.PTXOnly != "":
			one.Status += ", but not in the source"
			one.Notes = append(one.Notes, "repaired in the PTX only (--emit ptx), because "+f.PTXOnly)
		case len(f.Edits) > 0:
			one.Notes = append(one.Notes, fmt.Sprintf("the patched and recompiled source is %s and no longer has the findings", f.Source.Kind))
		}
		if f.Status == fix.Repaired {
			one.Cost = &report.Cost{Before: f.CostBefore, After: f.CostAfter}
		}
		for _, ch := range f.Changes {
			one.Steps = append(one.Steps, report.Step{Text: ch.Text, At: ch.Span.Start})
		}
		for _, ch := range f.Redundant {
			one.Steps = append(one.Steps, report.Step{Text: ch.Text, At: ch.Span.Start})
		}
		for _, alt := range f.Alternatives {
			var parts []string
			for _, ch := range alt {
				parts = append(parts, fmt.Sprintf("%s: %s", res.Files.Format(ch.Span.Start), ch.Text))
			}
			one.Notes = append(one.Notes, "alternative at the same cost: "+strings.Join(parts, "; "))
		}
		r.Repair(one)
		for j := range f.Wrong {
			err = errors.Join(err, r.Finding(&f.Wrong[j]))
		}
		err = errors.Join(err, r.Verdict(&f.After))
	}
	if res.User != nil {
		r.Patch(res.User, res.Diff)
	}
	return errors.Join(err, r.Close())
}

// addSync says in a report what heddle sync did, and ends it.
func (r *reportFile) addSync(res *sync.Result) error {
	if r == nil {
		return nil
	}
	var err error
	for i := range res.Kernels {
		k := &res.Kernels[i]
		one := &report.Repair{Kernel: k.Kernel, Status: k.Status.String(), After: &k.Verdict, Notes: append(k.Stuck[:len(k.Stuck):len(k.Stuck)], syncNotes(k)...),
			Good: syncExit(&sync.Result{Kernels: res.Kernels[i : i+1]}) == exitClean}
		if k.Status == sync.Unchanged || k.Status == sync.Changed {
			one.Cost = &report.Cost{Before: k.Before, After: k.After, Least: k.Optimal, By: fmt.Sprintf("%d oracle calls: %s", k.Calls, k.Oracle)}
		}
		for j := range k.Barriers {
			b := &k.Barriers[j]
			one.Steps = append(one.Steps, report.Step{Text: barrierSays(b), At: b.At, Why: b.Why})
		}
		r.Repair(one)
		err = errors.Join(err, r.Verdict(&k.Verdict))
	}
	return errors.Join(err, r.Edits(res.Edits), r.Close())
}

// barrierSays says what becomes of a barrier.
func barrierSays(b *sync.Barrier) string {
	switch {
	case b.Warp:
		return "warp barrier " + b.Place
	case b.Gone:
		return "not needed: barrier " + b.Place
	case b.Kept:
		return "kept: barrier " + b.Place
	}
	return "inserted: barrier " + b.Place
}

// syncNotes are what there is to know of a search beyond its barriers.
func syncNotes(k *sync.Kernel) []string {
	var out []string
	if k.Given {
		note := "valid only for the arguments of this launch"
		if len(k.Elsewhere) > 0 {
			note += "; with other arguments: " + k.Elsewhere[0]
		}
		out = append(out, note)
	}
	if len(k.OtherBlocks) > 0 {
		note := fmt.Sprintf("block barriers cannot separate %s, which race between blocks", k.OtherBlocks[0])
		if n := len(k.OtherBlocks) - 1; n > 0 {
			note += fmt.Sprintf(", and %d more", n)
		}
		out = append(out, note+"; split the kernel, synchronize the grid (cooperative launch), or use atomic operations")
	}
	return out
}
