package weaken

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/internal/diag"
	"heddle/internal/edit"
	"heddle/internal/ir"
)

// The search is greedy: sites in the order of what they could save, and of each site the option
// that saves most. An option is kept if it is proved together with all that were kept before. So
// the offers hold together; another set of them may save more.

// run searches the file.
func (w *weakener) run(ctx context.Context) error {
	if err := w.read(ctx); err != nil {
		return err
	}
	places, err := w.places(ctx)
	if err != nil {
		return err
	}
	var kept []*option
	for _, p := range places {
		o, err := w.keep(ctx, kept, p)
		if err != nil {
			return err
		}
		if o != nil {
			kept = append(kept, o)
		}
	}
	for _, offered := range []bool{true, false} {
		for _, p := range places {
			if p.offer.Offered() == offered {
				w.out.Offers = append(w.out.Offers, p.offer)
			}
		}
	}
	if len(kept) == 0 {
		return nil
	}
	return w.finish(ctx, kept)
}

// place is a site with its options, and what is reported of it.
type place struct {
	site    *site
	options []*option
	offer   Offer
}

// places are the sites of the selected kernels that synchronize in a way that an offer may change,
// by what they could save.
func (w *weakener) places(ctx context.Context) ([]*place, error) {
	var out []*place
	for _, s := range w.sites() {
		if !s.selected() {
			continue
		}
		options, why, err := w.options(ctx, s)
		if err != nil {
			return nil, err
		}
		if options == nil && why == "" {
			continue
		}
		p := &place{site: s, options: options, offer: Offer{
			Kind: kindOf(s), At: w.pos(s.offset), Before: s.name, Runs: s.executed(), Reason: why,
		}}
		for k := range s.in {
			p.offer.Kernels = append(p.offer.Kernels, k.fn.Demangled)
		}
		slices.Sort(p.offer.Kernels)
		if len(options) > 0 {
			p.offer.Kind, p.offer.Saving = options[0].kind, options[0].gain*p.offer.Runs
		}
		out = append(out, p)
	}
	slices.SortStableFunc(out, func(a, b *place) int {
		return cmp.Compare(b.offer.Saving, a.offer.Saving)
	})
	return out, nil
}

// kindOf is the kind of a site without options.
func kindOf(s *site) Kind {
	switch {
	case s.name == "__syncthreads":
		return Barrier
	case fenceRanks[s.name] > 0:
		return Fence
	case scoped(s.name) != "":
		return Scope
	}
	return Order
}

// keep returns the first option of a place that is proved on top of others; nil if there is none.
func (w *weakener) keep(ctx context.Context, kept []*option, p *place) (*option, error) {
	var why []string
	for _, o := range p.options {
		if o.part != nil {
			sized, err := w.size(ctx, kept, o)
			if err != nil {
				return nil, err
			}
			if sized == nil {
				why = append(why, "a named barrier of fewer threads: not proved")
				continue
			}
			o = sized
		}
		list := append(kept[:len(kept):len(kept)], o)
		verdict, no, err := w.judge(ctx, list, o.site)
		if err != nil {
			return nil, err
		}
		if no != "" {
			why = append(why, fmt.Sprintf("%s: %s", cmp.Or(o.after, "nothing"), no))
			continue
		}
		return o, w.offer(ctx, kept, p, o, verdict)
	}
	if p.offer.Reason == "" {
		p.offer.Reason, p.offer.Saving = strings.Join(why, "; "), 0
	}
	return nil, nil
}

// offer describes an option that is kept.
func (w *weakener) offer(ctx context.Context, kept []*option, p *place, o *option,
	verdict diag.Verdict) error {
	f := &p.offer
	f.Kind, f.Before, f.After, f.Why = o.kind, o.before, o.after, o.why
	f.Assuming, f.Verdict, f.Saving = o.assuming, verdict, o.gain*f.Runs
	if o.kind != Barrier && o.kind != Part || o.after == "" {
		return nil
	}
	without := *p.options[0]
	text, err := w.text(append(kept[:len(kept):len(kept)], &without), 0, false)
	if err != nil {
		return err
	}
	var pairs []string
	for k := range o.site.in {
		if pairs, err = w.separates(ctx, text, k.fn.Name); err != nil {
			return err
		}
	}
	what := "threads of one warp"
	if o.part != nil {
		what = fmt.Sprintf("the first %d threads", o.part.threads)
		f.Why = []string{fmt.Sprintf("every launch needs blocks of at least %d threads, "+
			"or the barrier waits forever", o.part.threads)}
	}
	if len(pairs) > 0 {
		why := fmt.Sprintf("it still orders what it separates: accesses of %s in %s", what,
			strings.Join(pairs, ", "))
		f.Why = append([]string{why}, f.Why...)
	}
	return nil
}

// text is the file with some options, or a form of it for the proof of named barriers. Before the
// final text, a line that is removed stays empty, so that reasons name the lines of the user.
func (w *weakener) text(list []*option, beyond int, real bool) ([]byte, error) {
	var edits []edit.Edit
	for _, o := range list {
		if o.part != nil {
			edits = append(edits, o.part.form(w, beyond, real))
			continue
		}
		for _, e := range o.edits {
			if lines := e.Span.End.Line() - e.Span.Start.Line(); !w.final && e.New == "" {
				e.New = strings.Repeat("\n", lines)
			}
			edits = append(edits, e)
		}
	}
	return edit.Apply(w.user, edits)
}

// judge proves the kernels of a site with some options, the last of which is new: each kernel at
// all levels that its options need, and for each named barrier that it is enough; then runs it. It
// returns why not.
func (w *weakener) judge(ctx context.Context, list []*option, s *site) (diag.Verdict, string,
	error) {
	var verdict diag.Verdict
	real, err := w.text(list, 0, true)
	if err != nil {
		return verdict, "it overlaps with another offer", nil
	}
	for _, beyond := range bounds(list, s) {
		text, err := w.text(list, beyond, false)
		if err != nil {
			return verdict, "", err
		}
		c := w.compile(ctx, text)
		if c == nil {
			return verdict, "the changed file does not compile", ctx.Err()
		}
		for k := range s.in {
			p, err := w.holdsFor(ctx, c, k, needs(list, k), beyond)
			if err != nil || p.why != "" {
				return verdict, p.why, err
			}
			if beyond == 0 {
				verdict = verdictOf(k.fn.Demangled, p)
			}
		}
	}
	c := w.compile(ctx, real)
	if c == nil {
		return verdict, "the changed file does not compile", ctx.Err()
	}
	for k := range s.in {
		if why, err := w.runs(ctx, c, k.fn.Name); why != "" || err != nil {
			return verdict, why, err
		}
	}
	return verdict, "", nil
}

// holdsFor proves a kernel of a text at some levels, or the threads of it from an index on.
func (w *weakener) holdsFor(ctx context.Context, c *compiled, k *kernel, levels level,
	beyond int) (proved, error) {
	changed := c.in.IR.Kernel(k.fn.Name)
	if changed == nil {
		return proved{why: "the changed file has no such kernel"}, nil
	}
	now, why := w.launches(c, changed)
	if why != "" || shapesText(now) != shapesText(k.configs) {
		return proved{why: cmp.Or(why, "the launches of the changed file are not understood")}, nil
	}
	if beyond > 0 {
		return w.prove(ctx, c, k.fn.Name, question{exact, uint32(beyond), k.levels[exact].given})
	}
	var out proved
	// The levels take strong accesses to be weak, as if nothing outside the kernel changed what they
	// read; plain does not.
	levels |= plain
	for _, l := range []level{plain, local, alone, quiet, exact} {
		if levels&l == 0 {
			continue
		}
		var err error
		q := question{level: l, given: k.levels[l].given}
		if out, err = w.prove(ctx, c, k.fn.Name, q); err != nil || out.why != "" {
			return out, err
		}
	}
	return out, nil
}

// needs are the levels that the options of a kernel need.
func needs(list []*option, k *kernel) level {
	var out level
	for _, o := range list {
		if o.site.in[k] != nil {
			out |= o.need
		}
	}
	return out
}

// bounds are the numbers of threads from which on the kernels of a site are proved apart: 0, and
// the counts of their named barriers.
func bounds(list []*option, s *site) []int {
	out := []int{0}
	for _, o := range list {
		if o.part != nil && s.shares(o.site) {
			out = append(out, o.part.threads)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// finish makes the patch, and proves its text from the beginning: compiled again, each kernel that
// it changes at the levels that its offers need. If that fails, nothing is offered.
func (w *weakener) finish(ctx context.Context, kept []*option) error {
	clear(w.texts)
	w.final = true
	touched := map[*kernel]bool{}
	all := &site{in: map[*kernel][]*ir.Instr{}}
	for _, o := range kept {
		for k := range o.site.in {
			touched[k] = true
		}
	}
	list := slices.SortedFunc(maps.Keys(touched), func(a, b *kernel) int {
		return cmp.Compare(a.fn.Index, b.fn.Index)
	})
	for _, k := range list {
		all.in = map[*kernel][]*ir.Instr{k: nil}
		verdict, why, err := w.judge(ctx, kept, all)
		if err != nil {
			return err
		}
		if why != "" {
			return w.withdraw(k, why)
		}
		w.out.Verdicts = append(w.out.Verdicts, verdict)
	}
	text, err := w.text(kept, 0, true)
	if err != nil {
		return err
	}
	w.out.Edits = edit.Between(w.user, 0, len(w.user.Content), string(text))
	w.out.Patched[w.file.Name] = text
	w.out.Diff, err = edit.Diff(w.user, w.out.Edits)
	return err
}

// withdraw takes all offers back, because the complete text is not proved.
func (w *weakener) withdraw(k *kernel, why string) error {
	w.out.Verdicts = []diag.Verdict{{Kind: diag.Unknown, Kernel: k.fn.Demangled, Reason: why}}
	for i := range w.out.Offers {
		if o := &w.out.Offers[i]; o.Offered() {
			o.Reason = "all offers together are not proved: " + why
		}
	}
	return nil
}
