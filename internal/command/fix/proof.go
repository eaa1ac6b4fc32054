package fix

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/engine/prove"
	"heddle/internal/engine/run"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/repair"
	"heddle/internal/verify"
)

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
	var r *verify.Result
	outlooks := j.f.outlooks(p.kernel)
	for i, from := range outlooks {
		most := 1
		if pr.Exists = j.whether || i < len(outlooks)-1; !pr.Exists {
			most = mostCounterexamples
		}
		if pr.Fixed = pr.Scalars(from); j.limit == 0 {
			if pr.Steps = min(proofSteps, j.f.steps); pr.Steps <= 0 {
				out.Reason = "the proofs of this repair have used up their steps"
				return false
			}
		}
		var v diag.Verdict
		r, v = pr.Verify(ctx, most)
		if r == nil {
			out.Reason = v.Kind.String() + ": " + v.Reason
			return false
		}
		if j.f.steps -= r.Stats.Steps; r.Verified() {
			out.Grade, out.Scope = repair.Verified,
				(&diag.Verdict{Scope: pr.Scope(r), Details: pr.Details(r)}).FullScope()
			return true
		}
	}
	if out.Reason = openReason(r); j.whether {
		return false
	}
	j.replays(outer, pr, p, host, r, out)
	if out.Grade != repair.Buggy {
		j.unconfirmed(p, r, out)
	}
	return false
}

// replays runs the counterexamples of a proof that no earlier replay of the text has shown.
func (j *judge) replays(ctx context.Context, pr *prove.Proof, p *parsed, host int,
	r *verify.Result, out *repair.Judgement) {
	replays := &replayer{
		j: j, proof: pr, p: p, thread: r.Thread, host: host, did: map[string]bool{},
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		a, b := offsetOf(p.file, f.A), offsetOf(p.file, f.B)
		known := slices.ContainsFunc(out.Findings, func(g repair.Finding) bool {
			across := g.Reach == repair.AcrossBlocks
			return across == f.OtherBlock && (g.A == a && g.B == b || g.A == b && g.B == a)
		})
		if f.Model != nil && !f.Unusual && !known && replays.replay(ctx, f, out) {
			out.Grade = repair.Buggy
		}
	}
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
		switch {
		case in == nil:
			return "the end of the kernel"
		case in.Action() == isa.ActStore:
			return "a write"
		case in.Action() == isa.ActLoad:
			return "a read"
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
	if f.Object != nil && f.Object.Name != "" {
		out += " of " + f.Object.Name
	}
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

// replay runs a counterexample with the arguments that were not run before, in the blocks of its two
// threads. A launch that shows something is tried first from then on.
func (r *replayer) replay(ctx context.Context, f *verify.Finding, out *repair.Judgement) bool {
	j := r.j
	blocks := run.Pair(r.p.kernel, r.proof.Config.Geometry, f.Ctaid)
	for _, contents := range prove.Replays {
		req := r.proof.Inputs(j.request(r.host), f, r.thread, contents)
		key := fmt.Sprint(req.Inputs(), blocks)
		if r.did[key] {
			continue
		}
		r.did[key] = true
		found := &repair.Judgement{Grade: repair.Clean}
		t := run.Trial{Launch: req, Blocks: blocks}
		if err := j.runOnce(ctx, r.p, t, found); err != nil {
			continue
		}
		if len(found.Findings) > 0 {
			j.witnesses = append(j.witnesses, t)
			out.Findings = append(out.Findings, found.Findings...)
			return true
		}
	}
	return false
}
