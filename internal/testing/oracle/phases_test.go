package oracle

import (
	"math/rand/v2"
	"testing"
)

// threads is a program for objects with the given counts.
func phaseProgram(counts []int, threads ...[]PhaseCommand) *PhaseProgram {
	return &PhaseProgram{Counts: counts, Threads: threads}
}

func arrive(m int) PhaseCommand    { return PhaseCommand{Op: PhaseArrive, Bar: m, Count: 1} }
func expect(m, n int) PhaseCommand { return PhaseCommand{Op: PhaseExpect, Bar: m, Bytes: n} }
func arm(m, n int) PhaseCommand {
	return PhaseCommand{Op: PhaseExpectArrive, Bar: m,
		Bytes: n}
}
func bulk(x, m, n int) PhaseCommand {
	return PhaseCommand{Op: PhaseCopy, Var: x, Bar: m,
		Bytes: n}
}
func parity(m, q int) PhaseCommand        { return PhaseCommand{Op: PhaseWait, Bar: m, Parity: q} }
func state(m int) PhaseCommand            { return PhaseCommand{Op: PhaseWaitState, Bar: m} }
func reads(x int) PhaseCommand            { return PhaseCommand{Op: PhaseRead, Var: x} }
func writes(x int) PhaseCommand           { return PhaseCommand{Op: PhaseWrite, Var: x} }
func relaxed(c PhaseCommand) PhaseCommand { c.Relaxed = true; return c }

var (
	proxyFence = PhaseCommand{Op: PhaseFence}
	blockSync  = PhaseCommand{Op: PhaseSync}
)

// TestPhases compares what the oracle says of programs with what the PTX ISA says of them.
func TestPhases(t *testing.T) {
	type expected struct{ deadlock, excess, deterministic, racy bool }
	fine := expected{deterministic: true}
	for _, c := range []struct {
		name, why string
		p         *PhaseProgram
		want      expected
	}{
		{"arrive and wait", "a release arrival precedes an acquire wait for its phase (9.7.13.15.13, " +
			".16)",
			phaseProgram([]int{1}, []PhaseCommand{writes(0), arrive(0)}, []PhaseCommand{parity(0, 0),
				reads(0)}),
			fine},
		{"by state", "the same for a wait by the state of the thread's own arrival",
			phaseProgram([]int{2}, []PhaseCommand{writes(0), arrive(0), state(0)},
				[]PhaseCommand{arrive(0), state(0), reads(0)}), fine},
		{"relaxed arrival", "execution is ordered, memory is not (relaxed establishes no release " +
			"pattern)",
			phaseProgram([]int{1}, []PhaseCommand{writes(0), relaxed(arrive(0))},
				[]PhaseCommand{parity(0, 0), reads(0)}), expected{deterministic: true, racy: true}},
		{"relaxed wait", "the same for the other side",
			phaseProgram([]int{1}, []PhaseCommand{writes(0), arrive(0)},
				[]PhaseCommand{relaxed(parity(0, 0)), reads(0)}), expected{deterministic: true,
				racy: true}},
		{"copy", "the complete-tx releases the accesses of the copy (9.7.9.25.4.1)",
			phaseProgram([]int{1}, []PhaseCommand{arm(0, 512), bulk(0, 0, 512)},
				[]PhaseCommand{parity(0, 0), reads(0)}), fine},
		{"copy of an earlier phase", "who acquires a later phase sees the copy: the arrivals on the " +
			"object are read-modify-writes, which continue what its complete-tx releases (8.9.2)",
			phaseProgram([]int{1}, []PhaseCommand{arm(0, 512), bulk(0, 0, 512), blockSync,
				relaxed(arrive(0))}, []PhaseCommand{relaxed(parity(0, 0)), blockSync, parity(0, 1),
				reads(0)}), fine},
		{"read before the wait", "nothing orders the copy before the read",
			phaseProgram([]int{1}, []PhaseCommand{arm(0, 512), bulk(0, 0, 512)},
				[]PhaseCommand{reads(0), parity(0, 0)}), expected{deterministic: true, racy: true}},
		{"fork and join", "the issuer's read precedes the copy, and the wait orders only the copy " +
			"(8.9.1.1)",
			phaseProgram([]int{1}, []PhaseCommand{reads(0), bulk(1, 0, 512)},
				[]PhaseCommand{arm(0, 512), parity(0, 0), writes(0)}),
			expected{deterministic: true, racy: true}},
		{"sums for each barrier", "the arrival completes phase 0, and the bytes belong to phase 1",
			phaseProgram([]int{1}, []PhaseCommand{arrive(0), expect(0, 512), bulk(0, 0, 512)},
				[]PhaseCommand{parity(0, 0), reads(0)}), expected{deterministic: true, racy: true}},
		{"expect of another thread", "the phase may complete before the expect, although the sums " +
			"are equal",
			phaseProgram([]int{1}, []PhaseCommand{arrive(0)}, []PhaseCommand{expect(0, 16), bulk(0, 0,
				16)},
				[]PhaseCommand{parity(0, 0), reads(0)}), expected{racy: true}},
		{"parity by schedule", "the producer may complete two more phases before the consumer waits",
			phaseProgram([]int{1}, []PhaseCommand{arrive(0), arrive(0)},
				[]PhaseCommand{parity(0, 0), parity(0, 1)}), expected{deadlock: true}},
		{"skipped phase", "a wait for parity 1 passes at once on a fresh object, or really waits",
			phaseProgram([]int{1}, []PhaseCommand{arrive(0), arrive(0)}, []PhaseCommand{parity(0, 1)}),
			expected{deadlock: false}},
		{"surplus arrival in one phase", "two arrivals of the count 1 are two phases: no excess",
			phaseProgram([]int{1}, []PhaseCommand{arrive(0)}, []PhaseCommand{arrive(0)}), expected{}},
		{"excess", "while bytes are missing, the phase stays open and has no arrival left",
			phaseProgram([]int{1}, []PhaseCommand{arm(0, 16), arrive(0)}),
			expected{excess: true}},
		{"count too high", "one arrival is missing for ever",
			phaseProgram([]int{2}, []PhaseCommand{arrive(0)}, []PhaseCommand{parity(0, 0)}),
			expected{deadlock: true}},
		{"bytes too few", "the copy completes 512 bytes of 528",
			phaseProgram([]int{1}, []PhaseCommand{arm(0, 528), bulk(0, 0, 512)},
				[]PhaseCommand{parity(0, 0)}),
			expected{deadlock: true}},
		{"write, then copy over it", "8.9.5: generic before async needs a proxy fence",
			phaseProgram([]int{1}, []PhaseCommand{writes(0), arm(0, 16), bulk(0, 0, 16)}),
			expected{deterministic: true, racy: true}},
		{"write, fence, copy over it", "the proxy fence is on the path",
			phaseProgram([]int{1}, []PhaseCommand{writes(0), proxyFence, arm(0, 16), bulk(0, 0, 16)}),
			fine},
		{"fence before the write", "a fence orders only what is before it",
			phaseProgram([]int{1}, []PhaseCommand{proxyFence, writes(0), arm(0, 16), bulk(0, 0, 16)}),
			expected{deterministic: true, racy: true}},
		{"fence of the writer in front of the barrier", "the fence is on the path (8.9.5)",
			phaseProgram([]int{1}, []PhaseCommand{writes(0), proxyFence, blockSync},
				[]PhaseCommand{blockSync, arm(0, 16), bulk(0, 0, 16)}), fine},
		{"fence of the issuer behind the barrier", "accepted: choice F, a fence of any thread on the " +
			"path",
			phaseProgram([]int{1}, []PhaseCommand{writes(0), blockSync},
				[]PhaseCommand{blockSync, proxyFence, arm(0, 16), bulk(0, 0, 16)}), fine},
		{"two copies of one phase", "nothing orders operations of one phase",
			phaseProgram([]int{1}, []PhaseCommand{arm(0, 32), bulk(0, 0, 16), bulk(0, 0, 16)}),
			expected{deterministic: true, racy: true}},
		{"ring of one stage", "empty and full barriers, three rounds, with a proxy fence for the reads",
			phaseProgram([]int{1, 1}, []PhaseCommand{arm(0, 16), bulk(0, 0, 16), parity(1, 0), arm(0, 16),
				bulk(0, 0, 16)},
				[]PhaseCommand{parity(0, 0), reads(0), proxyFence, arrive(1), parity(0, 1), reads(0)}),
			fine},
		{"ring without the fence", "the read precedes the next copy, but no proxy fence is in between",
			phaseProgram([]int{1, 1}, []PhaseCommand{arm(0, 16), bulk(0, 0, 16), parity(1, 0), arm(0, 16),
				bulk(0, 0, 16)},
				[]PhaseCommand{parity(0, 0), reads(0), arrive(1), parity(0, 1), reads(0)}),
			expected{deterministic: true, racy: true}},
	} {
		r, ok := Phases(c.p, 1<<18)
		got := expected{r.Deadlock, r.Excess, r.Deterministic, r.Racy()}
		if !ok || got != c.want {
			t.Errorf("%s: %+v, want %+v, since %s\n%s%v", c.name, got, c.want, c.why, c.p, r.RaceList())
		}
	}
}

// TestPhasesRenamed checks that the order in which threads and objects are written does not matter.
func TestPhasesRenamed(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	racy, deadlocks := 0, 0
	for range 300 {
		p := RandomPhases(rnd)
		r, ok := Phases(p, 1<<14)
		if !ok {
			continue
		}
		other := &PhaseProgram{Counts: p.Counts}
		for i := range p.Threads {
			other.Threads = append(other.Threads, p.Threads[len(p.Threads)-1-i])
		}
		o, ok := Phases(other, 1<<14)
		if !ok || o.Deadlock != r.Deadlock || o.Excess != r.Excess || o.Racy() != r.Racy() ||
			o.Deterministic != r.Deterministic || len(o.Races) != len(r.Races) || o.States != r.States {
			t.Fatalf("%+v and, with the threads in another order, %+v\n%s", r, o, p)
		}
		if r.Racy() {
			racy++
		}
		if r.Deadlock {
			deadlocks++
		}
	}
	if racy < 20 || deadlocks < 20 || racy > 280 || deadlocks > 280 {
		t.Errorf("%d racy programs and %d deadlocks of 300: the programs show too little", racy,
			deadlocks)
	}
}

// TestPhasesFences checks that a proxy fence more removes races, and changes nothing else.
func TestPhasesFences(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	fewer := 0
	for range 300 {
		p := RandomPhases(rnd)
		r, ok := Phases(p, 1<<14)
		if !ok {
			continue
		}
		q := &PhaseProgram{Counts: p.Counts}
		for _, list := range p.Threads {
			var with []PhaseCommand
			for _, c := range list {
				with = append(with, c, proxyFence)
			}
			q.Threads = append(q.Threads, with)
		}
		f, ok := Phases(q, 1<<16)
		if !ok {
			continue
		}
		if f.Deadlock != r.Deadlock || f.Excess != r.Excess || len(f.Races) > len(r.Races) {
			t.Fatalf("%+v, and with more fences %+v\n%s", r, f, p)
		}
		for x := range f.Races {
			if x.Proxy {
				t.Fatalf("%+v although a fence follows each command\n%s", x, q)
			}
		}
		if len(f.Races) < len(r.Races) {
			fewer++
		}
	}
	if fewer < 5 {
		t.Errorf("fences removed races of %d programs only", fewer)
	}
}

// TestDeterministic compares the search that looks at phases alone with the one that keeps all.
func TestDeterministic(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	yes, no := 0, 0
	for range 300 {
		p := RandomSync(rnd)
		r, ok := Phases(p, 1<<13)
		if !ok {
			continue
		}
		got, decided := Deterministic(p, 1<<16)
		if !decided || got != r.Deterministic {
			t.Fatalf("deterministic %v %v, and with all of the past %+v\n%s", got, decided, r, p)
		}
		if got {
			yes++
		} else {
			no++
		}
	}
	if yes < 30 || no < 100 {
		t.Errorf("%d deterministic programs and %d others: the programs show too little", yes, no)
	}
}
