package slice

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Tests of mbarriers that are waits (docs/theory/phases.md, "Waits"). mbarrier.test_wait and
// try_wait return whether a phase is complete, which depends on the schedule. Most of them are part
// of a loop that goes on until the answer is True, and then the answers before do not matter:
//
//	L: mbarrier.try_wait.parity p, [bar], q;   @!p bra L;
//
// Such a test is a blocking wait. So is one whose answer only decides whether a blocking wait for
// the same phase follows (CUTLASS calls it a barrier token). All others have an unknown result.
//
// The definition is by the answer False: every path from there reaches, before anything that a
// trace sees, a test of the same object for the same phase, with the same order and scope; if
// that is another test, then it is a wait itself, and both tests lead to the same place with the
// same values in all registers that the slice still needs. A counter of attempts that leads to a
// trap, or that decides how long to sleep, is outside of the slice and does not matter.
//
// Values are compared by value numbering (Cocke and Schwartz, 1970) along the path: expressions
// over the registers in front of the first test. Only the instructions of the slice are looked at.
// It misses waits whose path has more than one outcome or is longer than retrySteps; these tests
// remain unknown, and the trace says so if it needs one.

const retrySteps = 256

// tests reports whether an instruction asks whether a phase is complete.
func tests(in *ir.Instr) bool {
	b, _ := in.Barrier()
	return b.Object == isa.MBarrier && b.Kind == isa.BarrierTest
}

// hasObjects reports whether the function has operations on mbarriers or bulk copies.
func (f *function) hasObjects() bool {
	for _, in := range f.instrs {
		switch in.Action() {
		case isa.ActMBarrier, isa.ActBulkCopy, isa.ActBulkGroup, isa.ActAsyncStore, isa.ActCancel,
			isa.ActMatrixAsync, isa.ActClusterBarrier, isa.ActTensorAllocate, isa.ActTensorAccess,
			isa.ActTensorAsync, isa.ActTensorCommit:
			return true
		}
	}
	return false
}

// findRetries finds the tests that are waits, and the branches that the answers of others decide.
func (f *function) findRetries() {
	f.retries, f.tokens = make(map[int]bool), nil
	var open []*ir.Instr
	for i, in := range f.instrs {
		if f.kept[i] && tests(in) && f.live[f.block[i]] {
			open = append(open, in)
		}
	}
	// A test that leads to another one is a wait only if that one is: repeat until no more are found.
	for again := true; again; {
		again = false
		for _, in := range open {
			if !f.retries[in.Index] && f.retried(in) {
				f.retries[in.Index], again = true, true
			}
		}
	}
	if len(f.retries) < len(open) {
		f.findTokens()
	}
}

// Retries returns the tests of mbarriers of fn that are waits, as a set of indices.
func (s *Slice) Retries(fn *ir.Func) map[int]bool { return s.funcs[fn].retries }

// path is a walk through the slice from one test, with the values of registers as expressions.
type path struct {
	f     *function
	value map[ir.RegID]string
	sure  string // value of the guard of the first test, which is executed; "" without one
	neg   bool   // whether that guard is negated
	steps int
	fresh int
	block ir.BlockID
	at    int // index of the next instruction in the block
}

// newPath begins a walk at a test. Registers that are computed in front of it, in the same block
// and behind anything that a walk does not follow, have these values: a loop may compute an address
// anew for each test.
func (f *function) newPath(test *ir.Instr) *path {
	p := &path{f: f, block: f.block[test.Index]}
	b := f.fn.Blocks[p.block]
	p.reset()
	for _, in := range b.Instrs {
		if in == test {
			break
		}
		if f.s.Role(f.fn, in) == Skip {
			continue
		}
		k := f.kindOf(in)
		if (k != pure && k != constant) || in.Order.Strong() || f.selectsOwnParam(in) || !p.compute(in) {
			p.reset()
		}
	}
	if test.Guard != ir.NoReg {
		p.sure, p.neg = p.of(test.Guard), test.Neg
	}
	return p
}

// reset forgets all values: registers are named by their contents at this point.
func (p *path) reset() { p.value = make(map[ir.RegID]string) }

// fork returns a copy of the walk.
func (p *path) fork() *path {
	q := *p
	q.value = maps.Clone(p.value)
	return &q
}

// behind moves to the instruction after a test whose answer is known.
func (p *path) behind(test *ir.Instr, answer bool) {
	p.block = p.f.block[test.Index]
	for i, in := range p.f.fn.Blocks[p.block].Instrs {
		if in == test {
			p.at = i + 1
		}
	}
	for i := range test.Dst {
		test.Dst[i].EachReg(func(r ir.RegID) { p.value[r] = truth(answer) })
	}
}

func truth(v bool) string {
	if v {
		return "1"
	}
	return "0"
}

// of returns the value of a register.
func (p *path) of(r ir.RegID) string {
	if v, ok := p.value[r]; ok {
		return v
	}
	return fmt.Sprintf("r%d", r)
}

// operand returns the value of an operand.
func (p *path) operand(o *ir.Operand) string {
	if o.Kind == ir.Imm {
		return fmt.Sprint(o.Val)
	}
	var b strings.Builder
	negated := ""
	if o.Neg {
		negated = "!"
	}
	if o.Kind == ir.Register {
		v := p.of(o.Reg)
		if o.Neg && (v == "0" || v == "1") {
			return truth(v == "0")
		}
		return negated + v
	}
	fmt.Fprintf(&b, "%s%d:%d:%d", negated, o.Kind, o.Val, o.Sreg)
	for i := range o.Elems {
		b.WriteString("," + p.operand(&o.Elems[i]))
	}
	if o.Var != nil {
		fmt.Fprintf(&b, "@%p", o.Var)
	}
	o.EachReg(func(r ir.RegID) { b.WriteString("," + p.of(r)) })
	return b.String()
}

// guard returns whether an instruction is executed, and false for known if that is not known. The
// guard of the test itself is true.
func (p *path) guard(in *ir.Instr) (executed, known bool) {
	if in.Guard == ir.NoReg {
		return true, true
	}
	switch v := p.of(in.Guard); {
	case v == "0" || v == "1":
		return (v == "1") != in.Neg, true
	case p.sure != "" && v == p.sure:
		return in.Neg == p.neg, true
	}
	return false, false
}

// stop is why a walk ended.
type stop uint8

const (
	lost   stop = iota // at something that the walk does not follow
	atTest             // at a test
	atEdge             // at the start of a block
)

// next walks to the next test or, if edges is set, to the start of the next block.
func (p *path) next(edges bool) (stop, *ir.Instr) {
	for p.steps++; p.steps < retrySteps; p.steps++ {
		b := p.f.fn.Blocks[p.block]
		if p.at >= len(b.Instrs) {
			if len(b.Succs) != 1 {
				return lost, nil
			}
			p.block, p.at = b.Succs[0], 0
			if edges {
				return atEdge, nil
			}
			continue
		}
		in := b.Instrs[p.at]
		p.at++
		if !p.f.live[p.block] {
			return lost, nil
		}
		if tests(in) && p.f.kept[in.Index] {
			if executed, known := p.guard(in); !known {
				return lost, nil
			} else if executed {
				return atTest, in
			}
			continue
		}
		moved, ok := p.step(b, in)
		if !ok {
			return lost, nil
		}
		if moved && edges {
			return atEdge, nil
		}
	}
	return lost, nil
}

// step follows one instruction that is no test. moved says that it leads to another block.
func (p *path) step(b *ir.Block, in *ir.Instr) (moved, ok bool) {
	role := p.f.s.Role(p.f.fn, in)
	switch k := p.f.kindOf(in); {
	case role == Skip:
		return false, true
	case role == Join:
		p.block, p.at = p.f.s.Target(p.f.fn, b.ID), 0
		return true, p.block != ir.NoBlock
	case k == branch || k == always:
		if in.Action() != isa.ActBranch {
			return false, false
		}
		taken, known := p.guard(in)
		if !known {
			return false, false
		}
		if taken {
			p.block, p.at = in.Src[0].Block, 0
			return true, true
		}
		ok := len(b.Succs) > 0 && p.fall(b, in)
		return p.at == 0, ok
	case k == pure || k == constant && !in.Order.Strong() && !p.f.selectsOwnParam(in):
		return false, p.compute(in)
	}
	return false, false
}

// fall moves to the block behind a branch that is not taken, if the branch ends its block.
func (p *path) fall(b *ir.Block, in *ir.Instr) bool {
	if p.at < len(b.Instrs) {
		return true
	}
	for _, s := range b.Succs {
		if s != in.Src[0].Block || len(b.Succs) == 1 {
			p.block, p.at = s, 0
			return true
		}
	}
	return false
}

// compute sets the results of an instruction from registers to registers.
func (p *path) compute(in *ir.Instr) bool {
	if in.Has(isa.CC) || in.ReadsCarry() {
		return false
	}
	executed, known := p.guard(in)
	if known && !executed {
		return true
	}
	args := make([]string, len(in.Src))
	for i := range in.Src {
		args[i] = p.operand(&in.Src[i])
	}
	v, folded := "", false
	if len(in.Dst) == 1 && in.Dst[0].Kind == ir.Register { // else it has parts
		v, folded = fold(in, args)
	}
	if !folded {
		v = fmt.Sprintf("%s(%s)", in.Text(), strings.Join(args, ";"))
	}
	n := 0
	for i := range in.Dst {
		in.Dst[i].EachReg(func(r ir.RegID) {
			result := v
			if !folded {
				result = fmt.Sprintf("%s#%d", v, n)
			}
			if !known {
				result = fmt.Sprintf("?%t%s:%s:%s", in.Neg, p.of(in.Guard), p.of(r), result)
			}
			if len(result) > 4*retrySteps {
				p.fresh++
				result = fmt.Sprintf("%p.%d", p, p.fresh)
			}
			p.value[r] = result
			n++
		})
	}
	return true
}

// fold computes the instructions by which compilers turn an answer into a branch.
func fold(in *ir.Instr, args []string) (string, bool) {
	known := func(i int) bool {
		return i < len(args) && (args[i] == "0" || args[i] == "1")
	}
	switch in.Operation() {
	case isa.Move:
		if len(args) == 1 && (in.Src[0].Kind == ir.Register || in.Src[0].Kind == ir.Imm) {
			return args[0], true
		}
	case isa.Conversion:
		if len(args) == 1 && known(0) && !in.Type.IsFloat() && !in.SType.IsFloat() &&
			in.Src[0].Kind == ir.Register {
			return args[0], true
		}
	case isa.Selection:
		if len(args) == 3 && known(2) {
			return args[1-int(args[2][0]-'0')], true
		}
	case isa.Conjunction, isa.Disjunction, isa.ExclusiveOr:
		return foldLogic(in, args)
	case isa.Comparison:
		if len(args) == 2 && known(0) && known(1) && len(in.Dst) == 1 && !in.Type.IsFloat() {
			switch in.Cmp {
			case isa.EQ:
				return truth(args[0] == args[1]), true
			case isa.NE:
				return truth(args[0] != args[1]), true
			}
		}
	}
	return "", false
}

// foldLogic computes and, or and xor of 0 and 1, and those whose result one operand decides.
func foldLogic(in *ir.Instr, args []string) (string, bool) {
	if len(args) != 2 {
		return "", false
	}
	a, b := args[0], args[1]
	if b == "0" || b == "1" {
		a, b = b, a
	}
	if a != "0" && a != "1" {
		return "", false
	}
	constant := b == "0" || b == "1"
	switch op := in.Operation(); {
	case op == isa.Conjunction && a == "0":
		return "0", true
	case op == isa.Conjunction && (constant || in.Type == isa.Pred):
		return b, true
	case op == isa.Disjunction && a == "0":
		return b, true
	case op == isa.Disjunction && constant, op == isa.Disjunction && in.Type == isa.Pred:
		return "1", true
	case op == isa.ExclusiveOr && a == "0":
		return b, true
	case op == isa.ExclusiveOr && constant:
		return truth(b == "0"), true
	}
	return "", false
}

// phaseOf returns for which phase of which object a test asks, and what the answer True orders: the
// trace executes one of two tests.
func (p *path) phaseOf(test *ir.Instr) string {
	b, _ := test.Barrier()
	return fmt.Sprint(b.Parity, test.Space, test.Order, test.Scope, "|", p.operand(&test.Src[0]), "|",
		p.operand(&test.Src[1]))
}

// retried reports whether a test is a wait.
func (f *function) retried(test *ir.Instr) bool {
	start := f.newPath(test)
	asked := start.phaseOf(test)
	p := start.fork()
	p.behind(test, false)
	how, next := p.next(false)
	if how != atTest || p.phaseOf(next) != asked {
		return false
	}
	if next == test {
		return p.same(start, f.liveAt(test))
	}
	if !f.retries[next.Index] {
		return false
	}
	p.behind(next, true)
	q := start.fork()
	q.behind(test, true)
	return f.meet(p, q)
}

// liveAt returns the needed registers that are live in front of a test, for the lanes that execute
// it, and which it gives an answer whatever its guard is for others.
func (f *function) liveAt(test *ir.Instr) regSet {
	live := f.liveBehind(test)
	executed := *test
	executed.Guard = ir.NoReg
	f.liveBefore(&ir.Block{Instrs: []*ir.Instr{&executed}}, f.rank, live)
	if test.Guard != ir.NoReg && f.rank[test.Guard] >= 0 {
		live.add(f.rank[test.Guard])
	}
	return live
}

// same reports whether the registers of a set have the same values on two paths.
func (p *path) same(q *path, live regSet) bool {
	for r, i := range p.f.rank {
		if i >= 0 && live.has(i) && p.of(ir.RegID(r)) != q.of(ir.RegID(r)) {
			return false
		}
	}
	return true
}

// meet reports whether two paths, both behind a test that was passed, reach one place with the same
// values.
func (f *function) meet(p, q *path) bool {
	type edge struct {
		block ir.BlockID
		value map[ir.RegID]string
	}
	var edges []edge
	for how := atEdge; how == atEdge && len(edges) < retrySteps; {
		if how, _ = q.next(true); how == atEdge {
			edges = append(edges, edge{q.block, maps.Clone(q.value)})
		}
	}
	for {
		if how, _ := p.next(true); how != atEdge {
			return false
		}
		for _, e := range edges {
			if e.block == p.block && p.same(&path{f: f, value: e.value}, f.liveIn[p.block]) {
				return true
			}
		}
	}
}

// TokenBranch is which side of a branch leads to a wait that an earlier answer for the same phase
// may make needless.
type TokenBranch uint8

const (
	NoToken     TokenBranch = iota // the branch decides something else
	WaitsTaken                     // the branch is taken to wait
	WaitsBehind                    // the branch is not taken to wait
)

// TokenBranch returns what the branch that ends a block of fn decides.
func (s *Slice) TokenBranch(fn *ir.Func, id ir.BlockID) TokenBranch { return s.funcs[fn].tokens[id] }

// HasTokens reports whether Tokens holds for some function.
func (s *Slice) HasTokens() bool { return slices.ContainsFunc(s.order, s.Tokens) }

// Tokens reports whether a branch of fn decides only whether a wait is needed; see TokenBranch.
func (s *Slice) Tokens(fn *ir.Func) bool { return len(s.funcs[fn].tokens) > 0 }

// findTokens finds the branches of which one side leads to a wait for a phase, before anything that
// a trace sees, and the other side to the same place as the wait, with the same values in all
// registers that the slice still needs. Only functions that need the answer of a test that is no
// wait have any.
func (f *function) findTokens() {
	f.tokens = make(map[ir.BlockID]TokenBranch)
	for _, b := range f.fn.Blocks {
		in := b.Last()
		if in == nil || in.Action() != isa.ActBranch || in.Guard == ir.NoReg || !f.kept[in.Index] ||
			!f.live[b.ID] {
			continue
		}
		for _, guard := range []bool{false, true} {
			if f.waitsIf(in, guard) {
				f.tokens[b.ID] = WaitsBehind
				if guard != in.Neg {
					f.tokens[b.ID] = WaitsTaken
				}
				break
			}
		}
	}
}

// waitsIf reports whether a branch whose guard has a value leads to a wait, and else to the place
// behind it.
func (f *function) waitsIf(in *ir.Instr, guard bool) bool {
	p := f.pathAt(in, guard)
	how, test := p.next(false)
	if how != atTest || !f.retries[test.Index] {
		return false
	}
	p.behind(test, true)
	return f.meet(p, f.pathAt(in, !guard))
}

// pathAt begins a walk at a branch whose guard has a value.
func (f *function) pathAt(in *ir.Instr, guard bool) *path {
	p := &path{f: f, block: f.block[in.Index]}
	p.reset()
	p.at = len(f.fn.Blocks[p.block].Instrs) - 1
	p.value[in.Guard] = truth(guard)
	return p
}
