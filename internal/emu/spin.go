package emu

import (
	"context"
	"fmt"

	"heddle/internal/event"
)

// Runs in which every remaining thread spins. A warp spins if each of its fragments has executed a
// backward branch since it last changed memory, and has polled: it has read memory by a strong or
// atomic access (exec.polled). If that is all that happens for a while, the states of the spinning
// warps are compared: one whose registers and local memory are what they were, while no memory has
// changed, will repeat the same steps for ever. If this is true of all warps that can run, the rest
// of the run is known, and the run ends. A loop that counts its attempts never repeats a state; such
// a run ends after many steps in which nothing changed.

const (
	spinTurns    = 1 << 12    // turns in which only spinning was seen, before states are compared
	spinSteps    = 10_000_000 // steps in which only spinning was seen that end a run,
	spinWarp     = 1_000      // and how many more for each warp that can run
	spinCompares = 64         // turns of a warp after which its state is no longer compared
	maxSpins     = 8          // places in Result.Spins
)

// Spin is a place at which threads wait for a change of memory that does not come.
type Spin struct {
	Site    event.Site   // of the access that reads the memory
	Thread  event.Thread // the first one there
	Threads int
}

// spinWatch notices that all warps of a run only spin.
type spinWatch struct {
	turns  uint64 // consecutive turns in which a warp only spun, and nothing changed
	began  uint64 // step of the first of them
	states bool   // the states of the warps that can run have been noted
	open   int    // of these warps, those that are not known to repeat
	limit  uint64 // step at which the run ends though some are not
	places []Spin
	waits  []PhaseWait // at mbarriers
}

// spinState is the state of a warp at the end of one of its turns, while spinWatch.states is set.
type spinState struct {
	hash uint64
	left int // turns after which it is still compared
}

// reset is called when something other than spinning has happened.
func (s *spinWatch) reset() { s.turns, s.states = 0, false }

// after takes note of a turn of w.
func (s *spinWatch) after(x *exec, w *warp) {
	if !w.idle || x.changed {
		s.reset()
		return
	}
	if s.turns == 0 {
		s.began = x.steps
	}
	s.turns++
	if st := &w.state; s.states && st.left > 0 {
		st.left--
		if x.stateOf(w) == st.hash {
			st.left = 0
			s.open--
		}
	}
}

// stuck reports whether the run is over because all that is left spins. All blocks have started.
func (s *scheduler) stuck() bool {
	w := &s.spin
	if w.turns < spinTurns || s.serve(true) {
		return false
	}
	if s.opt.Outside != nil && s.opt.Outside() {
		w.reset()
		return false
	}
	if !w.states {
		n := 0
		for _, b := range s.resident {
			n += b.queued
		}
		if w.turns < spinTurns+4*uint64(n) {
			return false
		}
		s.eachRunnable(func(p *warp) { p.state = spinState{s.x.stateOf(p), spinCompares} })
		w.states, w.open, w.limit = true, n, w.began+spinSteps+spinWarp*uint64(n)
	}
	what := "every remaining thread spins on memory that none of them changes"
	if w.open > 0 {
		if s.x.steps < w.limit {
			return false
		}
		what = fmt.Sprintf("every remaining thread has only polled memory during %d warp instructions, "+
			"in which it did not change", s.x.steps-w.began)
	}
	if w.open == 0 && s.waitForEver(s.resident) {
		return true
	}
	s.eachRunnable(func(p *warp) { w.place(p, s.x.lockstep) })
	first := w.places[0]
	stop := Stop{Kind: Spinning, Site: first.Site, Thread: first.Thread, Message: what}
	stop.Block, stop.Index = s.x.geo.Index(first.Thread)
	s.x.stop = &stop
	return true
}

// waitForEver stops a run in which nothing of some blocks is left but what waits or polls, if
// threads wait for registers, for the phase of an mbarrier or at the barrier of a cluster, which
// are among the blocks. It reports whether it did.
func (s *scheduler) waitForEver(blocks []*block) bool {
	if stop := s.starved(blocks); stop != nil {
		s.x.stop = stop
		return true
	}
	list, bytes := s.mbarrierWaits(blocks)
	if len(list) == 0 {
		s.x.stop = s.uncommitted(blocks)
		return s.x.stop != nil
	}
	s.spin.waits = list
	s.x.stop = s.deadlocked(list, bytes)
	return true
}

// eachRunnable visits the warps of resident blocks that can run.
func (s *scheduler) eachRunnable(visit func(*warp)) {
	for _, b := range s.resident {
		for i := range b.warps {
			if b.warps[i].queued {
				visit(&b.warps[i])
			}
		}
	}
}

// place adds the places at which the fragments of a warp poll.
func (s *spinWatch) place(w *warp, lockstep bool) {
	ready := w.ready
	if lockstep { // only the last fragment runs
		ready = ready[len(ready)-1:]
	}
next:
	for _, g := range ready {
		n := popcount(g.mask)
		for i := range s.places {
			if s.places[i].Site == g.polledAt {
				s.places[i].Threads += n
				continue next
			}
		}
		if len(s.places) < maxSpins {
			t := event.ThreadOf(w.id, lowest(g.mask))
			s.places = append(s.places, Spin{Site: g.polledAt, Thread: t, Threads: n})
		}
	}
}

// stateOf returns a hash of what the next steps of a warp depend on, apart from memory that other
// threads can change. The order of its fragments does not count, since each of them continues
// independently of the others while nothing changes.
func (x *exec) stateOf(w *warp) uint64 {
	sum := uint64(0)
	for _, g := range w.ready {
		h := mix(uint64(g.pc)<<32 | uint64(g.mask))
		for f := g.frame; f != nil; f = f.parent {
			h = f.hash(h, g.mask)
		}
		for m := g.mask; m != 0; m &= m - 1 {
			l := lowest(m)
			for _, b := range w.local[l*w.localCap : (l+1)*w.localCap] {
				h = mix(h ^ uint64(b))
			}
		}
		sum += h
	}
	return sum
}

// hash adds the registers of some lanes to a hash.
func (f *frame) hash(h uint64, mask uint32) uint64 {
	n := f.fn.fn.ParamSize
	for m := mask; m != 0; m &= m - 1 {
		l := lowest(m)
		for i := range f.regs {
			h = mix(h ^ f.regs[i][l])
		}
		if len(f.params) > 0 {
			for _, b := range f.params[l*n : (l+1)*n] {
				h = mix(h ^ uint64(b))
			}
		}
	}
	for i := range f.forms {
		a := &f.forms[i]
		h = mix(mix(mix(mix(h^a.b)^uint64(a.kx))^uint64(a.ky)) ^ uint64(a.state))
	}
	for _, p := range f.preds {
		h = mix(h ^ uint64(p&mask))
	}
	return mix(h ^ uint64(f.cc&mask))
}

// poll notes that the current iteration has read memory that other threads may change.
func (x *exec) poll(in *inst) { x.polled, x.polledAt = true, x.site(in) }

// countedPoints is Result.points of the run with seed 0 under some options.
type countedPoints struct {
	model    event.WarpModel
	maxSteps uint64
	points   uint64
	known    bool
}

// keepPoints remembers how many synchronization points a run with seed 0 has.
func (m *Machine) keepPoints(opt *Options, res *Result) {
	if opt.Seed != 0 || opt.Blocks != nil || !m.prog.contended || res.Status == Interrupted {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.counted = countedPoints{opt.Model, opt.MaxSteps, res.points, true}
}

// pointsOf returns the number of synchronization points of the run with seed 0 under the same
// options, and executes this run if it is not known. So the schedule of a seed does not depend on
// which runs came before. In an arena a run changes memory for good, so that none is executed for
// this; one point for each thread is assumed.
func (m *Machine) pointsOf(ctx context.Context, opt *Options) uint64 {
	if m.prog.arena != nil || m.prog.under {
		return m.cfg.Geometry.Blocks() * uint64(m.cfg.Geometry.ThreadsPerBlock())
	}
	m.mu.Lock()
	c := m.counted
	m.mu.Unlock()
	if c.known && c.model == opt.Model && c.maxSteps == opt.MaxSteps {
		return c.points
	}
	zero := Options{Model: opt.Model, MaxSteps: opt.MaxSteps, Workers: opt.Workers,
		StopAtFault: opt.StopAtFault, Resident: opt.Resident}
	res, err := m.run(ctx, zero, nil)
	if err != nil {
		return 0
	}
	return res.points
}
