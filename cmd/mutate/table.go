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

// A result sums up the mutants of a group.
type result struct {
	name                        string
	mutants, killed, notReached int
	survivors                   []*mutate.Mutant // with those that no test reaches
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
