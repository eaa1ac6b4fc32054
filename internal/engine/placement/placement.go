// Package placement finds the cheapest right placement of barriers for the kernels of one source
// file.
//
// Package place searches the cheapest placement that satisfies constraints from races; an oracle
// here judges each placement, by proofs (oracle.go), by runs (dynamic.go) or by both. The source is
// compiled once with a point at every possible place (marked.go), and a candidate turns some of
// them into barriers. Functions that are inlined are part of the tree of a kernel (inline.go). The
// patched source is proved again from the beginning. In flow Options and a file; out flow the
// barriers with what each separates, a patch, and the verdict on it. Options.Explain asks what
// happens without each barrier of the result (explain.go), and UseOfBarrier asks it of one.
//
// heddle sync is this package and its report; heddle fix asks it before it considers anything else.
// It imports the driver and the engines run and prove.
package placement

import (
	"context"
	"errors"
	"slices"
	"time"

	"heddle/internal/diag"
	"heddle/internal/digest"
	"heddle/internal/driver"
	"heddle/internal/edit"
	"heddle/internal/engine/prove"
	"heddle/internal/engine/run"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
	placer "heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// Options are the choices of a search for barriers.
type Options struct {
	Common driver.Options
	Run    run.Options
	Prove  prove.Options
	placer.Options
	Oracle Oracle
	// the counts of a run of the launch replace the constants of the cost model
	Measured   bool
	BlockOnly  bool // place no warp barriers
	VerifyOnly bool // judge the existing barriers only
	Explain    bool // say of each barrier of the result what it is for
	Unverified bool // do not prove the patched source again: the caller does
	// Grid inserts barriers of the grid, which separate races between blocks as well. Barriers that
	// exist are of the block. The caller makes the launches cooperative.
	Grid bool
	// From is the origin of the scalar arguments for which a placement is searched, as of
	// prove.Proof.Scalars; zero: for all arguments, and if there is none, for those of the launch.
	From launch.Origin
	// Incremental keeps verified results in the cache, and takes a kernel's result from there if
	// nothing on which it depends has changed.
	Incremental bool
	// Wanted selects the races that are to be separated, by their instructions; nil: all.
	Wanted func(a, b *ir.Instr) bool
}

// Status is the result of the search for one kernel.
type Status uint8

const (
	Unchanged   Status = iota // its barriers are correct, and no others cost less
	Changed                   // a cheaper or the first correct placement was found
	NoPlacement               // no placement is correct
	NotChecked                // the search could not begin or did not end
)

var statusNames = [...]string{"unchanged", "synchronized", "not synchronized", "not checked"}

// String names the status.
func (s Status) String() string { return statusNames[s] }

// Barrier is a barrier of the result, or one that is removed.
type Barrier struct {
	Where source.Span // the statement before it
	At    source.Pos  // where the text changes for it; of one that stays, its own place
	Place string      // "after line 14"
	Kept  bool        // it was there
	Gone  bool        // it was there, and is not needed
	Warp  bool        // __syncwarp()
	Why   []string    // what it separates
	Use   *BarrierUse // what it is for; nil unless Options.Explain asks

	from origin // its label; zero if it is not part of the search
}

// Kernel is the search for one kernel.
type Kernel struct {
	Kernel        string
	Status        Status
	Oracle        string
	Barriers      []Barrier
	Before, After float64 // cost
	Optimal       bool
	Calls         int      // of the oracle
	Stuck         []string // why there is no placement
	OtherBlocks   []string // races that barriers of a block do not separate
	// for the scalar arguments of the launch only, because no placement is right for all
	Given     bool
	Elsewhere []string // if Given: the races with other arguments
	// Unexplained is why nothing is said of the use of its barriers; empty: there is no reason.
	Unexplained string
	Earlier     bool         // the result is that of an earlier search: see Options.Incremental
	proved      digest.Sum   // of the kernel that Verdict is about
	hosts       []int        // launches of other shapes, as launch.Config.Host
	Verdict     diag.Verdict // of the patched source, or of the source if nothing changes
	Time        time.Duration
}

// Removes reports whether the placement removes a barrier.
func (k *Kernel) Removes() bool {
	return slices.ContainsFunc(k.Barriers, func(b Barrier) bool { return b.Gone })
}

// Result is the result of a search in a file.
type Result struct {
	Kernels     []Kernel
	Diff        string
	Patched     map[string][]byte // new texts of files, by name
	Edits       []edit.Edit       // that make them
	Files       *source.Set
	InputErrors int
}

// File searches barriers for the kernels of a source file. Mistakes in the input go to sink.
func File(ctx context.Context, opt Options, file driver.Input, sink func(diag.Diagnostic)) (
	*Result, error) {
	s, err := open(opt, file, sink)
	if err != nil {
		return nil, err
	}
	defer s.prover.Close()
	err = s.run(ctx)
	s.out.InputErrors = s.d.Summary().InputErrors
	return s.out, err
}

// syncer is the state of one search in a file.
type syncer struct {
	d      *driver.Driver
	prover *prove.Engine
	opt    Options
	file   driver.Input
	unit   *syntax.Unit
	out    *Result
}

// open readies the search in a file. Its prover has to be closed. At least one schedule runs,
// whatever the options say.
func open(opt Options, file driver.Input, sink func(diag.Diagnostic)) (*syncer, error) {
	opt.Common.Limit, opt.Common.Command = max(opt.Common.Limit, 1), "run"
	opt.Run.Seeds = max(opt.Run.Seeds, 1)
	opt.Prove.Quick = true
	d := driver.New(opt.Common, sink)
	opt.Prove.Cooperative = opt.Prove.Cooperative || opt.Grid
	prover, err := prove.Open(d.Options(), opt.Run, opt.Prove)
	if err != nil {
		return nil, err
	}
	out := &Result{Files: d.Files(), Patched: map[string][]byte{}}
	return &syncer{d: d, prover: prover, opt: opt, file: file, out: out}, nil
}

// All kernels are searched before the edits are made, which are those of all functions together.
func (s *syncer) run(ctx context.Context) error {
	in, err := s.compile(ctx)
	if in == nil || err != nil {
		return err
	}
	placements := map[*syntax.Func]placer.Placement{}
	texts := map[*syntax.Func]*found{}
	var all []*found
	for _, fn := range s.unit.Funcs {
		kernels := s.kernelsOf(in, fn)
		if len(kernels) == 0 {
			continue
		}
		s.d.Examine(len(kernels))
		f, err := s.kernel(ctx, in, fn, kernels)
		if err != nil {
			return err
		}
		if f.result != nil && f.sync.Status == Changed {
			for g, p := range f.marked.projected(f.result.Placement) {
				placements[g], texts[g] = p, f
			}
		}
		s.out.Kernels, all = append(s.out.Kernels, f.sync), append(all, f)
	}
	s.d.See(in)
	s.d.End([]driver.Input{s.file})
	if err := s.edit(placements, texts); err != nil {
		return err
	}
	if s.opt.Unverified {
		return nil
	}
	if err = s.verifyResult(ctx); err == nil {
		s.keepAll(all)
	}
	for i := range s.out.Kernels {
		s.out.Kernels[i].settle()
	}
	return err
}

// compile reads the structure of the source and compiles it with its points.
func (s *syncer) compile(ctx context.Context) (*driver.Module, error) {
	s.d.Open(s.file.Name)
	low := s.opt.Common.Lower
	err := lower.AST(ctx, s.file.Input, low, func(t *lower.Tree) error {
		if s.file.Content != nil {
			s.d.AddText(s.file.Name, s.file.Content)
		}
		var err error
		s.unit, err = syntax.Read(s.d.Files(), t, t.OpenCL, t.User)
		return err
	})
	var no *lower.InputError
	if errors.As(err, &no) {
		if in := s.ptx(ctx); in != nil || s.d.Summary().InputErrors > 0 {
			return in, nil
		}
	}
	if err != nil {
		s.d.LowerError(s.file, err)
		return nil, nil
	}
	for _, fm := range s.unit.Marks() {
		m := lower.Marked{Name: fm.File.Name, Content: fm.File.Content}
		for _, k := range fm.Marks {
			m.Marks = append(m.Marks, lower.Mark{Offset: k.Offset, Text: k.Text})
		}
		low.Marked = append(low.Marked, m)
	}
	results := s.d.LowerWith(ctx, s.file, low)
	if len(results) != 1 {
		return nil, nil
	}
	return s.d.Parse(s.file, results[0]), nil
}

// kernelsOf are the selected kernels that fn was compiled to; none unless fn is a kernel. A
// template has one for each instantiation in the module; a placement must be right for all of them.
func (s *syncer) kernelsOf(in *driver.Module, fn *syntax.Func) []*ir.Func {
	var out []*ir.Func
	if fn.Kernel {
		for _, k := range s.d.Select(in) {
			if slices.Contains(fn.Mangled, k.Name) {
				out = append(out, k)
			}
		}
	}
	return out
}

// ptx reads a PTX file of the user, whose places are between its instructions; nil if the file is
// not PTX.
func (s *syncer) ptx(ctx context.Context) *driver.Module {
	results, err := lower.Lower(ctx, s.file.Input, s.opt.Common.Lower)
	if err != nil || len(results) != 1 || results[0].Lang != lower.PTX {
		return nil
	}
	in := s.d.Parse(s.file, results[0])
	if in == nil {
		return nil
	}
	s.unit, in.IR = syntax.OfPTX(in.IR)
	return in
}

// causes describes why no barrier separates a race, after the race itself.
var causes = map[placer.Cause]string{
	placer.NoPlace:     "no barrier fits between the two: threads race at the same statement",
	placer.ClosedPlace: "no barrier can be inserted between the two",
	placer.Diverges:    "not all threads of the block reach the places between the two together",
	placer.Useless:     "barriers between the two do not separate them",
}

// edit makes the patch of all kernels.
func (s *syncer) edit(placements map[*syntax.Func]placer.Placement,
	texts map[*syntax.Func]*found) error {
	text := func(fn *syntax.Func, l placer.Label) string {
		return texts[fn].barrierText(s.unit, fn, l)
	}
	files, err := s.unit.Edits(placements, text)
	if err != nil {
		return err
	}
	for _, fe := range files {
		diff, err := edit.Diff(fe.File, fe.Edits)
		if err != nil {
			return err
		}
		s.out.Diff += diff
		s.out.Edits = append(s.out.Edits, fe.Edits...)
		if s.out.Patched[fe.File.Name], err = edit.Apply(fe.File, fe.Edits); err != nil {
			return err
		}
	}
	return nil
}

// verifyResult proves the patched sources from the beginning, compiled without points. The engine
// starts from the texts of the patch and takes nothing from the search, so a mistake in the marks
// or in the edits cannot lead to "verified". Races between blocks are left out: no barrier of a
// block affects them.
//
// Kernels without a search are left out, and those with an earlier result if what it is about is
// what the patched text is compiled to.
func (s *syncer) verifyResult(ctx context.Context) error {
	open := map[string]*Kernel{}
	for i := range s.out.Kernels {
		if k := &s.out.Kernels[i]; k.Status != NotChecked {
			open[k.Kernel] = k
		}
	}
	if len(open) == 0 {
		return nil
	}
	common, proofs := s.opt.Common, s.opt.Prove
	common.Lower.Marked, common.Files, common.Progress = nil, source.NewSet(), nil
	proofs.OnlyIntraBlock, proofs.FewBlocks = true, true
	again := s.file
	for name, text := range s.out.Patched {
		if name == s.file.Name {
			again.Content = text
		} else { // a header: what is on the disk is not what is to be judged
			marked := lower.Marked{Name: name, Content: text}
			common.Lower.Marked = append(common.Lower.Marked, marked)
		}
	}
	for i := range s.out.Kernels {
		if k := &s.out.Kernels[i]; k.Given {
			proofs.Given = append(proofs.Given, k.Kernel)
		}
	}
	d := driver.New(common, func(diag.Diagnostic) {})
	prover, err := prove.Open(d.Options(), run.Options{}, proofs)
	if err != nil {
		return err
	}
	defer prover.Close()
	d.Run(ctx, []driver.Input{again}, func(ctx context.Context, job *driver.Job) {
		k := open[job.Kernel.Demangled]
		if k == nil {
			return
		}
		sum := sumOf(job.Kernel)
		if k.Earlier && sum == k.proved {
			return
		}
		k.Earlier, k.proved = false, sum
		prover.Kernel(ctx, job)
	})
	for i := range s.out.Kernels {
		k := &s.out.Kernels[i]
		for _, v := range d.Summary().Verdicts {
			if v.Kernel == k.Kernel && open[v.Kernel] != nil && !k.Earlier {
				k.Verdict = v
			}
		}
		if open[k.Kernel] != nil && !k.Earlier {
			k.verifyShapes(ctx, common, again, prover)
		}
	}
	return prover.Failure()
}

// verifyShapes proves a kernel of the patched source for its launches of other shapes as well.
func (k *Kernel) verifyShapes(ctx context.Context, common driver.Options, in driver.Input,
	prover *prove.Engine) {
	for _, h := range k.hosts {
		if k.Verdict.Kind != diag.Verified {
			return // which one other launch cannot improve
		}
		common.Launch.Host = h
		d := driver.New(common, func(diag.Diagnostic) {})
		d.Run(ctx, []driver.Input{in}, func(ctx context.Context, job *driver.Job) {
			if job.Kernel.Demangled == k.Kernel {
				prover.Kernel(ctx, job)
			}
		})
		other := diag.Verdict{Kind: diag.Unknown, Kernel: k.Kernel, Span: k.Verdict.Span,
			Input: k.Verdict.Input, Reason: "another launch of the host code was not judged"}
		for _, v := range d.Summary().Verdicts {
			if v.Kernel == k.Kernel {
				other = v
			}
		}
		if other.Kind != diag.Verified {
			k.Verdict = other
			return
		}
		k.Verdict.Details = append(k.Verdict.Details, "and for another launch: "+other.Scope)
	}
}
