package fix

import (
	"context"
	"fmt"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/exhaustive"
	"heddle/internal/event"
	"heddle/internal/explore"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/repair"
)

// A proof gives most fences no effect, and a run shows one order of events. So where a text has
// strong accesses and no better judgement than clean runs, all executions of a small launch decide
// (engine/exhaustive): it is wrong, or right for that launch. The launch is chosen once, for the
// first text, with two blocks at least unless the launch is known to have one: a fence or a scope
// that suffices within a block must not be taken for one that suffices between blocks.

// Bounds of the exploration of one text, and of all texts of one kernel, in partial executions. A
// text that needs more keeps the judgement of its runs.
const (
	exploreStates  = 20_000
	exploresStates = 20 * exploreStates
)

// small is the launch that is explored.
type small struct {
	grid, block event.Dim3
	scope       string // "2 blocks of 1 thread"
	chosen      string // how it was chosen
	none        bool   // no small launch is of use
}

// explored judges a text by all executions of a small launch, if it has one and if strong accesses
// or fences may order something.
func (j *judge) explored(ctx context.Context, p *parsed, out *repair.Judgement) error {
	if out.Grade != repair.Clean || !p.kernel.HasStrong() || j.small != nil && j.small.none ||
		j.f.explored >= exploresStates {
		return nil
	}
	job := j.f.d.Job(j.f.in, p.kernel).Into(func(diag.Diagnostic) {})
	opt := exhaustive.Options{
		Options: explore.Options{Unroll: 4, MaxStates: exploreStates, Symmetry: true},
		Place:   func(in *ir.Instr) string { return fmt.Sprint(textOffset(p, in)) },
	}
	if j.small == nil {
		opt.AutoGrid, opt.AutoBlock, opt.MinBlocks = true, true, j.blocks(p)
	} else {
		job.Launch.Grid, job.Launch.Block = &j.small.grid, &j.small.block
	}
	res, err := exhaustive.Kernel(ctx, job, &opt)
	if err != nil {
		return err
	}
	if res.Report != nil {
		j.f.explored += res.Report.Stats.States
	}
	if j.small == nil {
		j.choose(res)
	}
	switch kind, _ := res.Verdict(); kind {
	case diag.Verified:
		out.Grade = repair.Explored
		out.Scope += "; and all executions that the PTX memory model allows for " + j.small.scope
	case diag.Bug:
		if rep := res.Report; len(rep.Races) == 0 && rep.Hang == nil {
			return nil // strong accesses without an order: the runs judge these
		}
		j.foundIn(p, res, out)
	}
	return nil
}

// blocks is the number of blocks that a small launch has at least.
func (j *judge) blocks(p *parsed) int {
	cfg, errs := launch.Resolve(p.kernel, j.asked, j.f.in.Facts)
	if len(errs) == 0 && cfg.Geometry.Blocks() == 1 && !cfg.Origins["grid"].Guessed() {
		return 1
	}
	return 2
}

// choose takes note of the launch that was chosen for the first text.
func (j *judge) choose(res *exhaustive.Result) {
	if res.Report == nil {
		j.small = &small{none: true}
		return
	}
	g := res.Config.Geometry
	j.small = &small{grid: g.Grid, block: g.Block, scope: res.Launch(), chosen: res.ChoiceText()}
}

// foundIn adds what an exploration found. Of the first text, the findings are kept with their words:
// no run shows them.
func (j *judge) foundIn(p *parsed, res *exhaustive.Result, out *repair.Judgement) {
	out.Grade = repair.Buggy
	for _, r := range res.Report.Races {
		th := [2]*explore.Thread{}
		var ins [2]*ir.Instr
		for i, at := range [...]explore.Place{r.First, r.Second} {
			t, in := r.Instruction(at)
			th[i], ins[i] = t, in.Site.(*ir.Instr)
		}
		f := repair.Finding{Kind: repair.Race, Reach: repair.InBlock, Shown: true,
			A: textOffset(p, ins[0]), B: textOffset(p, ins[1])}
		if th[0].Position.CTA != th[1].Position.CTA {
			f.Reach = repair.AcrossBlocks
		}
		out.Findings = append(out.Findings, f)
		if j.before == nil {
			j.shownBy = append(j.shownBy, exploredRace{
				offsets: [2]int{f.A, f.B}, threads: [2]string{th[0].Name, th[1].Name}, why: r.Why()})
		}
	}
	if len(res.Report.Races) == 0 {
		out.Findings = append(out.Findings, repair.Finding{Kind: repair.Other, Shown: true,
			A: repair.End, B: repair.End, Reach: repair.InBlock, Text: "an execution of " +
				j.small.scope + " does not end, and heddle cannot know which thread should end it"})
	}
	out.Scope = scopeOfRuns + j.small.scope
}

// textOffset is the offset of an instruction in the text; of one of a called function, that of the
// call.
func textOffset(p *parsed, in *ir.Instr) int {
	for in.Caller != nil {
		in = in.Caller
	}
	return offsetOf(p.file, in)
}

// exploredRace is a race that only an exploration of the first text shows.
type exploredRace struct {
	offsets [2]int
	threads [2]string
	why     string
}

// wrongExplored describes the races of the first text that no run shows.
func (x *kernelFix) wrongExplored() []diag.Diagnostic {
	var out []diag.Diagnostic
	byOffset, users := map[int]*ir.Instr{}, instructions(x.k)
	for n, in := range instructions(x.kernel.Func) {
		if off := offsetOf(x.kernel.File, in); off != repair.End {
			byOffset[off] = users[n]
		}
	}
	seen := map[[2]int]bool{}
	for _, r := range x.judge.shownBy {
		a, b := byOffset[r.offsets[0]], byOffset[r.offsets[1]]
		key := [2]int{min(r.offsets[0], r.offsets[1]), max(r.offsets[0], r.offsets[1])}
		if seen[key] || a == nil || b == nil {
			continue
		}
		seen[key] = true
		out = append(out, diag.Diagnostic{
			Code: diag.CodeRaceGlobal, Severity: diag.Error, Kernel: x.k.Demangled, Input: x.in.Name,
			Span: driver.Place(b),
			Message: fmt.Sprintf("data race of %s and %s, in an execution that the PTX memory model "+
				"allows and no run shows", driver.OpText(a), driver.OpText(b)),
			Label:   "(2) by " + r.threads[1],
			Related: []diag.Related{{Span: driver.Place(a), Message: "(1) by " + r.threads[0]}},
			Notes: []string{"causality order does not relate the two, and " + r.why,
				fmt.Sprintf("heddle explore --grid %s --block %s --explain shows the execution",
					launch.Dims(x.judge.small.grid), launch.Dims(x.judge.small.block))},
		})
	}
	return out
}
