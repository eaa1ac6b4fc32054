package fix

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"heddle/internal/emu"
	"heddle/internal/engine/run"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/ptx"
	"heddle/internal/race"
	"heddle/internal/repair"
	"heddle/internal/source"
)

// How a text is judged, from the question that decides most to the one that decides least: the few
// blocks in which a bug was shown before, since most candidates fail there; a proof for all
// arguments that are not given; replays of its counterexamples, in their blocks; runs of the known
// launches, if there is no proof; and, once for the original text, a search for other launches
// (run.Hunt).
//
// Buggy means that a run showed a bug, Verified that the proof succeeded. Clean means neither, so a
// repair that is only clean can be wrong for inputs that were not tried; the result says so. A run
// that hits its step limit makes the text Unknown, never Clean. Of a text that is clean and not
// verified, all executions of a small launch are explored, if strong accesses may order something
// (explored.go).

// judge is the repair.Judge of one kernel.
type judge struct {
	f      *fixer
	kernel string         // mangled
	asked  launch.Request // what flags and the configuration say of its launch
	// witnesses are runs that showed a bug, of the blocks in which it is.
	witnesses []run.Trial
	launches  []run.Trial
	hosts     []int // the launches of host code, as launch.Request.Host
	before    *memo // of the first text
	// inputs were searched, or a bug was found without a search; only of the first text
	hunted  bool
	guessed *guess // the bug that is repaired was found with a guessed shape
	// whether: all that counts of a text is whether it is verified.
	whether bool
	// late: the first text has proxy fences by other threads than those of the accesses.
	late bool
	// suspect is a run with a race that rests on guesses about which nothing else is known, such as
	// the contents of memory; nil: none.
	suspect *run.Trial
	small   *small         // the launch of which all executions are explored; nil: not chosen yet
	shownBy []exploredRace // what only that shows of the first text
	limit   time.Duration  // of a proof, if the user gives one
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

// newJudge returns a judge. The launches are the user's, each once for each seed; counterexamples
// and the search for other launches add to them.
func newJudge(f *fixer, k *ir.Func) *judge {
	j := &judge{f: f, kernel: k.Name, asked: f.d.Job(f.in, k).Launch, limit: f.opt.Prove.Timeout}
	all, errs := launch.Launches(k, f.d.Job(f.in, k).Launch, f.in.Facts)
	if len(errs) > 0 {
		return j // they were reported
	}
	for _, cfg := range all.Configs {
		j.hosts = append(j.hosts, cfg.Host)
		for i := range max(f.opt.Run.Seeds, seedsFor(k)) {
			j.launches = append(j.launches, run.Trial{
				Launch: j.request(cfg.Host), Seed: f.opt.Run.Seed + uint64(i),
			})
		}
	}
	return j
}

// outlooks are the origins from which scalar arguments are taken as given: for all arguments that
// no flag gives, and else for those that host code, a comment or a configuration gives, as for
// heddle check. What goes wrong with others alone may never happen, and is no reason to change a
// kernel, so that the last origin decides.
func (f *fixer) outlooks(k *ir.Func) []launch.Origin {
	out := []launch.Origin{launch.FromProgram}
	cfg, errs := launch.Resolve(k, f.d.Job(f.in, k).Launch, f.in.Facts)
	if len(errs) > 0 {
		return out
	}
	p := f.prover.Proof(f.d.Job(f.in, k), cfg)
	if len(p.Scalars(launch.FromHost)) > len(p.Scalars(launch.FromProgram)) {
		out = append(out, launch.FromHost)
	}
	return out
}

// request is what the user asked for, for one of the launches of host code.
func (j *judge) request(host int) launch.Request {
	req := j.asked
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

// errLimit is the error of a repair that checked too many texts, or ran them for too long.
var errLimit = errors.New("heddle gave up the search: it is bounded in candidates and in steps")

// Judge implements repair.Judge.
func (j *judge) Judge(ctx context.Context, text []byte, proof bool) (*repair.Judgement, error) {
	if m := j.before; m != nil && m.proof == proof && bytes.Equal(m.text, text) {
		return m.Judgement, nil
	}
	if j.f.texts++; j.f.texts > mostTexts || j.f.ran > mostRan {
		return nil, errLimit
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
func (j *judge) look(ctx context.Context, text []byte, proof bool) (*repair.Judgement, error) {
	p, err := parseKernel(j.f.in.Lowered.Name, j.kernel, text)
	if err != nil {
		return nil, &repair.Malformed{Err: err}
	}
	out := &repair.Judgement{Grade: repair.Clean}
	for _, t := range j.witnesses {
		if err := j.runOnce(ctx, p, t, out); err != nil {
			return nil, err
		}
		if len(out.Findings) > 0 {
			out.Grade = repair.Buggy
			return out, nil
		}
	}
	if proof {
		j.prove(ctx, p, out)
	}
	if out.Grade != repair.Verified && j.whether {
		out.Grade = repair.Unknown
	} else if out.Grade != repair.Verified && out.Grade != repair.Buggy {
		if err := j.runs(ctx, p, out); err != nil {
			return nil, err
		}
	}
	if err := j.trace(ctx, p, out); err != nil {
		return nil, err
	}
	if !j.hunted {
		if out.Grade == repair.Clean || out.Grade == repair.Unknown && j.suspect == nil {
			j.hunt(ctx, p, out)
		}
		j.hunted, j.f.ran = true, 0 // what follows has limits of its own
	}
	if !j.whether {
		if err := j.explored(ctx, p, out); err != nil {
			return nil, err
		}
	}
	return out, ctx.Err()
}

// runs executes the launches. What a failed proof suspects is replaced by what a run shows. Of the
// first text of a kernel with mbarriers, all of them count: what a missing wait shows first depends
// on the schedule, and it may be a consequence.
func (j *judge) runs(ctx context.Context, p *parsed, out *repair.Judgement) error {
	suspected, found := out.Findings, 0
	out.Findings = nil
	for _, t := range j.launches {
		if err := j.runOnce(ctx, p, t, out); err != nil {
			return err
		}
		if len(out.Findings) > found {
			out.Grade = repair.Buggy
			j.witnesses = append(j.witnesses, t)
			if found = len(out.Findings); j.before != nil || !repair.Tracks(p.kernel) {
				return nil
			}
		}
		if j.suspect != nil { // another schedule does not make it clean
			break
		}
	}
	if found == 0 {
		out.Findings = suspected
		return nil
	}
	return j.moreSchedules(ctx, p, out)
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
	if t.Blocks == nil {
		t.Blocks = run.Sample(p.kernel, cfg.Geometry)
	}
	common := j.f.d.Options()
	det := run.Watch(common, p.kernel, cfg, m, false)
	opt := emu.Options{
		Model: common.Warp, Seed: t.Seed, MaxSteps: run.QuickSteps(common, cfg, t.Blocks), Workers: 1,
		StopAtFault: true, Memory: common.Memory, Blocks: t.Blocks,
	}
	res, err := m.Run(ctx, opt, det)
	if err != nil {
		return err
	}
	j.f.ran += res.Steps
	rep := det.Report()
	rep.Proxies(common.FenceOfWriter, common.IgnoreProxyReads)
	found, guess, open := j.evident(p, t.Launch.Host, m, cfg, rep)
	if open && j.suspect == nil {
		j.suspect = &t
	}
	if guess != "" {
		out.Grade, out.Reason = repair.Unknown, "a race rests on a guess: "+guess
	}
	j.shown(p, m, found, out)
	j.unfinished(p, m, res, out)
	switch res.Status {
	case emu.Stopped:
		if !j.stopped(p, m, res, out) {
			out.Grade, out.Reason = repair.Unknown, res.Stop.Message
		}
	case emu.StepLimit:
		out.Grade, out.Reason = repair.Unknown, "a run reached its step limit"
	}
	out.Scope = scopeOfRuns + cfg.Describe()
	if n := uint64(len(t.Blocks)); n > 0 && n < cfg.Geometry.Blocks() {
		out.Scope += fmt.Sprintf(" (%d of its blocks)", n)
	}
	return nil
}

// evident returns what a run found without the races that rest on a guess, as heddle check counts
// them: changing a kernel for a pitch that heddle made up would be wrong. If there are such races,
// on names the guesses of one. open says that nothing decides the guesses of one of them
// (Guesses.Race).
func (j *judge) evident(p *parsed, host int, m *emu.Machine, cfg *launch.Config,
	rep *race.Report) (found *race.Report, on string, open bool) {
	if len(rep.Races) == 0 {
		return rep, "", false
	}
	guesses := j.guessesOf(p, host)
	if guesses == nil {
		return rep, "", false
	}
	kept := *rep
	kept.Races = nil
	for i := range rep.Races {
		if g, of := guesses.Race(&rep.Races[i], m, cfg); g != "" {
			on, open = g, open || of
			continue
		}
		kept.Races = append(kept.Races, rep.Races[i])
	}
	return &kept, on, open
}

// guessesOf returns the guesses of the launch that the user asked for; nil if it cannot be
// resolved.
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
	at := func(s event.Site) int { return siteOffset(p, m, s) }
	races := slices.Concat(rep.Races, run.Mistakes(p.kernel, m, rep), j.lateFences(rep))
	for i := range races {
		rc := &races[i]
		f := repair.Finding{Kind: repair.Race, Reach: reachOf[rc.Level], Shown: true}
		f.A, f.B = at(rc.First.Site), at(rc.Second.Site)
		switch rc.Cause {
		case race.NotWaited:
			f.Kind = repair.Copy
		case race.OtherProxy:
			f.Kind = repair.Coherence
		case race.NoProxyFence, race.LateProxyFence:
			proxyFinding(m.Geometry(), rc, &f)
		}
		out.Findings = append(out.Findings, f)
	}
	for i := range rep.Lifetimes {
		e := &rep.Lifetimes[i]
		f := repair.Finding{Kind: repair.NotStarted, Reach: repair.AcrossBlocks, Shown: true}
		if e.Kind == race.MayHaveEnded {
			f.Kind = repair.MayHaveEnded
		}
		f.A, f.B = at(e.Site), at(e.Site)
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

// unfinished adds the asynchronous operations that write to the shared memory of a block after its
// end. Stores that still read it are a warning of heddle check, and no finding here.
func (j *judge) unfinished(p *parsed, m *emu.Machine, res *emu.Result, out *repair.Judgement) {
	for i := range res.Leftovers {
		if o := &res.Leftovers[i]; !o.Store {
			at := siteOffset(p, m, o.Site)
			out.Findings = append(out.Findings, repair.Finding{
				Kind: repair.Unfinished, Reach: repair.InBlock, Shown: true, A: at, B: at,
				Text: "no thread waits for an asynchronous operation before the block ends, " +
					"and heddle cannot know which thread should wait",
			})
		}
	}
}

// siteOffset is the offset of a site in the text; in a function that is called, that of the call.
func siteOffset(p *parsed, m *emu.Machine, s event.Site) int {
	info := m.Site(s)
	if n := len(info.Calls); n > 0 {
		return offsetOf(p.file, info.Calls[n-1])
	}
	return offsetOf(p.file, info.Instr)
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

// hunt looks for a launch that shows something where those of the judge did not. A launch that it
// finds with a shape that the user did not give is a guess: the kernel may not be meant to run like
// that.
func (j *judge) hunt(ctx context.Context, p *parsed, out *repair.Judgement) {
	var found *repair.Judgement
	asked := j.asked
	search := run.Hunt{
		Job: j.f.d.Job(j.f.in, p.kernel), Seed: j.f.opt.Run.Seed, Ran: &j.f.ran,
		Sample: func(cfg *launch.Config) []uint32 { return run.Sample(p.kernel, cfg.Geometry) },
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
	j.witnesses = append(j.witnesses, *t)
	out.Grade, out.Findings, out.Scope = repair.Buggy, found.Findings, found.Scope
}
