package weaken

import (
	"context"
	"fmt"

	"heddle/internal/edit"
	"heddle/internal/event"
)

// A barrier of the block is replaced by a named barrier of its first n threads (bar.sync a, n; PTX
// ISA 9.7.13.1), where the other threads do not need it:
//
//	if (threadIdx.x < 128) asm volatile("bar.sync 1, 128;" ::: "memory");
//
// Package verify does not know such barriers. Two proofs about other texts replace its answer. Let
// FULL be the text with the barrier of the block, NONE the text without it, and PART the offer.
//
//  1. FULL is quiet: proved as every text.
//  2. In NONE, no thread from n on races with any thread of the block, and no barrier diverges,
//     whatever values loads return (verify.Options.Beyond, and the adversarial abstraction, since
//     threads below n may race in NONE, and what they read is then not known).
//
// Claim: no two threads race in PART. Let two accesses of PART conflict. If one is of a thread from
// n on, the other barriers order the two, by 2: a thread of PART executes what a thread of NONE
// executes with some values of its loads. If both are of threads below n, consider an execution of
// PART with the accesses of all threads from n on moved to where FULL has them: in front of the
// barrier, or behind it. By 2 no access is moved past one that it conflicts with, so that all loads
// keep their values. The result is an execution of FULL, in which barriers order the two accesses,
// by 1. The barriers that both threads execute are the same in FULL and in PART. So they order the
// two in PART as well.
//
// Divergence and deadlock: n is a multiple of the warp size, and the block has one dimension, so
// that the condition holds for all lanes of a warp or for none. All threads of the block reach the
// barrier of FULL together, hence those below n reach that of PART together. Each such barrier has
// a number of its own, which nothing else in the kernel uses, so that generations of different
// barriers cannot be taken for each other, and none is reused while a thread still waits at it.
//
// With several of them, of n1 < n2 < ..., two threads of which the larger has an index from ni on
// share the barriers with a count above it: 2 is proved for each ni, with the barriers of a larger
// count as barriers of the block and the others left out.
//
// The rule needs blocks of at least n threads in every launch; a smaller one would wait forever. It
// refuses kernels with results of atomic operations that are used (they may be tickets, of which
// the proofs know that they differ as long as nothing resets the counter) and with assertions.

// part is a named barrier of the first threads of a block.
type part struct {
	offset, end int
	braces      bool
	max         int // the smallest block
	threads     int // of the barrier; 0: not chosen yet
	number      int // of the barrier, from 1
}

// partOf is the option of a named barrier in place of a barrier of the block. How many threads it
// has is decided when it is tried.
func (w *weakener) partOf(s *site, end int, free bool) (*option, bool) {
	p := &part{offset: s.offset, end: end, braces: !free, max: 1 << 30}
	for k := range s.in {
		if tickets(k) {
			return nil, false
		}
		for _, cfg := range k.configs {
			b := cfg.Geometry.Block
			if b.Y != 1 || b.Z != 1 {
				return nil, false
			}
			p.max = min(p.max, int(b.X))
		}
	}
	if p.max <= 2*event.WarpSize { // one warp: __syncwarp() does it
		return nil, false
	}
	return &option{
		site: s, kind: Part, before: "__syncthreads()", need: exact, part: p,
		gain: (rankBarrier - rankWarp) / 2,
	}, true
}

// tickets reports whether results of atomic operations of a kernel are used.
func tickets(k *kernel) bool {
	used := registersRead(k.fn)
	for _, b := range k.fn.Blocks {
		for _, in := range b.Instrs {
			if isUpdate(in) && isUsed(in, used) {
				return true
			}
		}
	}
	return false
}

// with is the option with a number of threads.
func (o *option) with(threads, number int) *option {
	out, p := *o, *o.part
	p.threads, p.number = threads, number
	out.part = &p
	out.gain = (rankBarrier - rankWarp) * (1 - float64(threads)/float64(p.max))
	out.after = p.text()
	return &out
}

// text is the statement of the barrier.
func (p *part) text() string {
	return fmt.Sprintf(`if (threadIdx.x < %d) asm volatile("bar.sync %d, %d;" ::: "memory");`,
		p.threads, p.number, p.threads)
}

// form is the edit for a text: the offer itself, or for proofs the barrier of the block or none.
func (p *part) form(w *weakener, beyond int, real bool) edit.Edit {
	text := "__syncthreads();"
	switch {
	case real && p.braces:
		text = "{ " + p.text() + " }"
	case real:
		text = p.text()
	case p.threads <= beyond:
		text = "{}"
	}
	return w.replace(p.offset, p.end, text)
}

// size finds the smallest number of threads for which a named barrier suffices, on top of other
// options; nil if there is none. More threads need fewer pairs to be proved, so that it is found by
// bisection.
func (w *weakener) size(ctx context.Context, list []*option, o *option) (*option, error) {
	number := freeNumber(list, o.site)
	if number > lastNumber {
		return nil, nil
	}
	suffices := func(warps int) (bool, error) {
		o := o.with(warps*event.WarpSize, number)
		why, err := w.apart(ctx, append(list[:len(list):len(list)], o), o.part.threads, o.site)
		return why == "", err
	}
	low, high := 0, (o.part.max-1)/event.WarpSize
	if ok, err := suffices(high); !ok || err != nil {
		return nil, err
	}
	for low+1 < high {
		middle := (low + high) / 2
		ok, err := suffices(middle)
		switch {
		case err != nil:
			return nil, err
		case ok:
			high = middle
		default:
			low = middle
		}
	}
	return o.with(high*event.WarpSize, number), nil
}

// lastNumber is the largest number of a barrier (PTX ISA 9.7.13.1).
const lastNumber = 15

// freeNumber returns the first number that no other named barrier of the kernels of a site has.
func freeNumber(list []*option, s *site) int {
	used := map[int]bool{}
	for _, o := range list {
		if o.part != nil && o.site.shares(s) {
			used[o.part.number] = true
		}
	}
	n := 1
	for used[n] {
		n++
	}
	return n
}

// apart proves 2 for the threads from an index on, of the kernels of a site.
func (w *weakener) apart(ctx context.Context, list []*option, beyond int, s *site) (string,
	error) {
	text, err := w.text(list, beyond, false)
	if err != nil {
		return "", err
	}
	c := w.compile(ctx, text)
	if c == nil {
		return "the changed file does not compile", ctx.Err()
	}
	for k := range s.in {
		p, err := w.prove(ctx, c, k.fn.Name, question{exact, uint32(beyond), k.levels[exact].given})
		if err != nil || p.why != "" {
			return p.why, err
		}
	}
	return "", nil
}
