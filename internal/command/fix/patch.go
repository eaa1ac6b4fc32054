package fix

import (
	"context"
	"crypto/sha256"
	"slices"
	"strings"

	"heddle/internal/edit"
	"heddle/internal/engine/run"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lazyregexp"
	"heddle/internal/repair"
	"heddle/internal/syntax"
)

// isFence matches a fence or membar and its scope.
var isFence = lazyregexp.New(`^\s*(?:fence\.acq_rel|fence\.sc|membar)\.(\w+);`)

// isStatement matches instructions without operands of the program, which an asm statement may
// hold: CUDA has no function for them.
var isStatement = lazyregexp.New(`^(?:(?:` +
	`fence\.proxy\.async\.[a-z:]+|fence\.proxy\.async::generic\.[a-z_:.]+|fence\.mbarrier_init\.release\.cluster|` +
	`barrier\.cluster\.(?:arrive|wait)|cp\.async\.bulk\.(?:commit_group|wait_group 0)|` +
	`tcgen05\.(?:wait::(?:ld|st)\.sync\.aligned|fence::(?:before|after)_thread_sync)|` +
	`wgmma\.(?:fence|commit_group|wait_group)\.sync\.aligned(?: 0)?);\s*)+$`)

// The search for a form of a plan in the source. A place between two instructions may be several
// places between statements, so each part of a plan has choices. They are tried in the order of
// rank.go: the best choice of every part, then every second best, and so on; then all choices
// together, less what the judge does not need. Candidates that compile to a PTX that was judged
// before are skipped. What is not found in mostSources compilations stays a repair of the PTX.

// sourceForm is the form of a repair in the source.
type sourceForm struct {
	edits     []edit.Edit // of the file, with those of the kernels before
	rewritten map[*syntax.Func]*rewritten
	after     *repair.Judgement
	ptx       []byte
}

// mostSources bounds the sources that are compiled for one kernel.
const mostSources = 60

// sourceSearch looks for steps that express a plan in the source.
type sourceSearch struct {
	*sourceChange
	j        *judge
	compiled int
	why      error       // of the first that failed
	lesser   *sourceForm // what was accepted by runs, where a proof is wanted
	tried    map[[sha256.Size]byte]bool
}

// search is a search for the form of a change of a kernel.
func (s *sourceFixer) search(k *ir.Func, j *judge) *sourceSearch {
	change := &sourceChange{sourceFixer: s, kernel: k}
	return &sourceSearch{sourceChange: change, j: j, tried: map[[sha256.Size]byte]bool{}}
}

// places matches the source positions and comments in a module of PTX.
var places = lazyregexp.New(`(?m)^\s*(?:\.loc|\.file|//).*\n|//.*$`)

// attempt compiles and judges steps; nil if they are not accepted, or were tried before. If no more
// than a clean result is wanted, nothing is proved. Two sources with one PTX, apart from positions
// and comments, are one candidate.
func (s *sourceSearch) attempt(ctx context.Context, steps []step, want repair.Grade) (
	*sourceForm, error) {
	edits, made, err := s.edited(steps)
	if err != nil {
		s.refused(err)
		return nil, nil
	}
	text, err := edit.Apply(s.user, edits)
	if err != nil {
		return nil, err
	}
	if s.known(text) {
		return nil, nil
	}
	if s.compiled++; s.compiled > mostSources || ctx.Err() != nil {
		return nil, ctx.Err()
	}
	ptx, err := s.compile(ctx, text)
	if err != nil {
		s.refused(err)
		return nil, nil
	}
	if s.known(places.ReplaceAll(ptx, nil)) {
		return nil, nil
	}
	after, err := s.j.Judge(ctx, ptx, want == repair.Verified)
	if err != nil {
		s.refused(err)
		return nil, ctx.Err()
	}
	if after.Grade < want {
		if after.Grade >= repair.Clean && s.lesser == nil {
			s.lesser = &sourceForm{edits, made, after, ptx}
		}
		s.refused(errNotEnough)
		return nil, nil
	}
	if err := s.harmsOthers(ctx, steps, ptx); err != nil {
		s.refused(err)
		return nil, ctx.Err()
	}
	return &sourceForm{edits, made, after, ptx}, nil
}

// errNotEnough is why a form is refused that was compiled and judged.
var errNotEnough = notInSourcef("editing the source at the places of the repair is not enough")

// refused keeps the first reason, which is about the form that expresses most of the plan. What
// cannot be written says more than that something else was not enough.
func (s *sourceSearch) refused(why error) {
	if s.why == nil || s.why == errNotEnough {
		s.why = why
	}
}

// known reports whether a text was tried before. It counts as tried from now on.
func (s *sourceSearch) known(text []byte) bool {
	key := sha256.Sum256(text)
	was := s.tried[key]
	s.tried[key] = true
	return was
}

// harmsOthers returns an error if a change of a function that other kernels may call breaks one of
// them. A kernel that was repaired must be as right as it was then. Of others it compares runs of
// the launch alone, so it can miss a change that breaks another kernel for other inputs.
func (s *sourceSearch) harmsOthers(ctx context.Context, steps []step, ptx []byte) error {
	if !slices.ContainsFunc(steps, func(st step) bool { return !st.fn.Kernel }) {
		return nil
	}
	if err := s.keepsRepaired(ctx, ptx); err != nil {
		return err
	}
	for _, k := range s.f.in.Kernels() {
		if k.Name == s.j.kernel || s.f.d.Job(s.f.in, k).Config() == nil || s.wasRepaired(k) {
			continue
		}
		other := &judge{f: s.f, kernel: k.Name, limit: s.j.limit, hunted: true,
			asked: s.f.d.Job(s.f.in, k).Launch}
		other.launches = []run.Trial{{Launch: other.asked, Seed: s.f.opt.Run.Seed}}
		before, err := other.Judge(ctx, s.f.in.Lowered.PTX, false)
		if err != nil {
			return err
		}
		if after, err := other.Judge(ctx, ptx, false); err != nil || after.Grade < before.Grade {
			return notInSourcef("the change would break kernel %s, which also calls the changed function",
				k.Demangled)
		}
	}
	return nil
}

// choices are steps of which one is taken, best first.
type choices []step

// fromPlan turns a plan into steps: those that are necessary, and those to choose from. A plan has
// an error, and no form, if one of its parts has none: a part is never left out.
func (s *sourceFixer) fromPlan(k *ir.Func, plan *repair.Plan) (
	must []step, open []choices, err error) {
	byIndex := instructions(k)
	for _, p := range slices.Concat(plan.Barriers, plan.Bare) {
		open = append(open, s.point(k, p, s.unit.Barrier(true, true), true))
	}
	if s.unit.OpenCL && len(plan.Warps)+len(plan.Inserts) > 0 {
		return nil, nil, notInSourcef("OpenCL C has no warp barriers, " +
			"and its fences differ from those of CUDA")
	}
	for _, p := range plan.Warps {
		open = append(open, s.point(k, p, "__syncwarp();", false))
	}
	for _, in := range plan.Inserts {
		if in.Use != nil {
			list := s.objectPoint(k, in.At, in.Use)
			if len(list) == 0 {
				return nil, nil, notInSourcef("%s cannot be written in the source: %s", inserted(in.Text),
					"no call or asm statement in a function of the file names its operands")
			}
			open = append(open, list)
			continue
		}
		if in.Moved != nil {
			list, err := s.movedTo(k, in.At, byIndex[in.Moved.Index])
			if err != nil {
				return nil, nil, err
			}
			open = append(open, list)
			continue
		}
		text := fenceText(in.Text)
		if text == "" {
			return nil, nil, notInSourcef("%s cannot be written in the source: %s", inserted(in.Text),
				"its operands have no names there")
		}
		open = append(open, s.point(k, in.At, text, false))
	}
	for i := range plan.Drop {
		fn, off, err := s.place(byIndex[i])
		if err != nil {
			return nil, nil, err
		}
		must = append(must, step{fn: fn, drop: off, split: -1})
	}
	// It stays. All threads reach it because the function is rewritten.
	for i := range plan.Split {
		fn, off, err := s.place(byIndex[i])
		if err != nil {
			return nil, nil, err
		}
		must = append(must, step{fn: fn, drop: -1, split: -1, insert: &syntax.Insert{At: off}})
	}
	for i, text := range plan.Texts {
		if use := plan.Uses[i]; use != nil {
			list, err := s.objectChange(k, byIndex[i], use)
			if err != nil {
				return nil, nil, err
			}
			open = append(open, list)
			continue
		}
		st, ok, err := s.replaced(byIndex[i], text)
		if err != nil {
			return nil, nil, err
		}
		if ok {
			must = append(must, st)
		}
	}
	for _, c := range open {
		if len(c) == 0 {
			return nil, nil, notInSourcef("part of the repair " +
				"does not lie between two statements of the file")
		}
	}
	slices.SortFunc(must, func(a, b step) int {
		return max(a.drop, a.split, a.at) - max(b.drop, b.split, b.at)
	})
	return must, open, nil
}

// inserted names what a plan inserts in a sentence.
func inserted(text string) string {
	switch text = strings.TrimSpace(text); {
	case strings.Contains(text, "tcgen05.dealloc"): // what is in front of it alone has a form
		return "tcgen05.dealloc"
	case strings.HasPrefix(text, "{"):
		return "a wait for a phase of an mbarrier"
	}
	op, _, _ := strings.Cut(text, "\n")
	return strings.TrimSuffix(strings.ReplaceAll(op, "\t", ""), ";")
}

// replaced is the step for an instruction that becomes another. It knows two forms: another fence,
// and an atomic update of which the load carries the text.
func (s *sourceFixer) replaced(in *ir.Instr, text string) (step, bool, error) {
	fn, off, err := s.place(in)
	if err != nil {
		return step{}, false, err
	}
	fence := fenceText(text)
	switch {
	case text == "" && in.Action() == isa.ActTensorAllocate:
		st, err := s.removed(in)
		return st, true, err
	case text == "" && in.Action() == isa.ActStore: // its load became the whole update
		return step{}, false, nil
	case fence != "" && in.Action() == isa.ActFence:
		return step{fn: fn, drop: -1, split: -1, at: off, replace: fence}, true, nil
	case strings.HasPrefix(text, "atom") && in.IsPlainLoad():
		atomic, err := s.unit.AtomicUpdate(fn, off)
		return step{fn: fn, drop: -1, split: -1, at: off, replace: atomic}, true, err
	}
	if st, ok := s.asmChange(in, text); ok {
		return st, true, nil
	}
	return step{}, false, notInSourcef("%s becomes %s, which cannot be written in the source",
		in.Text(), strings.TrimSpace(text))
}

// simplest returns the form in the source of the repair, or that of an alternative at the same cost
// which changes fewer lines: a barrier between two statements is better than one within a
// statement, which has to be divided for it. That alternative becomes the repair.
func (x *kernelFix) simplest(ctx context.Context, s *sourceFixer) (*sourceForm, error) {
	best, err := s.inSource(ctx, x)
	if err != nil || !s.removesLines(best) {
		return best, err
	}
	r := x.result
	for i := range r.Alternatives {
		was := *r
		a := &r.Alternatives[i]
		r.Plan, a.Plan = a.Plan, r.Plan
		r.Changes, a.Changes = a.Changes, r.Changes
		r.Patch, a.Patch = a.Patch, r.Patch
		r.After, a.After = a.After, r.After
		form, err := s.inSource(ctx, x)
		if ctx.Err() != nil {
			return best, ctx.Err()
		}
		if err == nil && form.after.Grade >= best.after.Grade &&
			s.changedLines(form) < s.changedLines(best) {
			best = form
			continue
		}
		a.Plan, a.Changes, a.Patch, a.After = r.Plan, r.Changes, r.Patch, r.After
		r.Plan, r.Changes, r.Patch, r.After = was.Plan, was.Changes, was.Patch, was.After
	}
	return best, nil
}

// inSource looks for a form in the source of the plan of a repair. It searches twice: with what the
// control flow of the kernel says about statements that all threads reach, and, if that fails, with
// what the source alone says.
func (s *sourceFixer) inSource(ctx context.Context, of *kernelFix) (*sourceForm, error) {
	k, kernel, plan, want := of.k, of.kernel, of.result.Plan, of.result.After.Grade
	must, open, err := s.fromPlan(k, plan)
	if err != nil {
		return nil, err
	}
	x := repair.New(kernel)
	for _, b := range kernel.Func.Blocks {
		for _, in := range b.Instrs {
			if plan.Drop[in.Index] || plan.Split[in.Index] {
				x.Diverges(b.ID)
			}
		}
	}
	search := s.search(k, of.judge)
	if form, err := search.already(ctx, want); form != nil || err != nil {
		return form, err
	}
	must = search.include(must, open)
	for _, uniform := range []func(*syntax.Func) func(int, int) bool{s.uniformIn(k, x), nil} {
		search.uniform = uniform
		fix, err := search.choose(ctx, must, open, want)
		if fix != nil || err != nil {
			return fix, err
		}
	}
	if search.lesser != nil { // judged as far as can be: a proof was wanted and not found
		return search.lesser, nil
	}
	if search.why == nil {
		return nil, notInSourcef("heddle found no way to write the change in the source")
	}
	return nil, search.why
}

// choose tries the best choice everywhere, then each second best and so on, then all of them
// together, less what is not needed.
func (s *sourceSearch) choose(ctx context.Context, must []step, open []choices,
	want repair.Grade) (*sourceForm, error) {
	most := 0
	for _, c := range open {
		most = max(most, len(c))
	}
	for n := range max(most, 1) {
		steps := slices.Clone(must)
		for _, c := range open {
			steps = appendNew(steps, c[min(n, len(c)-1)])
		}
		fix, err := s.attempt(ctx, steps, want)
		if fix != nil && len(s.again) > 0 { // together with others it may be more than is needed
			fix, err = s.narrow(ctx, steps, fix, want)
		}
		if fix != nil || err != nil {
			if err == nil && want != repair.Verified {
				fix.after, err = s.judged(ctx, fix)
			}
			return fix, err // the plan leaves nothing out that could be
		}
	}
	steps := slices.Clone(must)
	for _, c := range open {
		for _, st := range c {
			if _, _, err := s.edited(append(slices.Clone(must), st)); err == nil {
				steps = appendNew(steps, st)
			}
		}
	}
	fix, err := s.attempt(ctx, steps, want)
	if fix == nil || err != nil {
		return nil, err
	}
	if fix, err = s.narrow(ctx, steps, fix, want); err != nil {
		return nil, err
	}
	return s.last(ctx, fix, want)
}

// last judges a result again that only runs have judged: a proof that fails may show an input that
// they did not have.
func (s *sourceSearch) last(ctx context.Context, fix *sourceForm, want repair.Grade) (
	*sourceForm, error) {
	if want == repair.Verified {
		return fix, nil
	}
	after, err := s.judged(ctx, fix)
	if err != nil {
		return nil, err
	}
	fix.after = after
	return fix, nil
}

// judged judges a result again, with everything that the judge has.
func (s *sourceSearch) judged(ctx context.Context, fix *sourceForm) (*repair.Judgement, error) {
	after, err := s.j.Judge(ctx, fix.ptx, true)
	if err == nil && after.Grade < repair.Clean {
		return nil, notInSourcef("the changed source passed the first runs but not the final check")
	}
	return after, err
}

func appendNew(steps []step, st step) []step {
	if slices.ContainsFunc(steps, func(o step) bool { return sameStep(o, st) }) {
		return steps
	}
	return append(steps, st)
}

// narrow removes what is not needed: statements that were inserted, those in most loops first, and
// of them the last first. One is dropped at a time, so the cost is one compilation for each.
func (s *sourceSearch) narrow(ctx context.Context, steps []step, fix *sourceForm,
	want repair.Grade) (*sourceForm, error) {
	var inserted []step
	for _, st := range slices.Backward(steps) {
		if st.insert != nil && st.insert.Text != "" {
			inserted = append(inserted, st)
		}
	}
	slices.SortStableFunc(inserted, func(a, b step) int { return s.loops(b) - s.loops(a) })
	left := len(inserted)
	for _, st := range inserted {
		if left == 1 {
			break
		}
		less := slices.Clone(steps)
		less = slices.DeleteFunc(less, func(o step) bool { return sameStep(o, st) })
		smaller, err := s.attempt(ctx, less, max(want, fix.after.Grade))
		if err != nil {
			return nil, err
		}
		if smaller != nil {
			steps, fix = less, smaller
			left--
		}
	}
	return fix, nil
}

// loops is the number of loops around a statement that is inserted, in its function.
func (s *sourceSearch) loops(st step) int {
	_, n, _ := s.unit.Spot(st.fn, *st.insert)
	return n
}

// withoutRedundant is the form in the source of a kernel without the barriers that are proved
// redundant. There is one attempt and no choice: the statements are those of the barriers.
func (s *sourceFixer) withoutRedundant(ctx context.Context, k *ir.Func, list []repair.Redundant,
	j *judge) (*sourceForm, error) {
	byIndex := instructions(k)
	var steps []step
	for _, r := range list {
		if !r.Proved {
			continue
		}
		fn, off, err := s.place(byIndex[r.Barrier.Index])
		if err != nil {
			return nil, err
		}
		steps = append(steps, step{fn: fn, drop: off, split: -1})
	}
	search := s.search(k, j)
	everywhere := func(int, int) bool { return true }
	search.uniform = func(*syntax.Func) func(int, int) bool { return everywhere }
	fix, err := search.attempt(ctx, steps, repair.Verified)
	if fix == nil && err == nil {
		err = search.why
	}
	return fix, err
}
