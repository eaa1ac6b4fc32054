package prove

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/verify"
)

// Replay before "bug". The terms of package lockstep over-approximate what a thread can do, so a
// model of a query need not be an execution. Each model is turned into a launch and run, and only
// what the race detector shows in that run is a bug. If the model does not fix the contents of
// buffers, several contents are tried. A model that no run confirms leaves the kernel unknown.
//
// A replay is one schedule, or a few where threads synchronize through memory. It misses a race that
// needs another one, and contents of buffers that the model leaves open and none of Replays hits.

// examine replays the findings of a proof. If the emulator shows one of them, the kernel has a bug;
// otherwise it is unknown. The reason is that of the first finding that is open.
func (p *Proof) examine(ctx context.Context, r *verify.Result) diag.Verdict {
	bugs := 0
	seen := map[run.Key]bool{}
	var open []string
	for i := range r.Findings {
		f := &r.Findings[i]
		switch {
		case f.Kind == verify.Vacuous:
			open = append(open, p.Describe(f)+" is a contradiction: "+f.Reason)
		case f.Model == nil:
			reason := f.Reason
			if p.engine.hint != "" && ctx.Err() == nil {
				reason += "; " + p.engine.hint
			}
			open = append(open, fmt.Sprintf("%s is undecided: %s", p.Describe(f), reason))
		case f.Unusual:
			open = append(open, p.Describe(f)+" is possible only with arguments that no host is "+
				"expected to pass"+p.unsure(f, r.Thread))
		case ctx.Err() != nil:
			open = append(open, p.Describe(f)+" was not ruled out; time ran out before a run could show it")
		default:
			n, shown := p.replay(ctx, r.Thread, f, seen)
			if bugs += n; !shown {
				open = append(open, p.Describe(f)+" was not ruled out, and no run showed it"+
					p.unsure(f, r.Thread))
			}
		}
	}
	if bugs > 0 {
		p.Job.AddFindings(bugs, 0)
		return diag.Verdict{Kind: diag.Bug}
	}
	switch depends := p.guess.Reason(); {
	case depends != "":
		open = slices.Insert(open, 0, depends)
	case len(open) == 0:
		open = []string{"every counterexample shows a suppressed or known finding, and these prevent " +
			"a proof"}
	}
	p.doubtful = !slices.ContainsFunc(r.Findings, func(f verify.Finding) bool {
		return f.Kind != verify.Violation || f.Assertion.Kind == lockstep.NotEndless
	})
	reason := open[0]
	if len(open) > 1 {
		reason += fmt.Sprintf(" (and %d more)", len(open)-1)
	}
	for _, why := range slices.Concat(r.Thread.Approximate, r.NotZero) {
		reason += "; " + why
	}
	return diag.Verdict{Kind: diag.Unknown, Reason: reason}
}

// Describe names a finding as a noun phrase, to which callers add "is possible" or "is undecided".
func (p *Proof) Describe(f *verify.Finding) string {
	switch f.Kind {
	case verify.Violation:
		if f.Assertion.Kind == lockstep.NotEndless {
			return fmt.Sprintf("an endless loop at %s",
				p.Job.Format(driver.Place(f.A).Start))
		}
		return fmt.Sprintf("a violation of the %s at %s",
			f.Assertion.Kind, p.Job.Format(driver.Place(f.A).Start))
	case verify.Vacuous:
		return fmt.Sprintf("the assumption at %s", p.Job.Format(driver.Place(f.A).Start))
	case verify.Bounds:
		switch {
		case f.Object == nil && f.Reason == "":
			return p.at(f.A) + " through a null pointer"
		case f.Object == nil:
			return p.at(f.A) + " beyond the end of an array"
		}
		return fmt.Sprintf("%s beyond the end of %s", p.at(f.A), f.Object.Name)
	case verify.Unordered:
		return fmt.Sprintf("an exchange of data without an order between %s and %s",
			p.at(f.A), p.at(f.B))
	case verify.Lanes:
		return fmt.Sprintf("a lane that its mask names and that does not reach %s", p.at(f.A))
	case verify.Divergence:
		return fmt.Sprintf("divergence between %s and %s", p.at(f.A), p.at(f.B))
	}
	return fmt.Sprintf("a race between %s and %s", p.at(f.A), p.at(f.B))
}

// stays says that an access stays in its array.
func (p *Proof) stays(f *verify.Finding) string {
	if f.Object == nil {
		return fmt.Sprintf("the access at %s is not through a null pointer",
			p.Job.Format(driver.Place(f.A).Start))
	}
	return fmt.Sprintf("the access to %s at %s stays in it", f.Object.Name,
		p.Job.Format(driver.Place(f.A).Start))
}

// at names an instruction and its position; nil stands for the end of the kernel, at which threads
// that have exited no longer reach a barrier.
func (p *Proof) at(in *ir.Instr) string {
	if in == nil {
		return "the end of the kernel"
	}
	return fmt.Sprintf("%s at %s", in.Text(), p.Job.Format(driver.Place(in).Start))
}

// counterexample describes the model of a finding: its threads, their iterations, and the
// arguments.
func (p *Proof) counterexample(f *verify.Finding) string {
	g := p.Config.Geometry
	who := func(i int) string {
		s := "thread " + f.Tid[i].In(g.Block)
		if f.Ctaid[0] != f.Ctaid[1] {
			s += " of block " + f.Ctaid[i].In(g.Grid)
		}
		switch n := len(f.Iters[i]); {
		case n == 1:
			s += fmt.Sprintf(" in iteration %d", f.Iters[i][0])
		case n > 1:
			list := strings.ReplaceAll(fmt.Sprint(f.Iters[i]), " ", ", ")
			s += fmt.Sprintf(" in iterations %s of the enclosing loops", strings.Trim(list, "[]"))
		}
		return s
	}
	text := who(0)
	if f.Kind != verify.Bounds {
		text += " and " + who(1)
	}
	if f.Ctaid[0] == f.Ctaid[1] {
		text += " of block " + f.Ctaid[0].In(g.Grid)
	}
	for i, v := range p.Job.Kernel.Params {
		if val, ok := f.Model.Vars[lockstep.ParamName(v, 0, 8*v.Size)]; ok && !v.Pointer && v.Size <= 8 {
			shift := 64 - 8*v.Size
			text += fmt.Sprintf(", %s = %d", p.Config.Args[i].Name, int64(val<<shift)>>shift)
		}
	}
	return text
}

// unsure is Counterexample in brackets, to be appended.
func (p *Proof) unsure(f *verify.Finding, th *lockstep.Thread) string {
	return " (" + p.Counterexample(f, th) + ")"
}

// Counterexample describes the model of a finding that no run confirmed, and the approximations that
// may be the cause: loads of any value, and iterations of which only the previous one is known.
func (p *Proof) Counterexample(f *verify.Finding, th *lockstep.Thread) string {
	text := p.counterexample(f)
	if names := p.otherContents(f, th); len(names) > 0 {
		text += ", with other contents of " + strings.Join(names, ", ") + " than given"
	}
	const most = 3
	var free []string
	for _, in := range f.Free[:min(len(f.Free), most)] {
		free = append(free, p.at(in))
	}
	if n := len(f.Free) - most; n > 0 {
		free = append(free, fmt.Sprintf("%d more", n))
	}
	if len(free) > 0 {
		text += "; the proof allows any result of " + strings.Join(free, ", ")
	}
	if f.Loops {
		text += "; of each loop, only the previous iteration is known"
	}
	return text
}

// otherContents names the buffers of which the counterexample has other contents than somebody
// gave. No replay has these, so it cannot show what depends on them.
func (p *Proof) otherContents(f *verify.Finding, th *lockstep.Thread) []string {
	var out []string
	for o, data := range th.Contents(f.Model, mostContents) {
		i := slices.Index(p.Job.Kernel.Params, o.Var)
		if i < 0 || p.Config.Origins["arg "+p.Config.Args[i].Name].Guessed() {
			continue
		}
		a := &p.Config.Args[i]
		if a.Buffer != nil && !a.Buffer.Holds(data, a.Offset) {
			out = append(out, a.Name)
		}
		for _, ptr := range a.Fields {
			if ptr.Offset == o.Field && !ptr.Buffer.Holds(data, ptr.At) {
				out = append(out, fmt.Sprintf("%s+%d", a.Name, o.Field))
			}
		}
	}
	slices.Sort(out)
	return out
}

// Contents says what the buffers and scalars of a replay hold.
type Contents uint64

const (
	// Loaded is what the loads of the model returned, and the default contents elsewhere. Numbers
	// between Loaded and allZero are seeds of random bytes.
	Loaded Contents = 0
	// allZero has zeros instead of the scalars of the counterexample.
	allZero = asLaunched - 1
	// asLaunched has the arguments of the launch instead of those of the counterexample.
	asLaunched = ^Contents(0)
)

// Replays are the contents to try, in order. The last two only approximate the counterexample: the
// launch as it is, because the scalars of a counterexample may be too large to run; and zeros for
// scalars, which suit the buffers of zeros that launches have by default.
var Replays = []Contents{Loaded, 1, 2, 3, asLaunched, allZero}

// near reports whether a replay does not have the scalars of the counterexample.
func (c Contents) near() bool { return c >= allZero }

// replaySteps bounds one replay, in warp instructions. The prover prefers small counterexamples.
const replaySteps = 5_000_000

// mostReplayed bounds the blocks, and the threads, of a launch whose shape a counterexample chose.
const mostReplayed = 1 << 16

// mostContents bounds the bytes of one buffer that a replay gives.
const mostContents = 4096

// replay runs the kernel with the scalars of a counterexample and reports what the run shows that
// no replay before showed; shown says whether it showed anything at all.
func (p *Proof) replay(ctx context.Context, th *lockstep.Thread, f *verify.Finding,
	seen map[run.Key]bool) (fresh int, shown bool) {
	if f.Kind == verify.Divergence && f.OtherBlock {
		return 0, false // a run would spin in the grid-wide barrier until it reaches its step limit
	}
	for _, contents := range Replays {
		if contents.near() && len(p.opt.Assume) > 0 {
			continue // these values need not satisfy the assumptions
		}
		req := p.Inputs(p.Job.Launch, f, th, contents)
		req.AnyShared = true
		if p.opt.Any.Is() {
			if f.Grid.Count() > mostReplayed || f.Grid.Count()*f.Block.Count() > mostReplayed {
				return 0, false
			}
			req.Grid, req.Block, req.Global = &f.Grid, &f.Block, nil
		}
		key := fmt.Sprint(req.Inputs(), f.Grid, f.Block)
		if did, again := p.replayed[key]; again {
			if did {
				return 0, true
			}
			continue
		}
		cfg, errs := launch.Resolve(p.Job.Kernel, req, p.Job.Module.Facts)
		if cfg == nil || len(errs) > 0 {
			continue
		}
		r := p.replayOf(f, contents, cfg)
		r.Seen = seen
		if err := r.Start(); err != nil {
			return 0, false
		}
		schedules := uint64(1)
		// What the first one orders by chance, such as a flag that is set before anybody looks, another
		// one may not.
		if contents == Loaded && r.Machine.SyncsThroughMemory() {
			schedules = run.SyncSeeds
		}
		before := p.aside.Hits
		for seed := range schedules {
			goesOn := r.Once(ctx, seed)
			shown = r.Bugs > 0 || r.Guessed > 0 || r.Repeated > 0 || r.Aside.Hits > before
			if shown || !goesOn {
				break
			}
		}
		p.aside = r.Aside
		p.Job.AddFindings(0, r.Guessed)
		if p.replayed[key] = shown; shown {
			return r.Bugs, true
		}
	}
	return 0, false
}

// replayOf is the run of a counterexample.
func (p *Proof) replayOf(f *verify.Finding, contents Contents, cfg *launch.Config) *run.Run {
	r := run.New(p.Job, &p.engine.run, cfg)
	r.Command = "run" // reproduces it without a proof
	r.MaxSteps = cmp.Or(p.Job.Options().MaxSteps, replaySteps)
	r.Counts = func(c diag.Code) bool { return p.counts(c, f) }
	r.Aside, r.Guess = p.aside, p.guess
	if p.opt.FewBlocks {
		r.Blocks = run.Pair(p.Job.Kernel, cfg.Geometry, f.Ctaid)
	}
	r.Mark = func(g *diag.Diagnostic) {
		how := "the prover found this, and a run confirmed it, for "
		if contents.near() {
			how = "a run found this near a counterexample of the prover: "
		}
		g.Notes = append(g.Notes, how+p.counterexample(f))
		if g.Witness != nil {
			g.Witness.Status = "confirmed"
		}
	}
	return r
}

// counts reports whether a finding of a replay counts. A counterexample to an assertion is a failed
// assertion; with the values of another counterexample an assertion may fail as well, which shows
// nothing. For heddle check an assertion about data counts only for the data of the launch.
func (p *Proof) counts(code diag.Code, f *verify.Finding) bool {
	violation := f.Kind == verify.Violation && code == diag.CodeAssertFailed
	if code == diag.CodeRaceUnorderedStrong {
		return f.Kind == verify.Unordered
	}
	// An index that is right for the real block must not be wrong for a guessed one.
	guessed := p.Config.Origins["block"].Guessed() ||
		p.Config.Origins["grid"].Guessed() && f.Ctaid[0] != event.Dim3{}
	bounds := p.opt.Bounds || f.Kind == verify.Bounds && !f.Scalars && !guessed
	return Synchronization(code) || bounds && code == diag.CodeOutOfBounds ||
		f.Kind == verify.Lanes && code == diag.CodeBadBarrier || violation && !p.opt.OfLaunch
}

// Synchronization reports whether a code is one of those that a proof is about. A replay ignores
// all others: with the values of a counterexample a kernel may access memory out of bounds, which
// is not a bug of any real launch.
func Synchronization(code diag.Code) bool {
	switch code {
	case diag.CodeRaceShared, diag.CodeRaceGlobal, diag.CodeBranchOrder, diag.CodeAsyncCopy,
		diag.CodeBarrierDivergence, diag.CodeBarrierDeadlock, diag.CodeWarpSyncHang,
		diag.CodeAnnotation:
		return true
	}
	return false
}

// Inputs is the launch req with the arguments of a counterexample: scalars, fields of structs, and
// the contents of buffers. Random contents are guesses. Nothing replaces contents that req, a
// configuration, a comment or host code specifies.
func (p *Proof) Inputs(req launch.Request, f *verify.Finding, th *lockstep.Thread,
	contents Contents) launch.Request {
	switch {
	case contents == asLaunched:
		return req
	case contents == Loaded:
		req.Counterexample = p.buffers(th.Contents(f.Model, mostContents))
	case !contents.near():
		req.Guesses = slices.Concat(req.Guesses, p.randomBuffers(uint64(contents)))
	}
	req.Counterexample = slices.Concat(p.arguments(f, th, contents), req.Counterexample)
	return req
}

// randomBuffers are the arguments that fill buffers with random bytes: all but those by which
// threads synchronize, because kernels rely on locks, flags and counters that start at zero.
func (p *Proof) randomBuffers(seed uint64) []launch.ArgSpec {
	var out []launch.ArgSpec
	placed, uses := p.pointers(), launch.Uses(p.Job.Kernel)
	for i, v := range p.Job.Kernel.Params {
		_, into := placed[lockstep.Pointer{Param: v}] // keeps where it points
		sync := uses[launch.Place{Param: i}].Sync
		if v.Pointer && !into && !sync && v.PtrSpace != event.Shared {
			out = append(out, launch.ArgSpec{
				Param: fmt.Sprint(i), Offset: -1,
				Kind: launch.ArgBuffer, Fill: launch.FillRandom, Seed: seed,
			})
		}
	}
	return out
}

// arguments are the scalars and the fields of structs in a counterexample.
func (p *Proof) arguments(f *verify.Finding, th *lockstep.Thread,
	contents Contents) []launch.ArgSpec {
	var out []launch.ArgSpec
	value := func(v *ir.Var, off, w int) (uint64, bool) {
		name := lockstep.ParamName(v, off, w)
		if val, ok := f.Model.Vars[name]; ok {
			return val, true
		}
		val, ok := th.Given[name]
		return val, ok
	}
	for i, v := range p.Job.Kernel.Params {
		if _, given := p.Fixed[i]; given { // the proof was for this value; no other may be tried
			continue
		}
		spec := launch.ArgSpec{Param: fmt.Sprint(i), Offset: -1}
		scalar := !v.Pointer && v.Size <= 8 && len(v.PtrFields) == 0
		val, ok := value(v, 0, 8*v.Size)
		if _, given := th.Given[lockstep.ParamName(v, 0, 8*v.Size)]; contents == allZero && !given {
			val, ok = 0, true
		}
		if ok && scalar {
			spec.Kind, spec.Text = launch.ArgValue, fmt.Sprint(val)
			// negative, if it is signed: bits that any type takes
			if val > math.MaxInt8 && val>>(8*v.Size-1) != 0 {
				spec.Text = fmt.Sprintf("%#x", val)
			}
			out = append(out, spec)
		}
		if v.Pointer || scalar {
			continue
		}
		for off := range v.Size {
			for _, w := range []int{8, 16, 32, 64} {
				if val, ok := value(v, off, w); ok {
					out = append(out, launch.ArgSpec{
						Param: spec.Param, Offset: off,
						Kind: launch.ArgValue, Text: fmt.Sprintf("u%d:%d", w, val),
					})
				}
			}
		}
	}
	return out
}

// buffers are the arguments that fill arrays with bytes, in the order of the parameters.
func (p *Proof) buffers(loaded map[*lockstep.Object][]byte) []launch.ArgSpec {
	var out []launch.ArgSpec
	placed := p.pointers()
	for o, b := range loaded {
		i := slices.Index(p.Job.Kernel.Params, o.Var)
		_, into := placed[lockstep.Pointer{Param: o.Var, Field: o.Field}]
		if i < 0 || into || !slices.ContainsFunc(b, func(x byte) bool { return x != 0 }) {
			continue
		}
		spec := launch.ArgSpec{
			Param: fmt.Sprint(i), Offset: -1,
			Kind: launch.ArgBytes, Text: launch.HexBytes(b) + "...",
		}
		if !o.Var.Pointer {
			spec.Offset = o.Field
		}
		out = append(out, spec)
	}
	slices.SortFunc(out, func(a, b launch.ArgSpec) int {
		return cmp.Or(strings.Compare(a.Param, b.Param), cmp.Compare(a.Offset, b.Offset))
	})
	return out
}
