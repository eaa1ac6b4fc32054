package check

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"heddle/internal/diag"
	"heddle/internal/edit"
	"heddle/internal/event"
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

// found is what was found for one kernel.
type found struct {
	sync   Sync
	marked *marked
	result *placer.Result
}

// kernel searches barriers for one kernel.
func (s *syncer) kernel(ctx context.Context, in *input, fn *syntax.Func, kernels []*ir.Func) (*found, error) {
	began := time.Now()
	f := &found{sync: Sync{Kernel: kernels[0].Demangled, Verdict: diag.Verdict{Kind: diag.Unknown, Kernel: kernels[0].Demangled, Reason: "not judged"}}}
	defer func() { f.sync.Time = time.Since(began) }()
	for _, k := range kernels {
		if s.config(in, k) == nil {
			f.sync.Status = SyncNotChecked
			f.sync.Stuck = []string{"its launch is not known"}
			return f, nil
		}
	}
	limit := s.opt.Timeout
	if limit == 0 {
		limit = DefaultTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	f.marked = newMarked(s.driver, in, s.unit, fn, kernels)
	oracle, err := f.marked.oracle(s.so.Oracle)
	if err != nil {
		return nil, err
	}
	f.sync.Oracle = oracle.Name()
	if s.so.Measured {
		if err := f.marked.measure(ctx); err != nil {
			return f, s.notJudged(ctx, f, err)
		}
	}
	cost := s.so.Cost
	if cost == (placer.Cost{}) {
		cost = placer.DefaultCost
	}
	f.sync.Before = cost.Total(&f.marked.tree, f.marked.tree.Standing())
	if err := s.search(ctx, limit, f, oracle, cost); err != nil {
		return f, s.notJudged(ctx, f, err)
	}
	f.report()
	return f, nil
}

// search asks for a placement that is right for all arguments; where there is none, for one that is for those of the launch.
func (s *syncer) search(ctx context.Context, limit time.Duration, f *found, oracle placer.Oracle, cost placer.Cost) error {
	var given bool
	if s.so.Oracle != "dynamic" {
		given = f.marked.unfixed()
	}
	general, cancel := ctx, context.CancelFunc(func() {})
	if given { // leave time for the arguments of the launch
		general, cancel = context.WithTimeout(ctx, limit/2)
	}
	defer cancel()
	first, err := s.once(general, f, oracle, cost)
	if err == nil && first.Found || !given || ctx.Err() != nil {
		f.result = first
		return err
	}
	f.marked.scalars = launch.Default
	oracle, _ = f.marked.oracle(s.so.Oracle) // by a name that was known before
	second, again := s.once(ctx, f, oracle, cost)
	if again != nil || !second.Found {
		f.result = first
		return err
	}
	f.result, f.sync.Given = second, true
	if err == nil {
		f.sync.Elsewhere = f.stuckTexts(first)
		second.Calls += first.Calls
	}
	return nil
}

// once is one search with one oracle.
func (s *syncer) once(ctx context.Context, f *found, oracle placer.Oracle, cost placer.Cost) (*placer.Result, error) {
	if s.so.VerifyOnly {
		return judgeStanding(ctx, &f.marked.tree, oracle, cost)
	}
	r, err := placer.Synthesize(ctx, &f.marked.tree, oracle, s.so.Options)
	if err != nil || !r.Found || len(r.OtherBlocks) == 0 {
		return r, err
	}
	// A barrier that nothing in the block needs may be part of what orders blocks, as in a barrier of the grid.
	for l := range f.marked.tree.Standing() {
		if r.Placement[l] {
			continue
		}
		if was, err := judgeStanding(ctx, &f.marked.tree, oracle, cost); err == nil && was.Found {
			was.Calls += r.Calls
			return was, nil
		}
		break
	}
	return r, nil
}

// notJudged takes the error of an oracle: a kernel that cannot be judged is a result, not a failure.
func (s *syncer) notJudged(ctx context.Context, f *found, err error) error {
	var no *notJudgedError
	var lost *ir.LostBarrierError
	var where *unlocatedError
	var other *undecidedBarrierError
	switch {
	case ctx.Err() != nil, errors.Is(err, context.DeadlineExceeded):
		f.sync.Stuck = []string{"out of time"}
	case errors.As(err, &no):
		f.sync.Verdict = no.verdict
		f.sync.Stuck = []string{no.verdict.Kind.String() + ": " + no.verdict.Reason}
		if no.verdict.Kind == diag.Unsupported && f.sync.Oracle != "dynamic" {
			f.sync.Stuck[0] += " (--oracle dynamic judges by runs)"
		}
		if no.verdict.Span.IsValid() {
			f.sync.Stuck[0] += " at " + s.files.Format(no.verdict.Span.Start)
		}
	case errors.As(err, &lost), errors.As(err, &where), errors.As(err, &other):
		f.sync.Stuck = []string{err.Error()}
	default:
		return err
	}
	f.sync.Status = SyncNotChecked
	return nil
}

// judgeStanding asks the oracle about the barriers that stand.
func judgeStanding(ctx context.Context, t *placer.Tree, oracle placer.Oracle, cost placer.Cost) (*placer.Result, error) {
	p := t.Standing()
	a, err := oracle.Check(ctx, p)
	if err != nil {
		return nil, err
	}
	r := &placer.Result{Placement: p, Calls: 1, Cost: cost.Total(t, p), Verified: a.Verified, Unknown: a.Unknown, Found: true}
	for i := range a.Races {
		if a.Races[i].OtherBlock {
			r.OtherBlocks = append(r.OtherBlocks, a.Races[i])
			continue
		}
		r.Found = false
		r.Stuck = append(r.Stuck, placer.Stuck{Race: &a.Races[i], Loop: placer.None, Cause: placer.Useless})
	}
	for _, l := range a.Divergences {
		if p[l] {
			r.Found, r.GaveUp = false, "a barrier is not reached by all threads"
		}
	}
	return r, nil
}

// report words a result.
func (f *found) report() {
	r, t := f.result, &f.marked.tree
	f.sync.Calls, f.sync.Optimal, f.sync.After = r.Calls, r.Optimal, r.Cost
	for i := range r.OtherBlocks {
		f.sync.OtherBlocks = append(f.sync.OtherBlocks, r.OtherBlocks[i].Why)
	}
	if !r.Found {
		f.sync.Status = SyncNone
		f.sync.Stuck = append(f.sync.Stuck, f.stuckTexts(r)...)
		return
	}
	f.sync.Status = SyncUnchanged
	standing := t.Standing()
	all := placer.Placement{}
	for l := range standing {
		all[l] = true
	}
	for l := range r.Placement {
		all[l] = true
	}
	listed := map[origin]int{}
	for _, l := range all.Labels() {
		if i, ok := listed[f.marked.origins[l]]; ok { // at another call site
			f.why(&f.sync.Barriers[i], l)
			continue
		}
		listed[f.marked.origins[l]] = len(f.sync.Barriers)
		b := SyncBarrier{Where: f.marked.node(l).Span, Kept: standing[l] && r.Placement[l], Gone: standing[l] && !r.Placement[l], Warp: t.Labels[l].Warp}
		if b.Gone || !b.Kept {
			f.sync.Status = SyncChanged
		}
		b.Place, b.At = f.place(l), f.at(l)
		f.why(&b, l)
		f.sync.Barriers = append(f.sync.Barriers, b)
	}
}

// why adds what a barrier after a label separates.
func (f *found) why(b *SyncBarrier, l placer.Label) {
	for _, why := range f.result.Reasons[l] {
		if text := f.reason(why); !slices.Contains(b.Why, text) {
			b.Why = append(b.Why, text)
		}
	}
}

// stuckTexts words why a search found nothing.
func (f *found) stuckTexts(r *placer.Result) []string {
	var out []string
	for i := range r.Stuck {
		out = append(out, f.stuck(&r.Stuck[i]))
	}
	if r.GaveUp != "" {
		out = append(out, r.GaveUp)
	}
	return out
}

// place words where a barrier stands.
func (f *found) place(l placer.Label) string {
	if fn := f.marked.origins[l].fn; fn != f.marked.fn {
		in := " of " + fn.Name
		if fn.File != f.marked.fn.File {
			in += " (" + fn.File.Name + ")"
		}
		return f.inFunc(l) + in
	}
	return f.inFunc(l)
}

// inFunc words the place of a barrier in its function.
func (f *found) inFunc(l placer.Label) string {
	node, file := f.marked.node(l), f.marked.origins[l].fn.File
	span := node.Span
	line := func(p source.Pos, back int) int {
		if off, ok := file.Offset(p); ok && off >= back {
			return file.PosAt(off - back).Line()
		}
		return p.Line()
	}
	from := f.marked.origins[l]
	switch n := from.fn.Tree.Labels[from.l]; {
	case n.Barrier:
		return fmt.Sprintf("at line %d", span.Start.Line())
	case n.Kind == placer.Start:
		if at := node.At; at > 0 {
			return fmt.Sprintf("at the beginning of the block of line %d", file.PosAt(at-1).Line())
		}
		return fmt.Sprintf("at the beginning of the block of line %d", line(span.Start, 0))
	}
	return fmt.Sprintf("after line %d", line(span.End, 1))
}

// reason words what a barrier separates.
func (f *found) reason(r placer.Reason) string {
	return fmt.Sprintf("separates %s %s", r.Race.Why, f.level(r.Race, r.Level, r.Loop))
}

// level words how the accesses of a race follow each other.
func (f *found) level(r *placer.Race, level int, loop placer.Label) string {
	switch {
	case loop != placer.None:
		return fmt.Sprintf("across iterations of the loop at line %d", f.marked.node(loop).Span.Start.Line())
	case len(f.marked.tree.CommonLoops(r.A, r.B)) > 0:
		return "within an iteration"
	}
	return "in the order of the text"
}

var causes = map[placer.Cause]string{
	placer.NoPlace:     "there is no place between the two: a thread races with another at one and the same statement",
	placer.ClosedPlace: "no barrier can be written between the two",
	placer.Diverges:    "not all threads of the block reach the places between the two together",
	placer.Useless:     "barriers between the two do not separate them",
}

// stuck words why a race cannot be separated.
func (f *found) stuck(st *placer.Stuck) string {
	return fmt.Sprintf("%s race %s: %s", st.Race.Why, f.level(st.Race, st.Level, st.Loop), causes[st.Cause])
}

// barrierText is the statement of a barrier, with the flags of what it separates.
func (f *found) barrierText(u *syntax.Unit, fn *syntax.Func, l placer.Label) string {
	var spaces []event.Space
	for at := range f.result.Placement {
		if f.marked.origins[at] == (origin{fn, l, true}) {
			return "__syncwarp();"
		}
	}
	for at, reasons := range f.result.Reasons {
		for _, why := range reasons {
			if f.marked.origins[at] == (origin{fn, l, false}) {
				spaces = append(spaces, f.marked.spaces[[2]placer.Label{why.Race.A, why.Race.B}]...)
			}
		}
	}
	shared := slices.Contains(spaces, event.Shared) || len(spaces) == 0
	global := len(spaces) == 0 || slices.ContainsFunc(spaces, func(s event.Space) bool { return s != event.Shared })
	return u.Barrier(shared, global)
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
