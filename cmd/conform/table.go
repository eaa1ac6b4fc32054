package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"heddle/internal/lazyregexp"
)

// judgement compares an outcome with the label, or with the expectation of the suite. Words in
// capitals point at a possible bug of heddle. "not found" is no error: a run cannot find every
// defect.
func (o *Outcome) judgement() string {
	// Our own label comes first; it is binding in both directions. The order of the other cases
	// matters: each assumes that those before it did not apply.
	v := o.Result.verdict()
	switch {
	case o.Case.Want != "" && v != o.Case.Want:
		return "disagrees"
	case o.Case.Theirs != "":
		return "agrees with our label, not theirs"
	case o.Case.Want != "":
		return "agrees"
	case v == "failed" && o.Case.Expect == Rejected:
		return "rejected, as expected"
	case v == "failed":
		return "not reached"
	case v == "unknown" || v == "unsupported" || v == "outside":
		return v
	case o.Case.Expect == Rejected:
		return "accepted"
	case o.Case.Except != "" && v == "bug":
		return "exception"
	case o.Case.Except != "" && v == "clean":
		return "exception no longer needed"
	case o.Case.Expect == Pass && v == "bug":
		return "FALSE ALARM?"
	case o.Case.Expect == Pass && v == "other":
		return "other finding"
	case o.Case.Expect == Fail && v == "clean":
		return "not found"
	case o.Case.Expect == Fail && v == "other":
		return "other finding"
	}
	return "agrees"
}

// needsLook reports whether the table lists an outcome without --all.
func (o *Outcome) needsLook() bool {
	switch o.judgement() {
	case "agrees", "rejected, as expected":
		return false
	}
	return true
}

// report prints the outcomes and returns the exit code: 1 if a kernel failed before the engine, if
// a bug is reported in a kernel that should pass, or if a label or exception is out of date.
func (c *choices) report(w io.Writer, list []Outcome) int {
	code := 0
	for i := range list {
		if j := list[i].judgement(); j == "not reached" || j == "FALSE ALARM?" || j == "disagrees" ||
			j == "exception no longer needed" {
			code = 1
		}
	}
	if c.json {
		enc := json.NewEncoder(w)
		for i := range list {
			if err := enc.Encode(list[i].record()); err != nil {
				return 2
			}
		}
		return code
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\texpected\tstage\tverdict\tjudgement\ttime\treason")
	for i := range list {
		o := &list[i]
		if c.all || o.needsLook() {
			fmt.Fprintf(t, "%s\t%v\t%v\t%s\t%s\t%.1fs\t%s\n", o.Case.Name, o.Case.Expect, o.Result.Stage,
				o.Result.verdict(), o.judgement(), o.Result.Seconds, o.remark())
		}
	}
	t.Flush()
	summary(w, list)
	return code
}

// remark returns the reason with the differences of launch and label.
func (o *Outcome) remark() string {
	// A bug found on a smaller launch may not exist on that of the suite, so it is marked.
	parts := []string{clip(o.Result.reason(), 200)}
	if o.Job.Note != "" && o.Result.verdict() == "bug" {
		parts = append(parts, o.Job.Note)
	}
	parts = append(parts, o.Case.WhyNot, o.Case.Except)
	return strings.TrimSpace(strings.Join(slices.DeleteFunc(parts,
		func(s string) bool { return s == "" }), "; "))
}

// clip returns a text on one line, cut to n characters.
func clip(s string, n int) string {
	s = strings.ReplaceAll(s, "\n", " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "..."
	}
	return s
}

// record returns the JSON form of an outcome.
func (o *Outcome) record() any {
	return struct {
		Case, File, Expected, Stage, Verdict, Judgement, Reason, Note string
		Theirs, WhyNot, Why                                           string `json:",omitempty"`
		Grid, Block                                                   string
		Args                                                          []string  `json:",omitempty"`
		Findings                                                      []Finding `json:",omitempty"`
		Tried                                                         int
		Seconds                                                       float64
	}{
		o.Case.Name, o.Case.File, o.Case.Expect.String(), o.Result.Stage.String(), o.Result.verdict(),
		o.judgement(), o.Result.reason(), o.Job.Note,
		o.Case.Theirs, o.Case.WhyNot, o.Case.Why,
		o.Job.Grid.String(), o.Job.Block.String(), o.Job.Args, o.Result.Findings, o.Tried,
		o.Result.Seconds,
	}
}

// summary prints counts by language, expectation and judgement, and the outcomes that need
// attention by cause, the most frequent first.
func summary(w io.Writer, list []Outcome) {
	type group struct {
		ext    string
		expect Expectation
	}
	total, ended := map[string]int{}, map[string]int{}
	judged := map[group]map[string]int{}
	causes := map[string]int{}
	for i := range list {
		o := &list[i]
		ext := filepath.Ext(o.Case.File)
		total[ext]++
		if o.Result.Stage == Ended || o.judgement() == "rejected, as expected" {
			ended[ext]++
		}
		g := group{ext, o.Case.Expect}
		if judged[g] == nil {
			judged[g] = map[string]int{}
		}
		judged[g][o.judgement()]++
		if o.needsLook() {
			causes[o.judgement()+": "+cause(o)]++
		}
	}
	for _, ext := range slices.Sorted(maps.Keys(total)) {
		fmt.Fprintf(w, "\n%s: %d of %d completed\n", ext, ended[ext], total[ext])
		for e := Pass; e <= Rejected; e++ {
			if m := judged[group{ext, e}]; m != nil {
				fmt.Fprintf(w, "  expected %v:", e)
				for _, j := range slices.Sorted(maps.Keys(m)) {
					fmt.Fprintf(w, " %d %s;", m[j], j)
				}
				fmt.Fprintln(w)
			}
		}
	}
	failures(w, list)
	if len(causes) == 0 {
		return
	}
	fmt.Fprintln(w, "\nby cause:")
	keys := slices.Collect(maps.Keys(causes))
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(causes[b]-causes[a],
			strings.Compare(a, b))
	})
	for _, k := range keys {
		fmt.Fprintf(w, "%4d  %s\n", causes[k], k)
	}
}

// failures prints how many expected failures were found, by the cause that the suite names.
func failures(w io.Writer, list []Outcome) {
	total, bugs, others := map[string]int{}, map[string]int{}, map[string]int{}
	for i := range list {
		o := &list[i]
		if o.Case.Cause == "" {
			continue
		}
		total[o.Case.Cause]++
		switch o.Result.verdict() {
		case "bug":
			bugs[o.Case.Cause]++
		case "other":
			others[o.Case.Cause]++
		}
	}
	if len(total) > 0 {
		fmt.Fprintln(w, "\nexpected failures, by the cause that the kernel's comments name:")
	}
	for _, c := range slices.Sorted(maps.Keys(total)) {
		fmt.Fprintf(w, "%4d  %s: %d with a synchronization finding, %d with another finding\n", total[c],
			c, bugs[c], others[c])
	}
}

var (
	placeRE  = lazyregexp.New(`^line \d+: `)
	numberRE = lazyregexp.New(`0x[0-9a-f]+|\d+`)
	quoteRE  = lazyregexp.New(`'[^']*'`)
)

// cause returns a reason without names, places and numbers, for counting. A finding is represented
// by its code.
func cause(o *Outcome) string {
	s := placeRE.ReplaceAllString(o.Result.reason(), "")
	if f := o.Result.Findings; len(f) > 0 && o.Result.Error == "" {
		code, _, _ := strings.Cut(s, ":")
		return code
	}
	s, _, _ = strings.Cut(s, " (seed")
	return clip(numberRE.ReplaceAllString(quoteRE.ReplaceAllString(s, "'...'"), "N"), 90)
}
