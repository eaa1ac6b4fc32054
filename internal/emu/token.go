package emu

import (
	"slices"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/slice"
)

// Tokens. Whether a phase is complete when a test asks depends on the schedule. CUTLASS asks early,
// keeps the answer, and passes by the wait for the same phase if it was True:
//
//	p = try_wait(bar, parity);  ...  if (!p) wait(bar, parity);
//
// A trace takes the answer to be False and waits. That stands for both answers: if it was True,
// the phase was complete at the test, so that the wait would have passed, and what the answer
// orders is ordered earlier. The conditions are that the branch only decides whether the wait is
// executed (slice.Slice.TokenBranch), that it depends on nothing unknown but this one answer, that
// it leads to the wait if the answer is False, and that the wait is for the object and the phase
// that the test asked for, with the same order and scope. The test itself must come after the
// phase before (docs/theory/phases.md, D3a), since it would take that one for the phase asked for.
//
// Registers whose value is that of one answer, or computed from it alone, carry the token as the
// origin of their unknown value.

// tokenBase is the first origin that is a token: tracker.tokens from there on.
const tokenBase = 1 << 31

// maxTokens bounds the tokens of an execution. Later tests have plain unknown answers.
const maxTokens = 1 << 20

// token is what the lanes of a warp asked for by one execution of a test.
type token struct {
	test   *ir.Instr
	lanes  uint32
	origin uint32 // of the answer, for messages
	one    asked  // by all lanes; no object: each lane has its own
	each   *[event.WarpSize]asked
}

// asked is a phase of an object.
type asked struct {
	object *mbarrier
	phase  uint64
}

// of returns what a lane asked for.
func (t *token) of(l int) asked {
	if t.each != nil {
		return t.each[l]
	}
	return t.one
}

// plain returns an origin that is no token.
func (t *tracker) plain(origin uint32) uint32 {
	switch {
	case origin >= answerBase:
		return t.answers[(origin-answerBase)/2].origin
	case origin >= tokenBase:
		return t.tokens[origin-tokenBase].origin
	}
	return origin
}

// runToken makes the answers of a test unknown, behind it. Their bits are those of False.
func runToken(x *exec, in *inst) {
	origin := in.misc.origin
	if t := &x.warp.asked; len(x.unk.tokens) < maxTokens && x.m&^t.lanes == 0 {
		first := t.each[lowest(x.m)]
		same := true
		for m := x.m; m != 0; m &= m - 1 {
			same = same && t.each[lowest(m)] == first
		}
		n := token{test: in.ir, lanes: x.m, origin: in.misc.origin}
		if n.one = first; !same {
			each := *t.each
			n.one, n.each = asked{}, &each
		}
		origin = tokenBase + uint32(len(x.unk.tokens))
		x.unk.tokens = append(x.unk.tokens, n)
	}
	x.warp.asked.lanes &^= x.m
	for _, p := range in.misc.predDst {
		x.preds[p] &^= x.m
		x.unk.setPred(p, x.m, origin, x.m)
	}
}

// asks notes for what a lane has asked. Other warps may run before runToken does.
func (t *token) asks(l int, m *mbarrier, phase uint64) {
	if t.each == nil {
		t.each = new([event.WarpSize]asked)
	}
	t.lanes |= 1 << l
	t.each[l] = asked{m, phase}
}

// tokenOf returns the token on which alone the sources of an instruction depend; 0 if there is
// none.
func (x *exec) tokenOf(in *inst) (origin uint32) {
	if len(x.unk.tokens) == 0 || in.alu != nil && in.ir.UsesCarry() {
		return 0
	}
	n := 0
	for i := range in.sources {
		if s := &in.s[i]; s.c == nil && x.unk.regs[s.r]&x.m != 0 {
			n, origin = n+1, x.unk.origin[s.r]
		}
	}
	for _, p := range in.ps {
		if x.unk.preds[p.slot]&x.m != 0 {
			n, origin = n+1, x.unk.origin[x.unk.lanes+p.slot]
		}
	}
	if n != 1 || origin < tokenBase || origin >= answerBase {
		return 0
	}
	return origin
}

// tokenOfAll returns the token of vote.all over the answers of one test, for one phase of one
// object, by all lanes that vote; 0 for other operations. Its result is True only if each of the
// lanes has the answer True, if none votes so with the answer False. That of vote.any says nothing
// to the lanes whose own answer was False, since memory is ordered for the others alone.
func (x *exec) tokenOfAll(in *inst, m uint32) uint32 {
	if in.ir.Action() != isa.ActVote || !slices.Contains(in.ir.Mods, "all") ||
		x.psrc(in.ps[0])&m != 0 {
		return 0
	}
	p := in.ps[0].slot
	origin := x.unk.origin[x.unk.lanes+p]
	if m != x.coll.lanes || m&^x.unk.preds[p] != 0 || origin < tokenBase {
		return 0
	}
	if t := &x.unk.tokens[origin-tokenBase]; m&^t.lanes != 0 || t.each != nil {
		return 0
	}
	return origin
}

// passToken executes a branch whose guard is unknown in the lanes of u because of a token, as if
// the answer were False. It reports whether that stands for both answers.
func (x *exec) passToken(in *inst, u uint32) bool {
	origin := x.unk.origin[x.unk.lanes+in.guard.slot]
	if origin < tokenBase {
		return false
	}
	t := &x.unk.tokens[origin-tokenBase]
	taken := x.mask & (x.preds[in.guard.slot] ^ in.guard.xor)
	waits := taken
	if in.token == slice.WaitsBehind {
		waits = x.mask &^ taken
	}
	if u&^(waits&t.lanes) != 0 {
		return false
	}
	w := x.warp
	if w.tokens == nil {
		w.tokens = new([event.WarpSize]uint32)
	}
	for m := u; m != 0; m &= m - 1 {
		w.tokens[lowest(m)] = origin
	}
	if taken != 0 {
		x.m = taken
		in.run(x, in)
	}
	return true
}

// redeem checks that a wait of a lane is for what its token is for, if it has one.
func (x *exec) redeem(in *inst, l int, m *mbarrier, phase uint64) bool {
	w := x.warp
	if w.tokens == nil || w.tokens[l] == 0 {
		return true
	}
	t := &x.unk.tokens[w.tokens[l]-tokenBase]
	w.tokens[l] = 0
	a, _ := t.test.Barrier()
	b, _ := in.ir.Barrier()
	same := a.Parity == b.Parity && a.Order == b.Order && a.Scope == b.Scope
	if same && t.of(l) == (asked{m, phase}) {
		return true
	}
	x.dependsOn(in, l, "whether the thread waits here for "+x.barrierText(m.addr), t.origin)
	return false
}
