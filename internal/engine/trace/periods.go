package trace

import (
	"context"
	"fmt"
	"math/bits"
	"slices"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/slice"
)

// Kernels whose number of rounds is not known (docs/theory/periods.md). If one parameter n decides
// the number of rounds of loops, and nothing else (slice.CountedBy), traces for some n decide all
// n: those for each n below some N, and from there on one for each remainder of n modulo P in which
// the state of the block repeats every P rounds. A trace by rounds (emu.NewTraceOfRounds) shows
// that.
//
// It misses kernels in which two parameters decide, and periods of more than maxPeriod moments.

const (
	windows   = 6  // in which the state must repeat
	maxPeriod = 32 // moments
	// periodSteps are the warp instructions of all traces together, some seconds.
	periodSteps = 1 << 24
)

// counting is the examination of a kernel for all values of one parameter.
type counting struct {
	t      *tracer
	param  int // index
	rounds *slice.Rounds
	steps  uint64
	// delta is by how much registers grow in a period, or a divisor of that
	delta  map[ir.RegID]uint64
	period uint64            // of the parameter; 0: not known yet
	wrong  string            // what is wrong with the value that findPeriod has returned; "": nothing
	fast   map[ir.RegID]bool // registers that grow much faster than the parameter, or shrink
	most   uint64            // steps of the longest trace
	// warn are values of the parameter to report warnings of: of a late proxy fence, and of a bulk
	// store that no thread waits for
	warn [2]struct {
		n     uint64
		found bool
	}
	// foreign is why windows cannot be repeated that are equal: uncounted or allocates; "" if none is
	// such.
	foreign string
}

// unknownCount returns the one unknown parameter that the slice reads; -1 if there is none, or why
// not.
func (t *tracer) unknownCount() (int, string) {
	found := -1
	for i, v := range t.job.Kernel.Params {
		if !t.run.Config.Args[i].Unknown || !t.slice.Loads(v) || v.Pointer {
			continue
		}
		if found >= 0 {
			return -1, fmt.Sprintf("%s and %s both decide; specify all but one of them with --arg",
				t.job.Kernel.Params[found].Shown(), v.Shown())
		}
		found = i
	}
	return found, ""
}

// anyCount tries to verify the kernel for all values of an unknown parameter that decides numbers
// of rounds. It returns a verdict, or nil and why there is none.
func (t *tracer) anyCount(ctx context.Context) (*diag.Verdict, string) {
	param, why := t.unknownCount()
	if param < 0 {
		return nil, why
	}
	if t.model == event.Lockstep || len(t.blocks) != 1 && t.slice.BlockIndex {
		return nil, ""
	}
	v := t.job.Kernel.Params[param]
	rounds, why := t.slice.CountedBy(v)
	if rounds == nil {
		return nil, why
	}
	if t.slice.HasTokens() {
		return nil, "an early answer decides whether a thread waits"
	}
	c := &counting{t: t, param: param, rounds: rounds, delta: make(map[ir.RegID]uint64),
		fast: make(map[ir.RegID]bool)}
	repeats, why := c.findPeriod(ctx)
	if repeats == 0 {
		return nil, why
	}
	// The state repeats from first on as far as is known; the traces begin where they may be long
	// enough for that.
	first := repeats
	if c.wrong == "" {
		first = min(first, max(rounds.Least, windows*c.period))
	}
	covered := 0
	for n := uint64(0); n < first+2*c.period; n++ {
		log, why, wrong := c.trace(ctx, n, n >= first)
		switch {
		case log == nil && why == "" && n < repeats:
			first = max(first, n+1) // an assumption or a quotient excludes it
			continue
		case log == nil && why == "":
			// larger numbers with the same remainder may not be excluded
			return nil, fmt.Sprintf("%s = %d is excluded", v.Shown(), n)
		case log == nil && !wrong:
			return nil, why
		case log == nil:
			return c.wrongWith(n, why), ""
		}
		covered++
		if n < first {
			continue
		}
		p, why := c.repeats(log, n)
		switch {
		case p == c.period:
		case n < repeats:
			first = n + 1
		case why == "":
			why = fmt.Sprintf("its state does not repeat every %d rounds", c.period)
			fallthrough
		default:
			return nil, fmt.Sprintf("with %s = %d, %s", v.Shown(), n, why)
		}
	}
	if c.wrong != "" {
		return c.wrongWith(repeats, c.wrong), ""
	}
	if covered == 0 {
		return nil, "assumptions exclude all numbers of rounds that were tried"
	}
	small := make(map[ir.RegID]bool)
	for r := range c.delta {
		small[r] = !c.fast[r] && c.most <= slice.MaxExtra/slice.MaxGrowth
	}
	if why := c.rounds.Grows(c.delta, small); why != "" {
		return nil, why
	}
	limit := uint64(slice.MaxCounted)
	if c.rounds.Bounded {
		limit = slice.MaxBounded
	}
	if !c.rounds.Within(limit) {
		return nil, fmt.Sprintf("%s may give more rounds than %d", v.Shown(), limit)
	}
	return c.conclude(ctx, first, limit)
}

// wrongWith is the verdict on a kernel in which something is wrong with one value of the parameter,
// which the author may not have had in mind.
func (c *counting) wrongWith(n uint64, why string) *diag.Verdict {
	k := c.t.job.Kernel
	name := k.Params[c.param].Shown()
	n, _, _ = c.rounds.Argument(n)
	return &diag.Verdict{Kind: diag.Unknown, Kernel: k.Demangled, Span: k.Span,
		Reason: fmt.Sprintf("with %s = %d, %s (--arg %s=%d examines this value, and __requires "+
			"excludes it)", name, n, why, name, n)}
}

// conclude traces the kernel once more for its reports, for n and for values with other warnings,
// and says in the verdict that it holds for any value of the parameter.
func (c *counting) conclude(ctx context.Context, n, limit uint64) (*diag.Verdict, string) {
	t := c.t
	t.known = append(t.known, fmt.Sprintf("any %s from 0 to %d", t.job.Kernel.Params[c.param].Shown(),
		limit))
	if !t.slice.BlockIndex && len(t.blocks) > 1 {
		t.blocks = t.blocks[:1]
	}
	values := []uint64{n}
	for _, w := range c.warn {
		if w.found && !slices.Contains(values, w.n) {
			values = append(values, w.n)
		}
	}
	for _, n := range values {
		var err error
		t.run.Config = c.config(n)
		if t.run.Machine, err = emu.NewTrace(t.job.Kernel, t.run.Config, t.slice); err != nil {
			return nil, ""
		}
		for _, b := range t.blocks {
			if !t.block(ctx, b) {
				break
			}
		}
	}
	v := t.conclude()
	return &v, ""
}

// config is the launch with a value of the parameter that gives n rounds.
func (c *counting) config(n uint64) *launch.Config {
	n, _, _ = c.rounds.Argument(n)
	return c.t.run.Config.WithNumber(c.param, n, "an example: the trace covers every value")
}

// findPeriod looks for a value of the parameter from which on the state repeats, and sets the
// period. It returns 0 and why there is none.
func (c *counting) findPeriod(ctx context.Context) (first uint64, why string) {
	for _, n := range [...]uint64{24, 64, 224} {
		n = max(n, c.rounds.Least)
		log, found, wrong := c.trace(ctx, n, true)
		switch {
		case log == nil && found == "": // excluded by an assumption
			continue
		case log == nil && wrong: // smaller ones are examined first
			c.wrong = found
			return n, ""
		case log == nil:
			return 0, found
		}
		if c.period, why = c.repeats(log, n); c.period != 0 {
			return n, ""
		}
	}
	switch {
	case why != "":
	case c.foreign != "":
		why = c.foreign
	default:
		why = fmt.Sprintf("its state does not repeat within %d rounds", maxPeriod)
	}
	return 0, why
}

// trace traces the block with a value of the parameter, by rounds and with a log of them if it
// should record them. It returns nil and what is wrong with the kernel or, if wrong is false, why
// the trace says nothing; nil and nothing if an assumption excludes the value.
func (c *counting) trace(ctx context.Context, n uint64, record bool) (log *roundLog, why string,
	wrong bool) {
	t := c.t
	if _, ok, above := c.rounds.Argument(n); above {
		return nil, fmt.Sprintf("no %s gives %d rounds", t.job.Kernel.Params[c.param].Shown(), n), false
	} else if !ok {
		return nil, "", false
	}
	m, err := emu.NewTraceOfRounds(t.job.Kernel, c.config(n), t.slice, c.rounds.Loops)
	if err != nil {
		return nil, err.Error(), false
	}
	t.run.Machine = m // names what a finding is about
	sink := t.newSink()
	log = newRoundLog(sink)
	opt := t.running([]uint32{t.blocks[0]}, 0)
	opt.MaxSteps = min(opt.MaxSteps, periodSteps-c.steps)
	var to event.Sink = sink
	if record {
		opt.Round, to = log.round, log
	}
	res, err := m.Run(ctx, opt, to)
	if err != nil {
		return nil, err.Error(), false
	}
	t.starves = t.starves || res.Starves
	if c.steps += res.Steps; c.steps >= periodSteps {
		return nil, "its traces take too many steps", false
	}
	c.most = max(c.most, res.Steps)
	rep := sink.report()
	if res.Stop != nil {
		switch res.Stop.Kind {
		case emu.OutsideAssumptions:
			return nil, "", false
		case emu.BytesMismatch:
			return nil, res.Stop.Message, !t.guessedBoxes
		case emu.Unsupported, emu.DependsOnInput, emu.MemoryLimit, emu.Spinning:
			return nil, res.Stop.Message, false
		}
		return nil, res.Stop.Message, true
	}
	switch {
	case res.Status == emu.Stalled:
		return nil, "threads wait forever", true
	case res.Status != emu.Completed:
		return nil, "its trace does not end", false
	case len(res.Maybe) > 0:
		return nil, "the trace takes paths that perhaps no input takes", false
	case len(rep.Races) > 0:
		rc := &rep.Races[0]
		a, b := m.Site(rc.First.Site), m.Site(rc.Second.Site)
		return nil, fmt.Sprintf("%s at %s and %s at %s are not ordered", driver.OpText(a.Instr),
			t.job.Format(place(a).Start), driver.OpText(b.Instr), t.job.Format(place(b).Start)), true
	case len(rep.Phases) > 0:
		return nil, t.phaseText(&rep.Phases[0]), true
	case len(rep.Barriers) > 0:
		return nil, "a barrier is used wrongly", true
	case len(res.Annotations) > 0 || len(res.Faults) > 0:
		return nil, "an annotation does not hold or an access is invalid", true
	}
	for i := range res.Leftovers {
		if !res.Leftovers[i].Store {
			return nil, "no thread waits for a bulk copy", true
		}
	}
	for i, now := range [...]bool{len(rep.Late) > 0, len(res.Leftovers) > 0} {
		if w := &c.warn[i]; now && !w.found {
			w.n, w.found = n, true
		}
	}
	return log, "", false
}

// repeats returns by how much the parameter grows in the rounds after which the state repeats; 0 if
// it does not. Each execution of a counted loop must contain exactly one stretch of windows: there
// the period can be repeated, whatever the parameter is.
func (c *counting) repeats(log *roundLog, n uint64) (uint64, string) {
	for d := 1; d <= maxPeriod && windows*d <= len(log.list); d++ {
		p, why := c.repeatsEvery(log.list, d, n)
		if p > 0 && (c.period == 0 || p == c.period) && p > 1 || why != "" {
			return p, why
		}
	}
	return 0, ""
}

// visit identifies one execution of a counted loop by lanes of a warp.
type visit struct {
	warp  event.Warp
	mask  uint32
	loop  int
	count int // of executions before
}

// visits returns the execution to which each entry of the intervals belongs.
func (c *counting) visits(list []*interval) [][]visit {
	type state struct {
		visit visit
		value uint64
	}
	last := make(map[visit]*state)
	out := make([][]visit, len(list))
	for i, in := range list {
		for j := range in.at.Threads {
			th := &in.at.Threads[j]
			key := visit{warp: th.Warp, mask: th.Mask, loop: th.Loop}
			v := c.counter(th, 0)
			s := last[key]
			switch {
			case s == nil:
				s = &state{visit: key}
				last[key] = s
			case v != s.value+c.rounds.Loops[th.Loop].Steps[0]:
				s.visit.count++
			}
			s.value = v
			out[i] = append(out[i], s.visit)
		}
	}
	return out
}

// counter returns the value of a counter of the loop that threads begin a round of.
func (c *counting) counter(th *emu.RoundThreads, k int) uint64 {
	l := &c.rounds.Loops[th.Loop]
	i := slices.Index(l.Live, l.Counters[k])
	if i < 0 {
		return 0
	}
	return th.Values[i*event.WarpSize+bits.TrailingZeros32(th.Mask)&31]
}

// repeatsEvery is repeats for a period of d moments.
func (c *counting) repeatsEvery(list []*interval, d int, n uint64) (uint64, string) {
	visits := c.visits(list)
	repeated := make(map[visit]int)
	period := uint64(0)
	delta, fast := make(map[ir.RegID]uint64), make(map[ir.RegID]bool)
	total := make(map[ir.RegID]uint64) // how much each register grows in one window of each stretch
	for from := 0; from+d < len(list); {
		to := from
		var grows []map[ir.RegID]grown
		for to+d < len(list) && list[to].same(list[to+d]) {
			g, p := c.growth(list[to].at, list[to+d].at)
			if p == 0 || period != 0 && p != period {
				break
			}
			period = p
			grows = append(grows, g)
			to++
		}
		if to-from < (windows-1)*d {
			from = max(to, from+1)
			continue
		}
		if why := c.stretch(list, visits, from+2*d, d, n, repeated); why != "" {
			if why == uncounted || why == allocates {
				c.foreign = why
			}
			return 0, ""
		}
		most := make(map[ir.RegID]uint64)
		for _, g := range grows {
			for r, v := range g {
				delta[r] = gcd(delta[r], v.by)
				most[r] = max(most[r], v.most)
				fast[r] = fast[r] || v.down || v.to > slice.MaxGrowth*n
			}
		}
		for r, v := range most {
			total[r] += v
			fast[r] = fast[r] || total[r] > slice.MaxGrowth*period
		}
		from = to + d
	}
	for i := range visits {
		for _, v := range visits[i] {
			if repeated[v] != 1 {
				return 0, ""
			}
		}
	}
	for r, v := range delta {
		c.delta[r] = gcd(c.delta[r], v)
	}
	for r := range fast {
		c.fast[r] = c.fast[r] || fast[r]
	}
	return period, ""
}

// uncounted is why windows cannot be repeated in which a thread does something without beginning a
// round: it is in another loop, and nothing compares its registers.
const uncounted = "in its rounds, threads in other loops make progress too"

// allocates is why windows cannot be repeated in which columns of tensor memory are allocated or
// freed, which docs/theory/periods.md leaves out.
const allocates = "its rounds allocate tensor memory"

// stretch marks the executions of loops whose rounds the window at a moment repeats. It returns
// why the window cannot be repeated.
func (c *counting) stretch(list []*interval, visits [][]visit, at, d int, n uint64,
	repeated map[visit]int) string {
	marked, begins := make(map[visit]bool), make(map[event.Warp]uint32)
	for _, in := range list[at : at+d] {
		for j := range in.at.Threads {
			begins[in.at.Threads[j].Warp] |= in.at.Threads[j].Mask
		}
	}
	for i := at; i < at+d; i++ {
		if list[i].allocates {
			return allocates
		}
		for w, ran := range list[i+1].at.Ran {
			if ran&^begins[w] != 0 {
				return uncounted
			}
		}
		for j, v := range visits[i] {
			if visits[i+d][j] != v {
				return "a loop ends within the window"
			}
			if why := c.between(&list[i].at.Threads[j], &list[i+d].at.Threads[j], n); why != "" {
				return why
			}
			if !marked[v] {
				marked[v] = true
				repeated[v]++
			}
		}
	}
	return ""
}

// between requires of each lane that all comparisons of its counters have the outcome that they
// have in the middle of the loop, from one moment to another.
func (c *counting) between(from, to *emu.RoundThreads, n uint64) string {
	l := &c.rounds.Loops[from.Loop]
	for _, r := range l.Counters {
		k := slices.Index(l.Live, r)
		if k < 0 || from.Unknown[k]|to.Unknown[k] != 0 {
			return "a counter is not known"
		}
		for m := from.Mask; m != 0; m &= m - 1 {
			at := k*event.WarpSize + bits.TrailingZeros32(m)&31
			if from.Values[at] < c.rounds.Above {
				return "a loop has just begun"
			}
			if v := to.Values[at]; v > n || n-v < c.rounds.Slack {
				return "a loop is about to end"
			}
		}
	}
	return ""
}

// grown is how a register grows.
type grown struct {
	by   uint64 // a divisor of how much
	most uint64 // how much at most
	to   uint64 // its largest value
	down bool   // it shrinks
}

// growth compares the registers at two moments in which the same threads begin rounds of the same
// loops. It returns by how much they differ, and by how much the counters do that are compared with
// the parameter; 0 if that is not the same for all, or something that should not differ does.
func (c *counting) growth(a, b *emu.Round) (map[ir.RegID]grown, uint64) {
	out := make(map[ir.RegID]grown)
	period := uint64(0)
	for i := range a.Threads {
		v, w := &a.Threads[i], &b.Threads[i]
		l := &c.rounds.Loops[v.Loop]
		for k := range l.Counters {
			by := c.counter(w, k) - c.counter(v, k)
			if by == 0 || period != 0 && by != period || by%l.Steps[k] != 0 {
				return nil, 0
			}
			period = by
		}
		for k, r := range l.Live {
			if v.Unknown[k] != w.Unknown[k] {
				return nil, 0
			}
			counts := slices.Contains(l.Counters, r)
			for m := v.Mask &^ v.Unknown[k]; m != 0; m &= m - 1 {
				at := k*event.WarpSize + bits.TrailingZeros32(m)&31
				x, y := v.Values[at], w.Values[at]
				if counts && y-x != period {
					return nil, 0 // lanes differ
				}
				if x == y {
					continue
				}
				g := out[r]
				by := max(x, y) - min(x, y)
				out[r] = grown{gcd(g.by, by), max(g.most, by), max(g.to, x, y), g.down || y < x}
			}
		}
	}
	return out, period
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
