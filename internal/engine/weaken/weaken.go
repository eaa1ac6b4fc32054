// Package weaken finds synchronization of kernels that is stronger than they need, and offers what
// suffices: `heddle sync --optimize`.
//
// Each kind of offer has a file with the rule by which it is sound: barrier.go (a barrier of the
// warp, or none), part.go (a named barrier of part of the block), fence.go, scope.go and order.go.
// The rules rest on what is known of an entire kernel (level.go): that no value of it depends on
// the order of strong accesses, so that only races count; or that its strong accesses stay in a
// block. What code outside the kernel may observe while it runs is not proved, but looked for
// (outside.go).
//
// An offer is an edit of the source. It is made if the edited file, compiled again, is proved for
// every launch of the host code, and runs of it show nothing (judge.go). Offers are added to each
// other, largest saving first, each proved on top of those before (search.go), and the final text
// is proved once more from the start.
//
// It imports the driver and the engines run and prove.
package weaken

import (
	"context"
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/edit"
	"heddle/internal/engine/prove"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/lower"
	"heddle/internal/source"
)

// Options are the choices of a search for weaker synchronization.
type Options struct {
	Common driver.Options
	Run    run.Options
	Prove  prove.Options
}

// Kind is what an offer changes.
type Kind uint8

// The kinds of offers.
const (
	Barrier Kind = iota // __syncthreads(): removed, or of the warp
	Part                // __syncthreads(): a named barrier of the first warps
	Fence               // __threadfence*: removed, or of the block
	Scope               // the scope of an atomic operation
	Order               // the memory order of an atomic operation
)

var kindNames = [...]string{"barrier", "part of the block", "fence", "scope", "memory order"}

// String names the kind in reports.
func (k Kind) String() string { return kindNames[k] }

// Offer is a place with synchronization that may be stronger than needed.
type Offer struct {
	Kind    Kind
	At      source.Pos
	Kernels []string // demangled names of the kernels that execute it
	Before  string   // in the source
	After   string   // empty: nothing; of a place without an offer, what was tried first
	Why     []string // what makes it sufficient
	// Assuming is what is assumed of code outside the kernel; empty: nothing.
	Assuming string
	Runs     float64 // how often a thread executes it in a run, on average
	Saving   float64 // Runs times a fixed rank of the operations, to compare offers
	// Verdict is that of the text with this offer and those before it.
	Verdict diag.Verdict
	Reason  string // why it is not offered; empty if it is
}

// Offered reports whether it is an offer.
func (o *Offer) Offered() bool { return o.Reason == "" }

// Result is what was found for a file.
type Result struct {
	Offers      []Offer        // in the order in which they were made, then places without one
	Verdicts    []diag.Verdict // of the kernels of the patched text that offers change
	Diff        string
	Edits       []edit.Edit
	Patched     map[string][]byte // the new text, by the name of the file; empty without offers
	Files       *source.Set
	InputErrors int
}

// File searches the kernels of a source file for synchronization that may be weaker. Mistakes in
// the input go to sink. Lanes of a warp are taken to be independent, whatever the options say: what
// is offered must be right on every device since sm_70.
func File(ctx context.Context, opt Options, file driver.Input, sink func(diag.Diagnostic)) (
	*Result, error) {
	opt.Common.Limit, opt.Common.Command = max(opt.Common.Limit, 1), "run"
	opt.Common.Warp = event.Independent
	w := &weakener{opt: opt, file: file, texts: map[string]*compiled{},
		provers: map[mode]*prove.Engine{}, out: &Result{Patched: map[string][]byte{}}}
	defer w.close()
	base, err := w.open(ctx, sink)
	if base != nil && err == nil {
		err = w.run(ctx)
	}
	return w.out, err
}

// weakener is the state of one search.
type weakener struct {
	own     [][]byte // the texts of ownTexts
	opt     Options
	file    driver.Input
	user    *source.File // the file as it is
	base    *compiled
	texts   map[string]*compiled // compiled texts
	provers map[mode]*prove.Engine
	kernels map[string]*kernel // by mangled name
	final   bool               // texts are those of the patch
	out     *Result
}

// open compiles the file as it is; nil if it has mistakes, which are reported.
func (w *weakener) open(ctx context.Context, sink func(diag.Diagnostic)) (*compiled, error) {
	d := driver.New(w.opt.Common, sink)
	w.out.Files = d.Files()
	defer func() { w.out.InputErrors = d.Summary().InputErrors }()
	c := w.compileWith(ctx, d, w.file)
	if c == nil {
		return nil, ctx.Err()
	}
	if !c.in.FromSource() {
		return nil, fmt.Errorf("%s: --optimize changes CUDA C++ and OpenCL C only", w.file.Name)
	}
	d.See(c.in)
	d.Examine(len(d.Select(c.in)))
	d.End([]driver.Input{w.file})
	w.user = d.Files().Named(w.file.Name)
	if w.user == nil || w.user.Content == nil {
		return nil, fmt.Errorf("%s: its text cannot be read", w.file.Name)
	}
	w.base = c
	return c, nil
}

// close ends the provers.
func (w *weakener) close() {
	for _, p := range w.provers {
		p.Close()
	}
}

// compiled is a text of the file with its kernels.
type compiled struct {
	d  *driver.Driver
	in *driver.Module
}

// compile compiles a changed text of the file; nil if the compiler rejects it.
func (w *weakener) compile(ctx context.Context, text []byte) *compiled {
	if c, known := w.texts[string(text)]; known {
		return c
	}
	common := w.opt.Common
	common.Files, common.Progress = source.NewSet(), nil
	file := w.file
	file.Content = text
	c := w.compileWith(ctx, driver.New(common, func(diag.Diagnostic) {}), file)
	if ctx.Err() == nil {
		w.texts[string(text)] = c
	}
	return c
}

// compileWith compiles a file; nil if it has mistakes, which d reports.
func (w *weakener) compileWith(ctx context.Context, d *driver.Driver,
	file driver.Input) *compiled {
	d.Open(file.Name)
	results := d.Lower(ctx, file)
	if len(results) != 1 || results[0].Lang == lower.Binary {
		return nil
	}
	in := d.Parse(file, results[0])
	if in == nil {
		return nil
	}
	return &compiled{d, in}
}
