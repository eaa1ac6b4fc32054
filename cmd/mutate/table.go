package main

import (
	"fmt"
	"io"
	"text/tabwriter"

	"heddle/internal/testing/mutate"
)

// What becomes of a mutant.
const (
	killed     = "killed"
	survived   = "survived"
	notReached = "not reached" // no test evaluates the condition
)

// An outcome is what became of one mutant.
type outcome struct {
	what string
	by   string // the test that fails, if it was killed
}

// detail returns the test that killed the mutant, for the end of a line.
func (o outcome) detail() string {
	if o.by == "" {
		return ""
	}
	return " (" + o.by + ")"
}

// A result sums up the mutants of a group.
type result struct {
	name                        string
	mutants, killed, notReached int
	survivors                   []*mutate.Mutant // with those that no test reaches
}

// add counts one mutant.
func (r *result) add(o outcome, m *mutate.Mutant) {
	switch o.what {
	case killed:
		r.killed++
		return
	case notReached:
		r.notReached++
	}
	r.survivors = append(r.survivors, m)
}

// percent returns how many of 100 mutants are killed; 100 if there are no mutants.
func (r *result) percent() float64 {
	if r.mutants == 0 {
		return 100
	}
	return 100 * float64(r.killed) / float64(r.mutants)
}

// printTable prints one line for each group, and its survivors below.
func printTable(w io.Writer, results []result) {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(tw, "group\tmutants\tkilled\tpercent\tsurvived\tnot reached\t")
	for _, r := range results {
		fmt.Fprintf(tw, "%s\t%d\t%d\t%.0f\t%d\t%d\t\n", r.name, r.mutants, r.killed, r.percent(),
			len(r.survivors)-r.notReached, r.notReached)
	}
	tw.Flush()
	for _, r := range results {
		for _, m := range r.survivors {
			fmt.Fprintf(w, "\n%s:%d:%d\n  %s\n", m.File, m.Line, m.Column, m.Key())
		}
	}
}
