package check

import (
	"context"
	"errors"
	"slices"
	"time"

	"heddle/internal/diag"
	"heddle/internal/edit"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
	placer "heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// SyncOptions are the choices of a search for barriers.
type SyncOptions struct {
	placer.Options
	Oracle     string // "static", "dynamic" or "both"
	Measured   bool   // what a run of the launch counts takes the place of the constants of the cost model
	BlockOnly  bool   // no barriers of the warp
	VerifyOnly bool   // judge the barriers that stand
}

// SyncStatus says what became of a kernel.
type SyncStatus uint8

const (
	SyncUnchanged SyncStatus = iota // its barriers are right, and none cost less
	SyncChanged
	SyncNone // no placement is right
	SyncNotChecked
)

var syncStatusNames = [...]string{"unchanged", "synchronized", "not synchronized", "not checked"}

// String names the status.
func (s SyncStatus) String() string { return syncStatusNames[s] }

// SyncBarrier is a barrier of the result, or one that goes.
type SyncBarrier struct {
	Where source.Span // the statement that it stands after
	At    source.Pos  // where the text changes for it, or where it stands if it stays
	Place string      // "after line 14"
	Kept  bool        // it was there
	Gone  bool        // it was there, and is not needed
	Warp  bool        // __syncwarp()
	Why   []string    // what it separates
}

// Sync is the search for one kernel.
type Sync struct {
	Kernel        string
	Status        SyncStatus
	Oracle        string
	Barriers      []SyncBarrier
	Before, After float64 // cost
	Optimal       bool
	Calls         int          // of the oracle
	Stuck         []string     // why there is no placement
	OtherBlocks   []string     // races that barriers of a block do not separate
	Given         bool         // for the scalar arguments of the launch only, because there is none that is right for all
	Elsewhere     []string     // if Given: what is wrong with other arguments
	Verdict       diag.Verdict // of the patched source, or of the source if nothing changes
	Time          time.Duration
}

// SyncResult is what the search came to for a file.
type SyncResult struct {
	Kernels     []Sync
	Diff        string
	Patched     map[string][]byte // new texts of files, by name
	Edits       []edit.Edit       // that make them
	Files       *source.Set
	InputErrors int
}

// Synchronize searches barriers for the kernels of a source file. Mistakes in the input go to sink.
func Synchronize(ctx context.Context, opt Options, so SyncOptions, file Input, sink func(diag.Diagnostic)) (*SyncResult, error) {
	opt.Limit, opt.Command = max(opt.Limit, 1), "run"
	opt.blockOnly = so.BlockOnly
	d, err := openDriver(opt, sink)
	if err != nil {
		return nil, err
	}
	defer d.solving.close()
	s := &syncer{driver: d, so: so, file: file, out: &SyncResult{Files: d.files, Patched: map[string][]byte{}}}
	err = s.run(ctx)
	s.out.InputErrors = d.sum.InputErrors
	return s.out, err
}

// syncer is the state of one Synchronize.
type syncer struct {
	*driver
	so   SyncOptions
	file Input
	unit *syntax.Unit
	out  *SyncResult
}

func (s *syncer) run(ctx context.Context) error {
	in, err := s.compile(ctx)
	if in == nil || err != nil {
		return err
	}
	placements := map[*syntax.Func]placer.Placement{}
	texts := map[*syntax.Func]*found{}
	for _, fn := range s.unit.Funcs {
		kernels := s.kernelsOf(in, fn)
		if len(kernels) == 0 {
			continue
		}
		s.kernelsRun += len(kernels)
		f, err := s.kernel(ctx, in, fn, kernels)
		if err != nil {
			return err
		}
		if f.result != nil && f.sync.Status == SyncChanged {
			for g, p := range f.marked.projected(f.result.Placement) {
				placements[g], texts[g] = p, f
			}
		}
		s.out.Kernels = append(s.out.Kernels, f.sync)
	}
	for _, f := range defined(in) {
		s.kernelsSeen = append(s.kernelsSeen, launch.BaseName(f.Demangled))
	}
	if s.kernelsRun == 0 && s.sum.InputErrors == 0 {
		s.noKernel([]Input{s.file})
	}
	if err := s.edit(placements, texts); err != nil {
		return err
	}
	return s.verifyResult(ctx)
}

// compile reads the structure of the source and compiles it with its points.
func (s *syncer) compile(ctx context.Context) (*input, error) {
	s.inputName = s.file.Name
	err := lower.AST(ctx, s.file.Input, s.opt.Lower, func(t *lower.Tree) error {
		if s.file.Content != nil {
			s.addText(s.file.Name, s.file.Content)
		}
		var err error
		s.unit, err = syntax.Read(s.files, t, t.OpenCL, t.User)
		return err
	})
	var no *lower.InputError
	if errors.As(err, &no) {
		if in := s.ptx(ctx); in != nil || s.sum.InputErrors > 0 {
			return in, nil
		}
	}
	if err != nil {
		s.inputError(lowerDiagnostic(s.file.Name, err))
		return nil, nil
	}
	for _, fm := range s.unit.Marks() {
		m := lower.Marked{Name: fm.File.Name, Content: fm.File.Content}
		for _, k := range fm.Marks {
			m.Marks = append(m.Marks, lower.Mark{Offset: k.Offset, Text: k.Text})
		}
		s.opt.Lower.Marked = append(s.opt.Lower.Marked, m)
	}
	results := s.lower(ctx, s.file)
	if len(results) != 1 {
		return nil, nil
	}
	return s.parse(s.file, results[0]), nil
}

// kernelsOf are the kernels that opt selects of those that the compiler made of fn; none unless fn is a kernel.
func (s *syncer) kernelsOf(in *input, fn *syntax.Func) []*ir.Func {
	var out []*ir.Func
	if fn.Kernel {
		for _, k := range s.kernels(in) {
			if slices.Contains(fn.Mangled, k.Name) {
				out = append(out, k)
			}
		}
	}
	return out
}

// ptx reads PTX of the user's, whose places are between its instructions; nil if it is none.
func (s *syncer) ptx(ctx context.Context) *input {
	results, err := lower.Lower(ctx, s.file.Input, s.opt.Lower)
	if err != nil || len(results) != 1 || results[0].Lang != lower.PTX {
		return nil
	}
	in := s.parse(s.file, results[0])
	if in == nil {
		return nil
	}
	s.unit, in.module = syntax.OfPTX(in.module)
	return in
}

var causes = map[placer.Cause]string{
	placer.NoPlace:     "there is no place between the two: a thread races with another at one and the same statement",
	placer.ClosedPlace: "no barrier can be written between the two",
	placer.Diverges:    "not all threads of the block reach the places between the two together",
	placer.Useless:     "barriers between the two do not separate them",
}

// edit makes the patch.
func (s *syncer) edit(placements map[*syntax.Func]placer.Placement, texts map[*syntax.Func]*found) error {
	files, err := s.unit.Edits(placements, func(fn *syntax.Func, l placer.Label) string { return texts[fn].barrierText(s.unit, fn, l) })
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

// verifyResult proves the patched sources from the beginning, compiled without points.
func (s *syncer) verifyResult(ctx context.Context) error {
	opt := s.opt
	opt.Lower.Marked, opt.Files, opt.Prove, opt.OnlyIntraBlock, opt.Progress, opt.Printf = nil, source.NewSet(), true, true, nil, nil
	again := s.file
	for name, text := range s.out.Patched {
		if name == s.file.Name {
			again.Content = text
		} else { // a header: what is on the disk is not what is to be judged
			opt.Lower.Marked = append(opt.Lower.Marked, lower.Marked{Name: name, Content: text})
		}
	}
	for i := range s.out.Kernels {
		if k := &s.out.Kernels[i]; k.Given {
			opt.given = append(opt.given, k.Kernel)
		}
	}
	sum, err := RunInputs(ctx, opt, []Input{again}, func(diag.Diagnostic) {})
	if err != nil {
		return err
	}
	for i := range s.out.Kernels {
		k := &s.out.Kernels[i]
		for _, v := range sum.Verdicts {
			if v.Kernel == k.Kernel && k.Status != SyncNotChecked {
				k.Verdict = v
			}
		}
	}
	return nil
}
