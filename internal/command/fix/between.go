package fix

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/edit"
	"heddle/internal/repair"
	"heddle/internal/repair/between"
	"heddle/internal/source"
	"heddle/internal/syntax"
	"heddle/internal/verify"
)

// Races between blocks that no barrier of a block orders are repaired by other means, each of which
// changes the host code as well and is only taken if the user allows it. All of them are tried, so
// that the user knows which would do. A result is the complete file, compiled again and proved.

// Between is a repair of races between blocks by one of the means of package between.
type Between struct {
	Means   between.Means
	Why     string // why it is none; empty if it is a repair
	Changes []Change
	Notes   []string
	Verdict diag.Verdict // of the patched file
	Diff    string       // to the file with the repairs of the kernels before
	text    []byte
	ptx     []byte
	after   *repair.Judgement
}

// racesBetween reports whether a run showed a race of a kernel in which the static engine cannot
// rule out races between blocks. A race may rest on contents that heddle guessed: the repair is
// proved for all contents.
func (x *kernelFix) racesBetween(ctx context.Context) bool {
	b := x.result.Before
	if b == nil || x.judge.guessed != nil || x.source == nil || len(x.opt.Only) > 0 {
		return false
	}
	race := func(f repair.Finding) bool { return f.Kind == repair.Race }
	far := func(f verify.Finding) bool { return f.Kind == verify.Race && f.OtherBlock }
	shown := b.Grade == repair.Buggy && slices.ContainsFunc(b.Shown(), race)
	suspected := b.Grade == repair.Unknown && x.judge.suspect != nil
	return (shown || suspected) &&
		slices.ContainsFunc(x.judge.races(ctx, x.kernel.Func), far)
}

// betweenBlocks tries all means, and takes the cheapest that is allowed. Without one it adds to the
// reason which would do.
func (x *kernelFix) betweenBlocks(ctx context.Context) error {
	switch {
	case !x.racesBetween(ctx):
		return nil
	case !x.opt.Source && len(x.opt.Between) > 0:
		x.explainBetween("what --allow names changes the host code, which PTX does not have")
		return nil
	case !x.opt.Source:
		return nil
	}
	cur, err := x.current(ctx, x.base)
	if err != nil {
		return err
	}
	var would, not []string
	for _, m := range between.All {
		if len(x.opt.Between) > 0 && !slices.Contains(x.opt.Between, m) {
			continue
		}
		b := &Between{Means: m}
		if err := x.tryBetween(ctx, cur, b); err != nil {
			return err
		}
		if b.Why == "" {
			would = append(would, m.String())
		} else {
			not = append(not, fmt.Sprintf("--allow %v does not repair it, because %s", m, b.Why))
		}
		x.out.Between = append(x.out.Between, *b)
	}
	first := slices.IndexFunc(x.out.Between, func(b Between) bool { return b.Why == "" })
	switch {
	case len(x.opt.Between) == 0 && first >= 0:
		x.explainBetween("--allow " + orList(would) + " would repair it")
		x.out.Between = nil
	case len(x.opt.Between) == 0:
		x.out.Between = nil
	case first >= 0:
		return x.takeBetween(ctx, &x.out.Between[first])
	default:
		x.explainBetween(strings.Join(not, "; "))
	}
	return nil
}

// explainBetween adds to the reason why a kernel is not repaired.
func (x *kernelFix) explainBetween(why string) {
	if n := len(x.out.Remaining); x.out.Status == PartlyRepaired && n > 0 {
		x.out.Remaining[n-1] += "; " + why
		return
	}
	x.out.Why += "; " + why
}

// orList joins words: "a, b or c".
func orList(words []string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " or " + words[n-1]
}

// takeBetween makes a repair that is allowed the result.
func (x *kernelFix) takeBetween(ctx context.Context, b *Between) error {
	s, out := x.source, x.out
	out.Status, out.Remaining, out.Changes = Repaired, nil, b.Changes
	if j := x.judge; j.suspect != nil && len(j.witnesses) == 0 {
		j.witnesses = append(j.witnesses, *j.suspect)
		out.Notes = append(out.Notes, x.result.Before.Reason)
	}
	if out.Wrong == nil {
		out.Wrong = x.wrong(ctx)
	}
	out.Alternatives, out.Notes = nil, append(out.Notes, b.Notes...)
	out.After, out.PTXOnly = b.Verdict, ""
	x.text, x.between = b.ptx, true
	if x.opt.Source {
		s.edits = edit.Between(s.user, 0, len(s.user.Content), string(b.text))
		out.Edits, out.Source = s.edits, b.Verdict
		for i := range out.Wrong {
			fix := diag.Fix{Message: b.Means.String() + " of " + x.k.Demangled, Edits: out.Edits}
			out.Wrong[i].Fixes = []diag.Fix{fix}
		}
	}
	x.explain(b.after)
	return nil
}

// tryBetween makes the candidate of a means, compiles and judges it. Whatever keeps it from being a
// repair is its reason.
func (x *kernelFix) tryBetween(ctx context.Context, cur *currentFile, b *Between) error {
	if cur.why != nil {
		b.Why = x.reason(cur, cur.why)
		return nil
	}
	var err error
	var list []*between.Candidate
	switch b.Means {
	case between.GridSync:
		list, err = x.gridSynced(ctx, cur)
	case between.DoubleBuffer:
		return x.doubleBuffered(ctx, cur, b)
	default:
		list, err = x.divided(ctx, cur)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		b.Why = x.reason(cur, err)
		return nil
	}
	for _, c := range list {
		if done, err := x.accepts(ctx, cur, c, b); done || err != nil {
			return err
		}
	}
	return nil
}

// accepts judges a candidate. If it is no repair, the reason is that of the first one that is none.
func (x *kernelFix) accepts(ctx context.Context, cur *currentFile, c *between.Candidate,
	b *Between) (bool, error) {
	why, err := x.judgeBetween(ctx, cur, c, b)
	if err != nil || why == "" {
		return err == nil, err
	}
	if c.Doubt != nil {
		why = x.reason(cur, c.Doubt)
	}
	if b.Why == "" {
		b.Why = why
	}
	return false, nil
}

// doubleBuffered tries copies of arrays, alone and with the barriers of a repair in part: a copy does
// nothing for other races within a block.
func (x *kernelFix) doubleBuffered(ctx context.Context, cur *currentFile, b *Between) error {
	if x.kernel.Func.HasStrong() {
		b.Why = "the kernel has atomic or volatile accesses, " +
			"which may order a write before a read of the copy"
		return nil
	}
	files := []*currentFile{cur}
	if x.out.Status == PartlyRepaired {
		with, err := x.current(ctx, x.source.edits)
		if err != nil {
			return err
		}
		files = append(files, with)
	}
	for _, file := range files {
		if file.why != nil {
			continue
		}
		c, err := file.kernel.DoubleBuffered()
		if err != nil {
			b.Why = x.reason(file, err)
			return nil
		}
		done, err := x.accepts(ctx, file, c, b)
		if done && err == nil {
			err = x.withoutBarriers(ctx, file, b)
		}
		if done && file != cur {
			b.Changes = slices.Concat(x.out.Changes, b.Changes)
		}
		if done || err != nil {
			return err
		}
	}
	return nil
}

// mostRemoved bounds the barriers that are tried to be removed from a kernel with copies.
const mostRemoved = 4

// withoutBarriers removes the barriers of the kernel that copies leave nothing to separate, the
// last first: the kernel has to stay verified without each.
func (x *kernelFix) withoutBarriers(ctx context.Context, file *currentFile, b *Between) error {
	n := file.kernel.Func.Barriers()
	if n > mostRemoved {
		return nil
	}
	var gone []int
	for i := n - 1; i >= 0; i-- {
		c, err := file.kernel.DoubleBuffered(append(slices.Clone(gone), i)...)
		if err != nil {
			return nil
		}
		less := &Between{Means: b.Means}
		why, err := x.judgeBetween(ctx, file, c, less)
		if err != nil {
			return err
		}
		if why == "" {
			gone, *b = append(gone, i), *less
		}
	}
	return nil
}

// reason is an error about a file with its place in the user's.
func (x *kernelFix) reason(cur *currentFile, err error) string {
	var host *syntax.HostError
	var rewrite *syntax.RewriteError
	pos := source.Pos(0)
	switch {
	case errors.As(err, &host):
		pos = host.Pos
	case errors.As(err, &rewrite):
		pos = rewrite.Span.Start
	}
	if !pos.IsValid() {
		return err.Error()
	}
	return fmt.Sprintf("%s:%d: %s", x.file.Name, x.inUser(cur, pos).Line(), err)
}
