// Package reduce makes a PTX program smaller as long as something about it stays the same: a panic,
// a verdict, a finding. What it returns is what a maintainer reads, so it also renames whatever the
// program's author has named (Rename).
//
// It is delta debugging on the tree of package ptx. A pass lists edits that are independent of each
// other; the reducer tries to make all of them, then halves, quarters and so on down to single
// edits, and keeps each candidate for which the property holds (ddmin of Zeller and Hildebrandt,
// IEEE TSE 2002, with its test of complements only: what remains after one chunk is removed).
// Passes are ordered as in C-Reduce (Regehr et al., PLDI 2012) and llvm-reduce: those whose single
// edits remove most come first, because each candidate costs a run of heddle on what is left, and
// all are repeated until none of them succeeds. Within a pass, later edits are tried first: values
// are used behind their definition, which can go once no use is left.
//
// Every edit makes the program smaller by some measure (statements, register operands, numbers
// other than 0, threads), so the repetition ends. Nothing depends on time or on chance.
package reduce

import (
	"context"
	"crypto/sha256"
	"errors"
)

// Property reports whether a candidate shows what is to be kept. It must be a function of the text
// and the launch alone. A candidate is PTX that parses; whether heddle can load it is for the
// property to find out.
type Property func(context.Context, *Candidate) bool

// Options are the choices of one reduction.
type Options struct {
	// Attempts bounds the candidates for which the property is asked, and ten times as many others;
	// 0: no bound.
	Attempts int
	// Tidy leaves functions that are used, their instructions and the launch as they are. It is for
	// properties that a program without any code has as well, such as a proof.
	Tidy bool
	// Progress is called after each attempt with the smallest candidate so far; may be nil.
	Progress func(attempts int, smallest *Candidate)
}

// Result is the end of a reduction.
type Result struct {
	*Candidate
	Attempts int // candidates for which the property was asked
	Unparsed int // further candidates, which did not parse or had been tried before
	// Minimal is set if no single edit of any pass leaves a program with the property. Otherwise the
	// attempts were used up, or the context ended.
	Minimal bool
}

// ErrNotThere is returned for a program that does not have the property itself.
var ErrNotThere = errors.New("the unreduced program does not have the property")

// Reduce returns a smaller program with the property. If ctx ends or the attempts are used up, it
// returns the smallest one so far.
func Reduce(ctx context.Context, start *Candidate, holds Property, opt Options) (*Result, error) {
	r := &reducer{ctx: ctx, holds: holds, opt: opt, tried: map[[sha256.Size]byte]bool{}, cur: start}
	if !r.try(start) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, ErrNotThere
	}
	if plain, err := start.printed(); err == nil {
		r.try(plain)
	}
	minimal := r.all()
	return &Result{r.cur, r.attempts, r.unparsed, minimal}, nil
}

// reducer is the state of one reduction.
type reducer struct {
	ctx                context.Context
	holds              Property
	opt                Options
	cur                *Candidate // the smallest with the property
	attempts, unparsed int
	tried              map[[sha256.Size]byte]bool // texts and launches that were rejected
}

// unparsedPerAttempt bounds the candidates that do not parse, which cost little, but not nothing.
const unparsedPerAttempt = 10

// ended reports that no more candidates may be tried.
func (r *reducer) ended() bool {
	most := r.opt.Attempts
	return r.ctx.Err() != nil ||
		most > 0 && (r.attempts >= most || r.unparsed >= unparsedPerAttempt*most)
}

// all repeats the passes until none has an effect, and reports that; false: it had to end before.
func (r *reducer) all() bool {
	for changed := true; changed; {
		changed = false
		for i := range passes {
			if p := &passes[i]; !r.opt.Tidy || p.tidy {
				changed = r.pass(p) || changed
			}
			if r.ended() {
				return false
			}
		}
	}
	return true
}

// pass makes the edits of one pass, and reports whether any succeeded.
func (r *reducer) pass(p *pass) bool {
	if p.single {
		return r.each(p)
	}
	return r.chunks(p)
}

// chunks makes edits in chunks that become smaller, from the end of the text.
func (r *reducer) chunks(p *pass) (changed bool) {
	list := p.find(r.cur)
	for size := len(list); size > 0; size /= 2 {
		for end := len(list); end > 0 && !r.ended(); {
			first := max(end-size, 0)
			if r.try(r.cur.with(list[first:end])) {
				changed, list = true, p.find(r.cur)
			}
			end = min(first, len(list))
		}
	}
	return changed
}

// each makes one edit at a time, in the order of the list. The list of the smaller program has
// other edits at the place of the one that succeeded.
func (r *reducer) each(p *pass) (changed bool) {
	list := p.find(r.cur)
	for i := 0; i < len(list) && !r.ended(); {
		if r.try(r.cur.with(list[i : i+1])) {
			changed, list = true, p.find(r.cur)
		} else {
			i++
		}
	}
	return changed
}

// try reports whether a candidate has the property, and keeps it if so. A nil candidate has not.
func (r *reducer) try(c *Candidate) bool {
	if c == nil || r.ended() {
		r.unparsed++
		return false
	}
	sum := sha256.Sum256(append([]byte(c.Launch.key()+"\x00\x00"), c.Text...))
	if r.tried[sum] {
		r.unparsed++
		return false
	}
	r.attempts++
	ok := r.holds(r.ctx, c) && r.ctx.Err() == nil // an engine that was stopped has no result
	if ok {
		r.cur = c
	}
	r.tried[sum] = true
	if r.opt.Progress != nil {
		r.opt.Progress(r.attempts, r.cur)
	}
	return ok
}
