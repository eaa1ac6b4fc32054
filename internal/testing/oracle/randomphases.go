package oracle

import "math/rand/v2"

// RandomPhases returns a random program of 2 to 4 threads over 1 or 2 mbarriers and 2 variables.
// Half of them begin as a pattern that is right, of which some commands are then left out, moved or
// changed; the others are arbitrary, so that they are rarely right.
func RandomPhases(rnd *rand.Rand) *PhaseProgram {
	if rnd.IntN(2) == 0 {
		p := phasePattern(rnd)
		for range rnd.IntN(3) {
			spoil(rnd, p)
		}
		return p
	}
	p := &PhaseProgram{}
	for range 1 + rnd.IntN(2) {
		p.Counts = append(p.Counts, 1+rnd.IntN(2))
	}
	p.Threads = make([][]PhaseCommand, 2+rnd.IntN(3))
	for t := range p.Threads {
		for range 1 + rnd.IntN(4) {
			p.Threads[t] = append(p.Threads[t], randomPhase(rnd, len(p.Counts)))
		}
	}
	return p
}

// randomPhase is an arbitrary command. bar.sync is left out: a thread that misses one makes the
// program a divergence, which is not what these programs are about.
func randomPhase(rnd *rand.Rand, bars int) PhaseCommand {
	return PhaseCommand{
		Op: PhaseOp(rnd.IntN(int(PhaseAcquire) + 1)), Own: rnd.IntN(2) == 0, Bar: rnd.IntN(bars), Count: 1,
		Bytes: 16 * (1 + rnd.IntN(2)), Parity: rnd.IntN(2), Var: rnd.IntN(2),
		Relaxed: rnd.IntN(8) == 0,
	}
}

// phasePattern is one of the usual right programs.
func phasePattern(rnd *rand.Rand) *PhaseProgram {
	cmd := func(op PhaseOp, bar int) PhaseCommand {
		return PhaseCommand{Op: op, Bar: bar, Count: 1, Bytes: 16}
	}
	wait := func(bar, parity int) PhaseCommand {
		return PhaseCommand{Op: PhaseWait, Bar: bar, Parity: parity}
	}
	fence := PhaseCommand{Op: PhaseFence}
	switch rnd.IntN(5) {
	case 4: // a hand-over by fences around relaxed operations, and a copy over what was read
		relaxed := func(op PhaseOp, bar int) PhaseCommand {
			c := cmd(op, bar)
			c.Relaxed = true
			return c
		}
		own := rnd.IntN(2) == 0
		release := PhaseCommand{Op: PhaseRelease, Own: own}
		acquire := PhaseCommand{Op: PhaseAcquire, Own: own}
		return &PhaseProgram{Counts: []int{1, 1}, Threads: [][]PhaseCommand{
			{cmd(PhaseWrite, 0), release, relaxed(PhaseArrive, 0), relaxed(PhaseWait, 1), acquire,
				cmd(PhaseExpectArrive, 0), cmd(PhaseCopy, 0)},
			{relaxed(PhaseWait, 0), acquire, cmd(PhaseRead, 0), {Op: PhaseFence, Own: rnd.IntN(2) == 0},
				release, relaxed(PhaseArrive, 1), wait(0, 1), cmd(PhaseRead, 0)},
		}}
	case 0: // a ring of one stage, whose producer copies
		return &PhaseProgram{Counts: []int{1, 1}, Threads: [][]PhaseCommand{
			{cmd(PhaseExpectArrive, 0), cmd(PhaseCopy, 0), wait(1, 0), cmd(PhaseExpectArrive, 0),
				cmd(PhaseCopy, 0)},
			{wait(0, 0), cmd(PhaseRead, 0), fence, cmd(PhaseArrive, 1), wait(0, 1), cmd(PhaseRead, 0)},
		}}
	case 1: // threads that exchange what they wrote
		other := cmd(PhaseWrite, 0)
		other.Var = 1
		read := cmd(PhaseRead, 0)
		read.Var = 1
		return &PhaseProgram{Counts: []int{2}, Threads: [][]PhaseCommand{
			{cmd(PhaseWrite, 0), cmd(PhaseArrive, 0), cmd(PhaseWaitState, 0), read},
			{other, cmd(PhaseArrive, 0), cmd(PhaseWaitState, 0), cmd(PhaseRead, 0)},
		}}
	case 2: // one thread arms the object, another one copies, a third one reads
		return &PhaseProgram{Counts: []int{1, 1}, Threads: [][]PhaseCommand{
			{cmd(PhaseExpectArrive, 0), cmd(PhaseArrive, 1)},
			{wait(1, 0), cmd(PhaseCopy, 0)},
			{wait(0, 0), cmd(PhaseRead, 0), cmd(PhaseWrite, 0)},
		}}
	}
	return &PhaseProgram{Counts: []int{1}, Threads: [][]PhaseCommand{ // a copy over what was written
		{cmd(PhaseWrite, 0), fence, {Op: PhaseSync}, wait(0, 0), cmd(PhaseRead, 0)},
		{{Op: PhaseSync}, cmd(PhaseExpectArrive, 0), cmd(PhaseCopy, 0), wait(0, 0), cmd(PhaseRead, 0)},
	}}
}

// spoil changes one command other than a bar.sync: it is left out, exchanged with the next one, or
// changed.
func spoil(rnd *rand.Rand, p *PhaseProgram) {
	t := rnd.IntN(len(p.Threads))
	list := p.Threads[t]
	if len(list) < 2 {
		return
	}
	i := rnd.IntN(len(list) - 1)
	if list[i].Op == PhaseSync || list[i+1].Op == PhaseSync {
		return
	}
	switch rnd.IntN(7) {
	case 6:
		list[i].Own = !list[i].Own
	case 0:
		p.Threads[t] = append(list[:i], list[i+1:]...)
	case 1:
		list[i], list[i+1] = list[i+1], list[i]
	case 2:
		list[i].Bytes = 48 - list[i].Bytes
	case 3:
		list[i].Parity ^= 1
	case 4:
		list[i].Relaxed = true
	default:
		list[i] = randomPhase(rnd, len(p.Counts))
	}
}
