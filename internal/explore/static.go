package explore

// facts are what the text of a thread says about what it may still do.
type facts struct {
	writes   [][]bool // [pc][location]: a write may be reached from pc
	anywhere []bool   // [pc]: one whose location depends on registers
	barriers [][]int  // [pc]: the barriers that may be reached from pc
	reaches  []pcs    // [pc]: what may be executed from pc on
	live     [][]bool // [pc][register]: the value may be used, or seen at the end
	head     []bool   // [pc]: a branch leads back to here
}

// analyse computes the facts of a thread by iteration to the fixed point. silent says that registers
// are not used after the end.
func analyse(t *Thread, locations int, silent bool) *facts {
	n := len(t.Code)
	f := &facts{writes: make([][]bool, n+1), anywhere: make([]bool, n+1),
		barriers: make([][]int, n+1), live: make([][]bool, n+1), head: make([]bool, n+1)}
	for pc := range n + 1 {
		f.writes[pc] = make([]bool, locations)
		f.live[pc] = make([]bool, len(t.Regs))
	}
	for r := range t.Regs {
		f.live[n][r] = !silent
	}
	for changed := true; changed; {
		changed = false
		for pc := n - 1; pc >= 0; pc-- {
			if f.step(t, pc) {
				changed = true
			}
		}
	}
	for pc := range t.Code {
		f.reaches = append(f.reaches, reachable(t, pc))
		for b := range t.Code {
			if t.Code[b].Kind == Barrier && f.reaches[pc].has(b) {
				f.barriers[pc] = append(f.barriers[pc], b)
			}
		}
		if in := &t.Code[pc]; in.Kind == Branch && in.Target <= pc {
			f.head[in.Target] = true
		}
	}
	return f
}

// successors returns what may follow an instruction.
func successors(t *Thread, pc int) []int {
	in := &t.Code[pc]
	switch in.Kind {
	case Branch:
	case Fail:
		return nil
	default:
		return []int{pc + 1}
	}
	if len(in.Args) == 0 { // unconditional
		return []int{in.Target}
	}
	return []int{pc + 1, in.Target}
}

// step updates the facts at one instruction, and reports whether they changed.
func (f *facts) step(t *Thread, pc int) (changed bool) {
	in := &t.Code[pc]
	set := func(b []bool, i int) {
		changed = changed || !b[i]
		b[i] = true
	}
	for _, s := range successors(t, pc) {
		if f.anywhere[s] {
			set(f.anywhere, pc)
		}
		for l, w := range f.writes[s] {
			if w {
				set(f.writes[pc], l)
			}
		}
		for r, l := range f.live[s] {
			if l && !(in.writesRegister() && in.Dst == r) {
				set(f.live[pc], r)
			}
		}
	}
	switch {
	case in.Kind != Store && in.Kind != Update:
	case in.Addr != nil:
		set(f.anywhere, pc)
	default:
		set(f.writes[pc], in.Loc)
	}
	for _, o := range in.operands() {
		if o.IsReg {
			set(f.live[pc], o.Reg)
		}
	}
	return changed
}

// writesRegister reports whether the instruction sets Dst.
func (in *Inst) writesRegister() bool {
	return in.Dst >= 0 && (in.Kind == Load || in.Kind == Compute || in.Kind == Update ||
		in.Kind == Exchange)
}

// operands returns the operands that the instruction reads.
func (in *Inst) operands() []Operand {
	if in.Addr != nil {
		return append(in.Args[:len(in.Args):len(in.Args)], *in.Addr)
	}
	switch in.Kind {
	case Exchange:
		return append(in.Args[:len(in.Args):len(in.Args)], in.Name[0])
	case Barrier:
	default:
		return in.Args
	}
	out := in.Name[:]
	if in.Count != nil {
		out = append(out[:len(out):len(out)], *in.Count)
	}
	return out
}

// pcs is a set of instructions of a thread.
type pcs []uint64

func (s pcs) has(pc int) bool { return s[pc/64]>>(pc%64)&1 != 0 }

func (s pcs) add(pc int) { s[pc/64] |= 1 << (pc % 64) }

// reachable returns the instructions that may be executed from pc on.
func reachable(t *Thread, pc int) pcs {
	seen := make(pcs, len(t.Code)/64+1)
	next := []int{pc}
	for len(next) > 0 {
		pc := next[len(next)-1]
		next = next[:len(next)-1]
		if pc < len(t.Code) && !seen.has(pc) {
			seen.add(pc)
			next = append(next, successors(t, pc)...)
		}
	}
	return seen
}
