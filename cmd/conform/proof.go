package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"heddle/internal/axiom"
	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/engine/prove"
	"heddle/internal/lazyregexp"
	"heddle/internal/lockstep"
	"heddle/internal/source"
	"heddle/internal/verify"
)

// static is the engine of heddle verify.
type static struct{}

// reserve is the part of a job's time limit that is reserved for the compiler.
const reserve = 5 * time.Second

// attemptProof runs the proof of a case. There is one job: a proof covers all arguments. Its own
// time limit ends before that of the process, so that it can still report what it has not decided.
func attemptProof(ctx context.Context, c *choices, k *Case) Outcome {
	// The job is copied, since its time limit depends on the flags.
	j := *k.Proof
	j.Timeout = max(c.limit-reserve, time.Second)
	o := Outcome{Case: k, Job: &j, Result: &Result{Error: "interrupted"}, Tried: 1}
	if ctx.Err() == nil {
		o.Result = isolated(ctx, c.engine, &j, c.limit)
	}
	return o
}

// Check proves the kernels of a job. Functions without a body are taken as pure, as GPUVerify does.
// Block sizes are arbitrary, if requested, in the dimensions that the launch uses.
func (static) Check(ctx context.Context, job *Job) *Result {
	res := new(Result)
	opt := job.lower()
	if !build(ctx, job, opt, res) {
		return res
	}
	req, err := job.request()
	if err != nil {
		res.Error = err.Error()
		return res
	}
	// A dimension of one thread stays one, unless the block has a single thread.
	var any lockstep.Any
	if job.AnyBlock {
		any.Block = [3]bool{job.Block.X > 1 || job.Block.Count() == 1, job.Block.Y > 1, job.Block.Z > 1}
	}
	var axioms []*axiom.File
	if job.Axioms != "" {
		f, err := readAxioms(job.Axioms)
		if err != nil {
			res.Error = err.Error()
			return res
		}
		axioms = append(axioms, f)
	}
	sum, err := check.Files(ctx, check.Options{
		Options: job.options(req, opt, source.NewSet()),
		Mode:    check.Verify,
		Prove: prove.Options{
			Any: any, OnlyIntraBlock: job.OnlyIntraBlock, Ignore: job.Exclude.ignores,
			Timeout: job.Timeout, Extern: prove.Pure, Axioms: axioms,
		},
	}, []string{job.File}, func(d diag.Diagnostic) { res.add(&d, &job.Exclude) })
	if err != nil {
		res.Error = err.Error()
		return res
	}
	res.Queries = sum.Queries
	res.addVerdicts(sum.Verdicts)
	if res.Error == "" && len(sum.Verdicts) > 0 {
		res.Stage = Ended
	}
	return res
}

// pointerTypes declares the types that GPUVerify has for pointers.
const pointerTypes = "type ptr = bv64; type functionPtr = bv64; "

// readAxioms reads a file of axioms.
func readAxioms(path string) (*axiom.File, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return axiom.Parse(path, pointerTypes+string(text))
}

// ignores reports whether a finding of a proof is excluded. It also excludes annotations about
// accesses to an excluded array, which the suite's tool does not see.
func (e *Exclusion) ignores(f *verify.Finding) bool {
	out := func(o *lockstep.Object) bool {
		return e.Arrays != nil && o != nil && !slices.Contains(e.Arrays, o.Name)
	}
	switch f.Kind {
	case verify.Race:
		return e.Races || out(f.Object)
	case verify.Violation:
		return slices.ContainsFunc(f.Assertion.Logs, func(l lockstep.Log) bool { return out(l.Object) })
	}
	return false
}

// The results of a proof.
const (
	verified    = "verified"
	refuted     = "bug"      // confirmed by a replay
	possible    = "possible" // a counterexample of the abstraction that no replay confirmed
	undecided   = "unknown"
	unsupported = "unsupported"
	failed      = "error" // an earlier stage failed
)

// weight orders the results: for several kernels, the one with the largest weight counts.
var weight = map[string]int{verified: 0, undecided: 1, unsupported: 2, possible: 3, refuted: 4}

// proof summarizes a result in one word. It is verified only if every kernel is.
func (r *Result) proof() string {
	if r.Stage < Ended {
		return failed
	}
	word := verified
	for _, v := range r.Verdicts {
		kind := v.Kind
		if kind == undecided && possibleRE.MatchString(v.Reason) {
			kind = possible
		}
		if weight[kind] > weight[word] {
			word = kind
		}
	}
	return word
}

// possibleRE matches the reasons of unconfirmed counterexamples.
var possibleRE = lazyregexp.New(`\b(is|are) possible\b`)

// proofJudgement compares the result of a proof with the expectation of the suite. "VERIFIED?" is
// the one that matters: a proof of a kernel that should fail is unsound, unless labels.go says why
// not.
func (o *Outcome) proofJudgement() string {
	got := o.Result.proof()
	switch {
	case got == failed && o.Case.Expect == Rejected:
		return "rejected, as expected"
	case got == verified && o.Case.Expect == Fail && o.Case.Proved != "":
		return "proved, with a known reason"
	case got == verified && o.Case.Expect == Fail:
		return "VERIFIED?"
	case o.Case.Expect == Rejected && got == verified:
		return "accepted"
	case o.Case.Expect == Rejected:
		return "agrees"
	case (got == verified) == (o.Case.Expect == Pass):
		return "agrees"
	}
	return "not proved"
}

// reportProofs prints the outcomes of proofs and returns the exit code: 1 for a proof that may be
// unsound. A proof that fails to verify a correct kernel is incomplete, which is no error.
func (c *choices) reportProofs(w io.Writer, list []Outcome) int {
	code := 0
	for i := range list {
		if list[i].proofJudgement() == "VERIFIED?" {
			code = 1
		}
	}
	if c.json {
		enc := json.NewEncoder(w)
		for i := range list {
			if enc.Encode(list[i].proofRecord()) != nil {
				return 2
			}
		}
		return code
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "case\texpected\tgot\tjudgement\ttime\tcause")
	for i := range list {
		o := &list[i]
		if j := o.proofJudgement(); c.all || j != "agrees" && j != "rejected, as expected" {
			fmt.Fprintf(t, "%s\t%v\t%s\t%s\t%.1fs\t%s\n", o.Case.Name, o.Case.Expect, o.Result.proof(), j,
				o.Result.Seconds, clip(o.Result.proofReason(), 200))
		}
	}
	t.Flush()
	for _, ext := range []string{".cu", ".cl"} {
		proofSummary(w, ext, list)
	}
	wrongProofs(w, list)
	return code
}

// proofReason returns the reason for the result of a proof in one line.
func (r *Result) proofReason() string {
	word := r.proof()
	for _, v := range r.Verdicts {
		if word != refuted && word != verified && v.Reason != "" &&
			weight[v.Kind] >= min(weight[word], weight[undecided]) {
			return v.Reason
		}
	}
	return r.reason()
}

// proofRecord returns the JSON form of the outcome of a proof.
func (o *Outcome) proofRecord() any {
	return struct {
		Case, File, Expected, Got, Judgement, Cause string
		Grid, Block                                 string
		Result                                      *Result
	}{
		o.Case.Name, o.Case.File, o.Case.Expect.String(), o.Result.proof(), o.proofJudgement(),
		o.Result.proofReason(),
		o.Job.Grid.String(), o.Job.Block.String(), o.Result,
	}
}

// proofSummary prints counts, times and queries for the kernels of one language, given by its
// extension. Causes of missing proofs are sorted by frequency: they say what to work on next.
func proofSummary(w io.Writer, ext string, list []Outcome) {
	got := map[Expectation]map[string]int{Pass: {}, Fail: {}, Rejected: {}}
	causes := map[string]int{}
	var seconds []float64
	var pairs, simplified, solved int
	var solving time.Duration
	for i := range list {
		o := &list[i]
		if filepath.Ext(o.Case.File) != ext {
			continue
		}
		word := o.Result.proof()
		got[o.Case.Expect][word]++
		seconds = append(seconds, o.Result.Seconds)
		q := &o.Result.Queries
		pairs, simplified, solved, solving = pairs+q.Pairs, simplified+q.BySimplifier, solved+q.BySolver,
			solving+q.Time
		if o.Case.Expect == Pass && word != verified {
			causes[word+": "+proofCause(o)]++
		}
	}
	if len(seconds) == 0 {
		return
	}
	fmt.Fprintf(w, "\n%s: %d cases\n", ext, len(seconds))
	for e := Pass; e <= Rejected; e++ {
		n := 0
		for _, k := range got[e] {
			n += k
		}
		if n == 0 {
			continue
		}
		fmt.Fprintf(w, "  expected %v: %d;", e, n)
		for _, word := range []string{verified, refuted, possible, undecided, unsupported, failed} {
			fmt.Fprintf(w, " %d %s (%.1f%%);", got[e][word], word, 100*float64(got[e][word])/float64(n))
		}
		fmt.Fprintln(w)
	}
	slices.Sort(seconds)
	at := func(q float64) float64 { return seconds[int(q*float64(len(seconds)-1)+0.5)] }
	fmt.Fprintf(w, "  time per case: median %.2f s, 95th percentile %.2f s, worst %.2f s\n", at(0.5),
		at(0.95), at(1))
	fmt.Fprintf(w, "  queries: %d; %d unsatisfiable by the simplifier, %d by a solver; %.1f s in "+
		"total\n", pairs, simplified, solved, solving.Seconds())
	if len(causes) > 0 {
		fmt.Fprintln(w, "  kernels that should pass but are not verified, by cause:")
	}
	// The most frequent cause first, then by name.
	keys := slices.Collect(maps.Keys(causes))
	slices.SortFunc(keys, func(a, b string) int {
		return cmp.Or(causes[b]-causes[a],
			strings.Compare(a, b))
	})
	for _, k := range keys {
		fmt.Fprintf(w, "%6d  %s\n", causes[k], k)
	}
}

// wrongProofs lists every proof of a kernel that should fail. Each is an error of the engine or of
// the suite; labels.go lists the latter with their reasons. Then it lists the proofs of kernels
// that should be rejected.
func wrongProofs(w io.Writer, list []Outcome) {
	n := 0
	for i := range list {
		o := &list[i]
		if o.Result.proof() != verified || o.Case.Expect != Fail {
			continue
		}
		if n++; n == 1 {
			fmt.Fprintln(w, "\nexpected to fail, but verified:")
		}
		why := o.Case.Proved
		if why == "" {
			why = "NO REASON KNOWN"
		}
		fmt.Fprintf(w, "  %s (%s): %s\n", o.Case.Name, o.Case.Cause, why)
	}
	if n == 0 {
		fmt.Fprintln(w, "\nno kernel that should fail is verified")
	}
	n = 0
	for i := range list {
		o := &list[i]
		if o.Result.proof() != verified || o.Case.Expect != Rejected {
			continue
		}
		if n++; n == 1 {
			fmt.Fprintln(w, "\nrejected by the suite's tool, but verified:")
		}
		fmt.Fprintf(w, "  %s: %s\n", o.Case.Name, cmp.Or(o.Case.Accepted, "NO REASON KNOWN"))
	}
}

// placesRE matches the instructions and places in reasons.
var placesRE = lazyregexp.New(`(between|and) .*? at \S+?:\d+(:\d+)?`)

// proofCause returns a reason without names, places and numbers, for counting.
func proofCause(o *Outcome) string {
	s := placesRE.ReplaceAllString(o.Result.proofReason(), "$1 ...")
	if o.Result.proof() == refuted {
		s = placeRE.ReplaceAllString(s, "")
		s, _, _ = strings.Cut(s, ":")
	}
	s, _, _ = strings.Cut(s, " (and ")
	return clip(numberRE.ReplaceAllString(quoteRE.ReplaceAllString(s, "'...'"), "N"), 110)
}
