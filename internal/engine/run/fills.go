package run

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/ir"
	"heddle/internal/launch"
)

// Runs with other contents of buffers. Buffers whose contents nobody specifies hold zeros in the
// first run, because kernels rely on locks, flags and counters that start at zero. With zeros for
// an index array or for the rows of a graph, many kernels do nothing: every row is empty, every
// vertex is a neighbour of vertex 0. So arrays of integers are tried with other contents:
//
//   - random integers below the smallest extent of the launch: indices that often collide and stay
//     in bounds
//   - rows of a graph in CSR form, few vertices for other arrays whose values are part of
//     addresses, and for the rest (levels, states, colours) a few numbers, most of them next to
//     those with which the kernel compares the values; two such graphs
//   - 0, 1, 2, ...
//
// Contents remain guesses: a race on an address that depends on them is a warning (evidence.go),
// and so is a barrier error. A run that exceeds its budget, or that ends at an access out of
// bounds, a trap or an assertion, says nothing about the kernel: such contents may be ones that no
// host passes. It counts as not made. What that misses: contents that none of the four runs has,
// and kernels that synchronize through memory in a schedule that the one seed does not have.

const (
	fillSteps = 3_000_000 // limit of one of the four runs, in warp instructions
	// mostExceeded is the number of runs that exceed it after which no more are made: the kernel is
	// long.
	mostExceeded = 2
	leastExtent  = 4  // the smallest N of random integers below N
	fewVertices  = 32 // N for indices in a small graph
	edges        = 8  // entries in a row, on average
	// mostCompared bounds the numbers with which a kernel compares the values of a buffer and that
	// are among its contents: two elements should be equal often.
	mostCompared = 4
)

// Fills returns launches that differ from cfg in the contents of buffers only: those of which
// nobody specified the contents, which the kernel k reads as integers, and with which its threads
// do not synchronize. There are none if k has no such buffer.
func Fills(cfg *launch.Config, k *ir.Func) []*launch.Config {
	uses := launch.Uses(k)
	var places []launch.Place
	for _, p := range cfg.GuessedContents() {
		if u := uses[p]; u.Read && !u.Sync && !u.Float {
			places = append(places, p)
		}
	}
	if len(places) == 0 {
		return nil
	}
	n := extent(cfg, k)
	var out []*launch.Config
	for _, fill := range []func(u launch.Use) launch.ArgSpec{
		func(u launch.Use) launch.ArgSpec { return below(n, &u, 0) },
		func(u launch.Use) launch.ArgSpec { return smallGraph(cfg, &u, n, 1) },
		func(u launch.Use) launch.ArgSpec { return smallGraph(cfg, &u, n, 2) },
		func(launch.Use) launch.ArgSpec {
			return launch.ArgSpec{Kind: launch.ArgBuffer, Fill: launch.FillIota}
		},
	} {
		fills := make(map[launch.Place]launch.ArgSpec)
		for _, p := range places {
			fills[p] = fill(uses[p])
		}
		if filled, err := cfg.WithContents(fills, uses); err == nil {
			out = append(out, filled)
		}
	}
	return out
}

// below are random integers below n, or below what an element holds.
func below(n uint64, u *launch.Use, seed uint64) launch.ArgSpec {
	if u.Elem == 1 {
		n = min(n, 1<<7) // it may be signed
	}
	return launch.ArgSpec{Kind: launch.ArgBuffer, Fill: launch.FillSmall, N: n, Seed: seed}
}

// smallGraph are the contents of a buffer in a graph with n rows and few vertices as neighbours.
func smallGraph(cfg *launch.Config, u *launch.Use, n, seed uint64) launch.ArgSpec {
	switch {
	case u.Rows && u.Elem != 1 && u.Elem != 2:
		return launch.ArgSpec{
			Kind: launch.ArgBuffer, Fill: launch.FillCSR, N: n, E: edges * n, Seed: seed,
		}
	case u.Index:
		return below(min(n, fewVertices), u, seed)
	case u.Bound:
		return below(n, u, seed)
	}
	return oneOf(cfg, u, seed)
}

// oneOf are the numbers with which the kernel compares values of a buffer, constants and arguments
// of the launch, twice each; their neighbours; and some small numbers. It leaves out what does not
// fit in an element.
func oneOf(cfg *launch.Config, u *launch.Use, seed uint64) launch.ArgSpec {
	var with []int64
	for _, i := range u.Args {
		if n, ok := integer(&cfg.Args[i]); ok {
			with = append(with, n)
		}
	}
	with = append(with, u.Compared...)
	size := int(cmp.Or(u.Elem, 4))
	most := int64(math.MaxInt64) >> (64 - 8*size)
	var numbers []int64
	add := func(n int64) {
		if n >= -most && n <= most && !slices.Contains(numbers, n) {
			numbers = append(numbers, n)
		}
	}
	for _, c := range with[:min(len(with), mostCompared)] {
		add(c)
	}
	numbers = append(numbers, numbers...)
	for _, c := range with[:min(len(with), mostCompared)] {
		add(c - 1)
		add(c + 1)
	}
	for n := range int64(2) {
		add(n)
	}
	text := strings.ReplaceAll(strings.Trim(fmt.Sprint(numbers), "[]"), " ", ",")
	return launch.ArgSpec{Kind: launch.ArgBuffer, Fill: launch.FillOneOf, Text: text, Seed: seed}
}

// integer returns the value of an argument that is an integer of at most 8 bytes.
func integer(a *launch.Arg) (int64, bool) {
	n := len(a.Bits)
	if a.Buffer != nil || a.Float || a.Unknown || a.Func != "" || n == 0 || n > 8 {
		return 0, false
	}
	var v uint64
	for i, b := range a.Bits {
		v |= uint64(b) << (8 * i)
	}
	shift := 64 - 8*n
	return int64(v<<shift) >> shift, true
}

// extent returns the smallest size that an array of the launch is likely to have: the number of
// threads, or a smaller integer argument above leastExtent.
func extent(cfg *launch.Config, k *ir.Func) uint64 {
	g := cfg.Geometry
	n := max(g.Blocks()*uint64(g.ThreadsPerBlock()), leastExtent)
	for i, v := range k.Params {
		if size, ok := integer(&cfg.Args[i]); ok && !v.Pointer && size >= leastExtent {
			n = min(n, uint64(size))
		}
	}
	return n
}

// Refill runs a kernel that is clean in all runs so far with other contents of its buffers, and
// returns v, or the verdict on what such a run found.
func (r *Run) Refill(ctx context.Context, v diag.Verdict) diag.Verdict {
	if v.Kind != diag.Clean || r.Guess == nil {
		return v
	}
	long := 0 // runs that exceeded their budget
	for _, cfg := range Fills(r.Config, r.Job.Kernel) {
		bugs, guessed, exceeded := r.filled(ctx, cfg)
		r.Job.AddFindings(bugs, guessed)
		if exceeded {
			long++
		}
		if long == mostExceeded {
			break
		}
		switch {
		case bugs > 0:
			return diag.Verdict{Kind: diag.Bug, Kernel: v.Kernel, Span: v.Span,
				Suppressed: r.Aside.Suppressed, Known: r.Aside.Known}
		case guessed > 0:
			v.Kind, v.Scope, v.Details, v.Reason = diag.Unknown, "", nil, r.Guess.Reason()
		}
	}
	if v.Kind == diag.Clean {
		v.Apart = slices.Clone(r.apart)
	}
	v.Suppressed, v.Known = r.Aside.Suppressed, r.Aside.Known
	return v
}

// filled runs the kernel once with other contents and reports what that shows: errors and findings
// that rest on guesses. A run that does not count reports nothing; exceeded is set if its budget
// did not suffice.
func (r *Run) filled(ctx context.Context, cfg *launch.Config) (bugs, guessed int, exceeded bool) {
	var found []diag.Diagnostic
	opt := *r.opt
	opt.Printf = nil // the first run has printed what the kernel prints
	f := New(r.Job.Into(func(g diag.Diagnostic) { found = append(found, g) }), &opt, cfg)
	f.Command, f.Guess, f.Aside, f.Seen = "run", r.Guess, r.Aside, maps.Clone(r.Seen)
	f.MaxSteps = fillSteps
	if most := r.Job.Options().MaxSteps; most != 0 {
		f.MaxSteps = min(f.MaxSteps, most)
	}
	before := len(r.Guess.depends)
	void := false
	f.Counts = func(code diag.Code) bool { return code != diag.CodeAnnotation }
	f.Mark = func(g *diag.Diagnostic) {
		for _, c := range stopCodes {
			if c == g.Code {
				void, g.Severity = true, diag.Warning // nobody asks on which guesses it rests
			}
		}
		r.Guess.barrierOfContents(g, cfg)
	}
	if f.Start() != nil {
		return 0, 0, false
	}
	f.Once(ctx, opt.Seed)
	if void || f.open() != "" || f.Unsupported != nil || f.assumptions != nil {
		r.Guess.depends = r.Guess.depends[:before]
		return 0, 0, f.open() != ""
	}
	r.Aside, r.Seen = f.Aside, f.Seen
	for _, g := range found {
		r.Job.Report(g)
		switch rests := g.Witness != nil && g.Witness.Status == diag.StatusGuess; {
		case g.Severity == diag.Error:
			bugs++
		case rests:
			guessed++
		default:
			r.exceptFor(&g)
		}
	}
	return bugs, guessed, false
}

// barrierOfContents makes a barrier error of a run with other contents a warning: with zeros, all
// threads reach their barriers.
func (g *Guesses) barrierOfContents(f *diag.Diagnostic, filled *launch.Config) {
	barrier := false
	for _, code := range BarrierCodes {
		barrier = barrier || f.Code == code
	}
	if !barrier || f.Severity != diag.Error {
		return
	}
	var on []guess
	for i := range filled.Args {
		a, was := &filled.Args[i], &g.cfg.Args[i]
		if a.Buffer != was.Buffer {
			on = append(on, guess{"the contents of " + a.Name, "--arg " + a.Name + "=CONTENTS", true})
		}
		for k, ptr := range a.Fields {
			if ptr.Buffer != was.Fields[k].Buffer {
				name := fmt.Sprintf("%s+%d", a.Name, ptr.Offset)
				on = append(on, guess{"the contents of " + name, "--arg " + name + "=CONTENTS", true})
			}
		}
	}
	g.warn(f, on)
}
