package fix

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"heddle/internal/emu"
	"heddle/internal/engine/prove"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/ptx"
	"heddle/internal/race"
	"heddle/internal/repair"
	"heddle/internal/source"
	"heddle/internal/verify"
)

// How a text is judged, from the cheapest question to the dearest: runs of the known launches,
// among them those that showed a bug before; a proof for all arguments that are not given; replays
// of its counterexamples; and, once for the original text, a search for other launches (run.Hunt).
//
// Buggy means that a run showed a bug, Verified that the proof succeeded. Clean means neither, so a
// repair that is only clean can be wrong for inputs that were not tried; the result says so. A run
// that hits its step limit makes the text Unknown, never Clean.

// judge is the repair.Judge of one kernel. It runs the emulator with the race detector on some
// launches, and if they show nothing, asks the static engine, whose counterexamples become launches
// too.
type judge struct {
	f        *fixer
	kernel   string // mangled
	launches []run.Trial
	hosts    []int         // the launches of host code, as launch.Request.Host
	from     launch.Origin // scalar arguments from there, or from what counts more, are given
	before   *memo         // of the first text
	// inputs were searched, or a bug was found without a search; only of the first text
	hunted  bool
	guessed *guess        // the bug that is repaired was found with a guessed shape
	long    bool          // a run of the text took too long
	ran     uint64        // warp instructions of all runs
	limit   time.Duration // of a proof, if the user gives one
	spent   time.Duration
}

// guess is a launch with a guessed shape, and the judgement of the kernel without it.
type guess struct {
	launch  string
	without repair.Judgement
}

// memo is a judgement with its text. Only the first text has one: several searches start from it.
type memo struct {
	text  []byte
	proof bool
	*repair.Judgement
}

// newJudge returns a judge that takes scalar arguments as given if they come from that origin, or
// from one that takes precedence over it. The launches are the user's, each once for each seed;
// counterexamples and the search for other launches add to them.
func newJudge(f *fixer, k *ir.Func, from launch.Origin) *judge {
	j := &judge{f: f, kernel: k.Name, from: from, limit: f.opt.Prove.Timeout}
	all, errs := launch.Launches(k, f.opt.Common.Launch, f.in.Facts)
	if len(errs) > 0 {
		return j // they were reported
	}
	for _, cfg := range all.Configs {
		j.hosts = append(j.hosts, cfg.Host)
		for i := range max(f.opt.Run.Seeds, fixSeeds) {
			j.launches = append(j.launches, run.Trial{
				Launch: j.request(cfg.Host), Seed: f.opt.Run.Seed + uint64(i),
			})
		}
	}
	return j
}

// request is what the user asked for, for one of the launches of host code.
func (j *judge) request(host int) launch.Request {
	req := j.f.opt.Common.Launch
	req.Host = host
	return req
}

// parsed is a text of PTX with one kernel of it.
type parsed struct {
	file   *source.File
	decls  []ptx.Decl
	tree   *ptx.Func
	kernel *ir.Func
	// guesses of each launch of host code, by launch.Request.Host, made when a race asks for them
	guesses map[int]*run.Guesses
}

// repairable is the kernel as package repair takes it.
func (p *parsed) repairable() *repair.Kernel {
	return &repair.Kernel{File: p.file, Tree: p.tree, Func: p.kernel}
}

// parseKernel reads a text of PTX and finds the kernel of that name in it. Candidates are parsed
// from scratch, so a repair that is not valid PTX is an error here and not a wrong verdict.
func parseKernel(name, kernel string, text []byte) (*parsed, error) {
	set := source.NewSet()
	file, err := set.Add(name, text)
	if err != nil {
		return nil, err
	}
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 {
		return nil, fmt.Errorf("%s: %s", set.Format(errs[0].Span.Start), errs[0].Msg)
	}
	m, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		return nil, fmt.Errorf("%s: %s", set.Format(errs[0].Span.Start), errs[0].Msg)
	}
	p := &parsed{file: file, decls: tree.Decls, kernel: m.Kernel(kernel)}
	for _, d := range tree.Decls {
		if fn, ok := d.(*ptx.Func); ok && fn.Entry && fn.Name == kernel && fn.Body != nil {
			p.tree = fn
		}
	}
	if p.kernel == nil || p.tree == nil {
		return nil, fmt.Errorf("the text has no kernel %s", kernel)
	}
	return p, nil
}

// errTexts is the error of a repair that checked too many texts.
var errTexts = fmt.Errorf("heddle gave up after checking %d candidates", mostTexts)

// Judge implements repair.Judge.
func (j *judge) Judge(ctx context.Context, text []byte, proof bool) (*repair.Judgement, error) {
	if m := j.before; m != nil && m.proof == proof && bytes.Equal(m.text, text) {
		return m.Judgement, nil
	}
	if j.f.texts++; j.f.texts > mostTexts {
		return nil, errTexts
	}
	began := time.Now()
	defer func() { j.spent += time.Since(began) }()
	out, err := j.look(ctx, text, proof)
	if j.before == nil && err == nil {
		j.before = &memo{text, proof, out}
	}
	return out, err
}

// look judges a text that has not been judged before.
//
// The launches come first, and among them those that exposed a bug before, since most candidates
// fail in the first run. A run that was cut off at its step limit does not prevent a proof, and a
// proof makes the text Verified whatever the runs covered.
func (j *judge) look(ctx context.Context, text []byte, proof bool) (*repair.Judgement, error) {
	p, err := parseKernel(j.f.in.Lowered.Name, j.kernel, text)
	if err != nil {
		return nil, fmt.Errorf("the repaired PTX is malformed: %w", err)
	}
	out := &repair.Judgement{Grade: repair.Clean}
	j.long = false
	for _, t := range j.launches {
		if err := j.runOnce(ctx, p, t, out); err != nil {
			return nil, err
		}
		if len(out.Findings) > 0 {
			out.Grade, j.hunted = repair.Buggy, true
			return out, nil
		}
	}
	if proof && (out.Grade == repair.Clean || j.long) {
		j.prove(ctx, p, out)
	}
	if !j.hunted && (out.Grade == repair.Clean || out.Grade == repair.Unknown) {
		j.hunt(ctx, p, out)
	}
	j.hunted = true
	return out, ctx.Err()
}

// runOnce executes one launch and adds what it shows. The grade never improves here: a run can show
// a bug or a gap, and only a proof can show their absence.
func (j *judge) runOnce(ctx context.Context, p *parsed, t run.Trial, out *repair.Judgement) error {
	cfg, errs := launch.Resolve(p.kernel, t.Launch, j.f.in.Facts)
	if len(errs) > 0 {
		return fmt.Errorf("%s", errs[0].Msg)
	}
	m, err := emu.New(p.kernel, cfg)
	if err != nil {
		out.Grade, out.Reason = repair.Unknown, err.Error()
		return nil
	}
	common := j.f.d.Options()
	det := run.Watch(common, p.kernel, cfg, m, false)
	opt := emu.Options{
		Model: common.Warp, Seed: t.Seed, MaxSteps: run.QuickSteps(common, cfg, nil), Workers: 1,
		StopAtFault: true, Memory: common.Memory,
	}
	res, err := m.Run(ctx, opt, det)
	if err != nil {
		return err
	}
	j.ran += res.Steps
	found, guess := j.evident(p, t.Launch.Host, m, cfg, det.Report())
	if guess != "" {
		out.Grade, out.Reason = repair.Unknown, "a race rests on a guess: "+guess
	}
	j.shown(p, m, found, out)
	switch res.Status {
	case emu.Stopped:
		out.Grade, out.Reason = repair.Unknown, res.Stop.Message
		j.long = j.long || res.Stop.Kind == emu.Spinning
	case emu.StepLimit:
		out.Grade, out.Reason = repair.Unknown, "a run reached its step limit"
		j.long = true
	}
	out.Scope = scopeOfRuns + cfg.Describe()
	return nil
}

// evident returns what a run found without the races that rest on a guess, as heddle check counts
// them: changing a kernel for a pitch that heddle made up would be wrong. If there are such races, on
// names the guesses of one.
func (j *judge) evident(p *parsed, host int, m *emu.Machine, cfg *launch.Config,
	rep *race.Report) (found *race.Report, on string) {
	if len(rep.Races) == 0 {
		return rep, ""
	}
	guesses := j.guessesOf(p, host)
	if guesses == nil {
		return rep, ""
	}
	kept := *rep
	kept.Races = nil
	for i := range rep.Races {
		if g := guesses.Race(&rep.Races[i], m, cfg); g != "" {
			on = g
			continue
		}
		kept.Races = append(kept.Races, rep.Races[i])
	}
	return &kept, on
}

// guessesOf returns the guesses of the launch that the user asked for; nil if it cannot be resolved.
func (j *judge) guessesOf(p *parsed, host int) *run.Guesses {
	if g, ok := p.guesses[host]; ok {
		return g
	}
	var g *run.Guesses
	if asked, errs := launch.Resolve(p.kernel, j.request(host), j.f.in.Facts); len(errs) == 0 {
		g = run.NewGuesses(j.f.d.Job(j.f.in, p.kernel), asked, 0)
	}
	if p.guesses == nil {
		p.guesses = make(map[int]*run.Guesses)
	}
	p.guesses[host] = g
	return g
}

// shown adds the findings of a run. Findings are pairs of byte offsets in the text, since the
// instructions of one text mean nothing in another. A misuse of a barrier is of kind Other and
// carries its reason.
func (j *judge) shown(p *parsed, m *emu.Machine, rep *race.Report, out *repair.Judgement) {
	at := func(s event.Site) int { // in a function that is called: the call
		info := m.Site(s)
		if n := len(info.Calls); n > 0 {
			return offsetOf(p.file, info.Calls[n-1])
		}
		return offsetOf(p.file, info.Instr)
	}
	races := slices.Concat(rep.Races, run.Mistakes(p.kernel, m, rep))
	for i := range races {
		rc := &races[i]
		f := repair.Finding{Kind: repair.Race, Reach: reachOf[rc.Level], Shown: true}
		f.A, f.B = at(rc.First.Site), at(rc.Second.Site)
		switch rc.Cause {
		case race.NotWaited:
			f.Kind = repair.Copy
		case race.OtherProxy:
			f.Kind = repair.Coherence
		}
		out.Findings = append(out.Findings, f)
	}
	for i := range rep.Barriers {
		be := &rep.Barriers[i]
		if be.Kind == race.SplitBarrier {
			continue // a warning: see package run
		}
		f := repair.Finding{Kind: repair.Divergence, Shown: true, Reach: repair.InBlock}
		f.A, f.B = repair.End, repair.End
		if why, ok := misuse[be.Kind]; ok {
			f.Kind, f.Text = repair.Other, why
		}
		var sites []event.Site
		for _, g := range be.Groups {
			if !slices.Contains(sites, g.Site) {
				sites = append(sites, g.Site)
			}
		}
		if len(sites) == 0 {
			continue
		}
		f.A = at(sites[0])
		for _, s := range sites[1:] {
			f.B = at(s)
			out.Findings = append(out.Findings, f)
		}
		if len(sites) == 1 {
			out.Findings = append(out.Findings, f)
		}
	}
}

// scopeOfRuns begins the scope of what runs alone have shown.
const scopeOfRuns = "this launch: "

// misuse is why a wrong use of a barrier is not repaired.
var misuse = map[race.BarrierKind]string{
	race.CountMismatch: "threads reach one barrier with different counts, " +
		"and heddle cannot know which count was intended",
	race.NoWaiter: "no thread waits at a barrier that arrivals alone complete, " +
		"and heddle cannot know which thread should wait",
	race.Recycled: "threads may reach a barrier before its previous generation is complete; " +
		"use another barrier number for one of the two",
	race.TooMany: "more threads may reach a barrier than it expects, " +
		"and heddle cannot know which threads were meant to wait for each other",
}

// reachOf is the smallest group of threads that a repair must synchronize. Races of a thread with
// itself, and between the branches of a warp, count as within the warp.
var reachOf = map[race.Level]repair.Reach{
	race.IntraWarp: repair.InWarp, race.SameThread: repair.InWarp, race.BranchOrdering: repair.InWarp,
	race.IntraBlock: repair.InBlock, race.InterBlock: repair.AcrossBlocks,
}

func offsetOf(f *source.File, in *ir.Instr) int {
	if in == nil {
		return repair.End
	}
	off, ok := f.Offset(in.Span.Start)
	if !ok {
		return repair.End
	}
	return off
}

// prove asks the static engine about a text that runs found clean.
//
// Its own time limit, if there is one, does not end the replays. Findings that no replay confirmed
// are added as unconfirmed: they lead the search to places, and never make a text Buggy.
func (j *judge) prove(ctx context.Context, p *parsed, out *repair.Judgement) {
	outer := ctx
	if j.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, j.limit)
		defer cancel()
	}
	was := out.Grade
	for _, host := range j.hosts {
		if !j.proveLaunch(ctx, outer, p, host, out) {
			if out.Grade == repair.Verified { // an earlier launch is
				out.Grade = was
			}
			return
		}
	}
}

// proveLaunch is prove for one of the launches of host code. It reports whether it is verified.
func (j *judge) proveLaunch(ctx, outer context.Context, p *parsed, host int,
	out *repair.Judgement) bool {
	cfg, errs := launch.Resolve(p.kernel, j.request(host), j.f.in.Facts)
	if len(errs) > 0 {
		return false
	}
	pr := j.f.prover.Proof(j.f.d.Job(j.f.in, p.kernel), cfg)
	if pr.Fixed = pr.Scalars(j.from); j.limit == 0 {
		pr.Steps = proofSteps
	}
	r, v := pr.Verify(ctx, mostCounterexamples)
	switch {
	case r == nil:
		out.Reason = v.Kind.String() + ": " + v.Reason
		return false
	case r.Verified():
		out.Grade, out.Scope = repair.Verified,
			strings.Join(append([]string{pr.Scope(r)}, pr.Details(r)...), "; ")
		return true
	}
	out.Reason = openReason(r)
	replays := &replayer{
		j: j, proof: pr, p: p, thread: r.Thread, host: host, did: map[string]bool{},
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Model != nil && !f.Unusual && replays.replay(outer, f, out) {
			out.Grade = repair.Buggy
			return false
		}
	}
	j.unconfirmed(p, r, out)
	return false
}

// unconfirmed adds the findings of a proof that no replay confirmed.
func (j *judge) unconfirmed(p *parsed, r *verify.Result, out *repair.Judgement) {
	for i := range r.Findings {
		f := &r.Findings[i]
		if f.Kind == verify.Bounds || f.Kind == verify.Lanes {
			continue // no barrier repairs them
		}
		g := repair.Finding{Kind: repair.Race, Reach: repair.InBlock}
		g.A, g.B = offsetOf(p.file, f.A), offsetOf(p.file, f.B)
		if f.Kind == verify.Divergence {
			g.Kind = repair.Divergence
		} else if f.OtherBlock {
			g.Reach = repair.AcrossBlocks
		}
		out.Findings = append(out.Findings, g)
	}
}

// openReason describes what a proof leaves open. It names no places, since those of a repaired text
// are not the user's.
func openReason(r *verify.Result) string {
	out := "the static engine found no proof"
	if len(r.Findings) == 0 {
		return out
	}
	text := func(in *ir.Instr) string {
		if in == nil {
			return "the end of the kernel"
		}
		return in.Text()
	}
	what := "a race"
	f := &r.Findings[0]
	switch f.Kind {
	case verify.Race:
	case verify.Divergence:
		what = "divergence"
	default:
		return out
	}
	out += fmt.Sprintf(": it cannot rule out %s between %s and %s", what, text(f.A), text(f.B))
	if len(r.Thread.Approximate) > 0 {
		out += " (" + strings.Join(r.Thread.Approximate, "; ") + ")"
	}
	return out
}

// mostCounterexamples bounds the counterexamples of one text that are replayed.
const mostCounterexamples = 8

// replayer replays the counterexamples of one text. Each finding has several sets of arguments,
// which differ in the contents of buffers; equal sets run once.
type replayer struct {
	j      *judge
	proof  *prove.Proof
	p      *parsed
	thread *lockstep.Thread
	host   int             // the launch of host code
	did    map[string]bool // by the arguments of a run
}

// replay runs a counterexample with the arguments that were not run before. A launch that shows
// something is tried first from then on.
func (r *replayer) replay(ctx context.Context, f *verify.Finding, out *repair.Judgement) bool {
	j := r.j
	for _, contents := range prove.Replays {
		req := r.proof.Inputs(j.request(r.host), f, r.thread, contents)
		key := req.Inputs()
		if r.did[key] {
			continue
		}
		r.did[key] = true
		found := &repair.Judgement{Grade: repair.Clean}
		if err := j.runOnce(ctx, r.p, run.Trial{Launch: req}, found); err != nil {
			continue
		}
		if len(found.Findings) > 0 {
			j.launches = append([]run.Trial{{Launch: req}}, j.launches...)
			out.Findings = found.Findings
			return true
		}
	}
	return false
}

// hunt looks for a launch that shows something where those of the judge did not. A launch that it
// finds with a shape that the user did not give is a guess: the kernel may not be meant to run like
// that.
func (j *judge) hunt(ctx context.Context, p *parsed, out *repair.Judgement) {
	var found *repair.Judgement
	asked := j.f.opt.Common.Launch
	search := run.Hunt{
		Job: j.f.d.Job(j.f.in, p.kernel), Seed: j.f.opt.Run.Seed, Ran: &j.ran,
		Try: func(ctx context.Context, t run.Trial) (bool, error) {
			found = &repair.Judgement{Grade: repair.Clean}
			err := j.runOnce(ctx, p, t, found)
			return len(found.Findings) > 0, err
		},
	}
	t := search.Search(ctx)
	if t == nil {
		return
	}
	if t.Launch.Block != asked.Block {
		j.guessed = &guess{strings.TrimPrefix(found.Scope, scopeOfRuns), *out}
	}
	j.launches = append([]run.Trial{*t}, j.launches...)
	out.Grade, out.Findings, out.Scope = repair.Buggy, found.Findings, found.Scope
}
