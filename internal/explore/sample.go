package explore

// Sample executes one interleaving of a program, in which every access takes effect at once, and
// calls access for each memory access. It tells which threads share memory in a launch that is too
// large to be explored; it decides nothing about orders. It ends after so many instructions, or where
// no thread can continue, and reports whether every thread ended. What has no value ends a thread.
func (p *Program) Sample(steps int, access func(thread, inst int, at Location)) bool {
	s := &sample{prog: p, memory: map[place]int64{}, access: access}
	for i := range p.Threads {
		s.regs = append(s.regs, append([]int64(nil), p.Threads[i].Regs...))
		s.pc = append(s.pc, 0)
		s.at = append(s.at, nil)
	}
	for live := true; live && steps > 0; {
		live = false
		for t := range p.Threads {
			// A few at a time, so that a thread in a loop lets others pass.
			for n := 0; n < 16 && steps > 0 && s.step(t); n++ {
				live = true
				steps--
			}
		}
		live = s.meet() || live
	}
	return !s.failed && !s.unfinished()
}

// sample is one interleaving.
type sample struct {
	prog   *Program
	memory map[place]int64
	regs   [][]int64
	pc     []int
	at     []*Inst // where a thread waits: a barrier or an exchange; nil: it does not
	failed bool
	access func(thread, inst int, at Location)
}

// unfinished reports whether a thread has not ended.
func (s *sample) unfinished() bool {
	for t := range s.pc {
		if s.pc[t] < len(s.prog.Threads[t].Code) {
			return true
		}
	}
	return false
}

// get returns the value of an operand.
func (s *sample) get(t int, o Operand) int64 {
	if o.IsReg {
		return s.regs[t][o.Reg]
	}
	return o.Value
}

// step executes one instruction of a thread, and reports whether it could.
func (s *sample) step(t int) bool {
	code := s.prog.Threads[t].Code
	if s.pc[t] >= len(code) || s.at[t] != nil {
		return false
	}
	in := &code[s.pc[t]]
	var args []int64
	for _, o := range in.Args {
		args = append(args, s.get(t, o))
	}
	next := s.pc[t] + 1
	switch in.Kind {
	case Fence:
	case Fail:
		return s.end(t)
	case Compute:
		v, ok := in.Eval(args)
		if !ok {
			return s.end(t)
		}
		s.regs[t][in.Dst] = v
	case Branch:
		v, ok := int64(1), true
		if len(in.Args) > 0 {
			v, ok = in.Eval(args)
		}
		if !ok {
			return s.end(t)
		}
		if v != 0 {
			next = in.Target
		}
	case Barrier, Exchange:
		if s.at[t] = in; in.Kind == Exchange || !in.Arrive {
			return true
		}
		s.at[t] = nil // an arrival does not wait, and is not counted
	default:
		if in.Addr == nil {
			return s.end(t)
		}
		at, err := s.prog.Locate(t, in, s.get(t, *in.Addr)+in.Offset)
		if err != nil {
			return s.end(t)
		}
		s.access(t, s.pc[t], at)
		s.effect(t, in, at, args)
	}
	s.pc[t] = next
	return true
}

// end ends a thread that cannot go on.
func (s *sample) end(t int) bool {
	s.failed = true
	s.pc[t] = len(s.prog.Threads[t].Code)
	return true
}

// effect executes an access.
func (s *sample) effect(t int, in *Inst, at Location, args []int64) {
	key := place{at.Area, at.Addr, at.Size}
	old, ok := s.memory[key]
	if !ok {
		old = at.Value
	}
	v := old
	switch {
	case in.Kind == Store, in.Kind == Update && in.Update == Swap:
		v = args[0]
	case in.Kind == Update && in.Update == CompareAndSwap:
		if old == args[0] {
			v = args[1]
		}
	case in.Kind == Update:
		v, _ = in.Eval(append([]int64{old}, args...))
	}
	s.memory[key] = v
	if in.Dst >= 0 {
		s.regs[t][in.Dst] = old
	}
}

// meet lets threads pass that wait together: all threads of a CTA, or of a warp, that have not ended
// wait. It reports whether some did. Counts and masks are not looked at.
func (s *sample) meet() (passed bool) {
	for t := range s.at {
		in := s.at[t]
		if in == nil {
			continue
		}
		var group []int
		complete := true
		for u := range s.at {
			a, b := &s.prog.Threads[t], &s.prog.Threads[u]
			if a.Position != b.Position || in.Peers != nil && a.Warp != b.Warp ||
				s.pc[u] >= len(b.Code) {
				continue
			}
			complete = complete && s.at[u] != nil
			group = append(group, u)
		}
		if complete {
			s.pass(in, group)
			passed = true
		}
	}
	return passed
}

// pass lets threads continue behind a barrier or an exchange; of the latter, those at that one.
func (s *sample) pass(first *Inst, group []int) {
	live, lanes := int64(0), make([]int64, len(first.Peers))
	var members []int
	for _, u := range group {
		if in := s.at[u]; in.Kind == first.Kind && in.Text == first.Text {
			members = append(members, u)
			for lane, peer := range first.Peers {
				if peer == u && in.Kind == Exchange {
					live |= 1 << lane
					lanes[lane] = s.get(u, in.Args[0])
				}
			}
		}
	}
	for _, u := range members {
		if in := s.at[u]; in.Kind == Exchange {
			args := []int64{live}
			for _, o := range in.Args[1:] {
				args = append(args, s.get(u, o))
			}
			if v, ok := in.Eval(append(args, lanes...)); ok {
				s.regs[u][in.Dst] = v
			}
		}
	}
	for _, u := range members {
		s.at[u] = nil
		s.pc[u]++
	}
}
