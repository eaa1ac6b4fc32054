package explore

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/internal/event"
	"heddle/internal/memmodel"
	"heddle/internal/testing/long"
)

// outcome is what an execution shows: registers, the values that locations may have, and races.
type outcome struct{ final, races string }

// randomProgram makes a program without branches: up to 4 threads of up to 3 accesses each, with
// fences and barriers between them.
func randomProgram(r *rand.Rand) *Program {
	p := &Program{}
	for l := range 1 + r.IntN(3) {
		p.Locations = append(p.Locations, Location{Name: string(rune('x' + l))})
	}
	weak := pick(r, 0, 1, 3) // of 6 loads and stores
	scopes := pick(r, []event.Scope{event.CTA, event.GPU, event.Sys}, []event.Scope{event.Sys})
	for t := range 2 + r.IntN(3) {
		th := Thread{Name: fmt.Sprintf("P%d", t), Regs: make([]int64, 4)}
		th.Position = memmodel.Position{CTA: r.IntN(2)}
		if r.IntN(8) == 0 {
			th.Position.GPU = 1
		}
		for range 1 + r.IntN(3) {
			if r.IntN(4) == 0 {
				th.Code = append(th.Code, randomFence(r, scopes))
			}
			th.Code = append(th.Code, randomAccess(r, len(p.Locations), weak, scopes))
			if last := th.Code[len(th.Code)-1]; last.Kind <= Store && len(p.Locations) > 1 && r.IntN(8) == 0 {
				th.Code[len(th.Code)-1].Element = 1 // a vector of two elements
				last.Element, last.Loc = 2, (last.Loc+1)%len(p.Locations)
				th.Code = append(th.Code, last)
			}
		}
		p.Threads = append(p.Threads, th)
	}
	return p
}

func pick[T any](r *rand.Rand, of ...T) T { return of[r.IntN(len(of))] }

func randomFence(r *rand.Rand, scopes []event.Scope) Inst {
	if r.IntN(4) == 0 {
		return Inst{Kind: Barrier, Dst: -1, Name: [2]Operand{Const(1), Const(0)}}
	}
	return Inst{Kind: Fence, Dst: -1, Scope: pick(r, scopes...),
		Order: pick(r, event.SeqCst, event.SeqCst, event.AcqRel, event.Acquire, event.Release)}
}

func randomAccess(r *rand.Rand, locs, weak int, scopes []event.Scope) Inst {
	in := Inst{Loc: r.IntN(locs), Dst: -1, Scope: pick(r, scopes...)}
	value := Const(int64(1 + r.IntN(2)))
	if r.IntN(3) == 0 {
		value = Reg(r.IntN(2))
	}
	switch r.IntN(7) {
	case 0, 1, 2:
		in.Kind, in.Dst = Load, r.IntN(2)
		in.Order = pick(r, event.Relaxed, event.Acquire)
	case 3, 4:
		in.Kind, in.Args = Store, []Operand{value}
		in.Order = pick(r, event.Relaxed, event.Release)
	default:
		in.Kind, in.Args, in.Dst = Update, []Operand{value}, 2+r.IntN(2)
		in.Order = pick(r, event.Relaxed, event.Acquire, event.Release, event.AcqRel)
		in.Update = pick(r, Modify, Swap, CompareAndSwap)
		switch in.Update {
		case Modify:
			in.Eval = func(a []int64) (int64, bool) { return a[0] + a[1], true }
			if r.IntN(3) == 0 {
				in.Reduce, in.Dst = true, -1
			}
		case CompareAndSwap:
			in.Args = []Operand{Const(int64(r.IntN(2))), value}
		}
	}
	if in.Kind != Update && r.IntN(6) < weak {
		in.Order, in.Scope = event.Weak, event.NoScope
	}
	return in
}

// brute enumerates all executions of a program without branches: every source for every read, then
// both directions of every pair of fences and writes that must be ordered.
//
// With prune, it leaves a choice as soon as what was chosen violates an axiom. The axioms forbid
// patterns of pairs, and deciding more only adds pairs, so that no completion is allowed then
// (naive.possible). That argument is the explorer's, too; TestPrunedBruteForce compares the two
// enumerations.
type brute struct {
	prog  *Program
	m     naive
	inst  []*Inst
	regs  [][]int // [event]: for each operand, the event that set its register, or -1
	out   map[string]outcome
	cas   []bool // [event]: a compare-and-swap, which may fail
	prune bool
	tried int // choices
	limit int
}

// bruteForce returns nothing if there are more than limit choices: of all, or if it prunes, that it
// tries.
func bruteForce(p *Program, limit int, prune bool) map[string]outcome {
	b := &brute{prog: p, out: map[string]outcome{}, prune: prune, limit: limit}
	add := func(e naiveEvent, in *Inst, regs []int) {
		b.m.ev = append(b.m.ev, e)
		b.m.rf = append(b.m.rf, -1)
		b.inst = append(b.inst, in)
		b.regs = append(b.regs, regs)
		b.cas = append(b.cas, in != nil && in.Kind == Update && in.Update == CompareAndSwap)
	}
	for l := range p.Locations {
		add(naiveEvent{thread: -1, writes: true, loc: l}, nil, nil)
	}
	for t := range p.Threads {
		b.m.pos = append(b.m.pos, p.Threads[t].Position)
		last := []int{-1, -1, -1, -1}
		bars, vectors := 0, 0
		for i := range p.Threads[t].Code {
			in := &p.Threads[t].Code[i]
			e := naiveEvent{thread: t, index: i, order: in.Order, scope: in.Scope, loc: in.Loc,
				red: in.Reduce, fence: in.Kind == Fence, bar: in.Kind == Barrier}
			e.reads = in.Kind == Load || in.Kind == Update
			e.writes = in.Kind == Store || in.Kind == Update
			if in.Element == 1 {
				vectors++
			}
			if in.Element > 0 {
				e.vec = vectors
			}
			if e.bar { // the n-th arrivals of the threads of a CTA meet
				bars++
				e.gen = bars*16 + p.Threads[t].Position.CTA*4 + p.Threads[t].Position.GPU
			}
			var regs []int
			for _, o := range in.Args {
				from := -1
				if o.IsReg {
					from = last[o.Reg]
				}
				regs = append(regs, from)
			}
			add(e, in, regs)
			if in.writesRegister() {
				last[in.Dst] = len(b.m.ev) - 1
			}
		}
	}
	if !prune && b.choices() > limit {
		return nil
	}
	b.m.prepare()
	b.sources(0)
	if b.tried > limit {
		return nil
	}
	return b.out
}

// sources enumerates the sources of the reads from event e on.
func (b *brute) sources(e int) {
	if e == len(b.m.ev) {
		b.values()
		return
	}
	if !b.m.ev[e].reads {
		b.sources(e + 1)
		return
	}
	for w := range b.m.ev {
		if w != e && b.m.ev[w].writes && b.m.ev[w].loc == b.m.ev[e].loc {
			b.m.rf[e] = w
			if !b.prune || b.possible() {
				b.sources(e + 1)
			}
		}
	}
	b.m.rf[e] = -1
}

// possible reports whether the sources chosen so far satisfy the axioms without any others. While
// it is open whether a compare-and-swap succeeds, it counts as a read: a write only adds pairs.
func (b *brute) possible() bool {
	if b.tried++; b.tried > b.limit {
		return false
	}
	m := &b.m
	for e := range m.ev {
		m.ev[e].writes = m.ev[e].writes && !b.cas[e]
	}
	m.sc, m.co = table(len(m.ev)), table(len(m.ev))
	m.obs = m.observation()
	ok := m.fenced()
	if ok {
		ok, _ = m.allowed()
	}
	for e := range m.ev {
		m.ev[e].writes = m.ev[e].writes || b.cas[e]
	}
	return ok
}

// values computes what is read and written, which fails if a value depends on itself (8.10.4), and
// goes on with the orders.
func (b *brute) values() {
	n := len(b.m.ev)
	read, write := make([]*int64, n), make([]*int64, n)
	failed := make([]bool, n)
	for range 2 * n {
		for e := range n {
			in := b.inst[e]
			if in == nil {
				v := b.prog.Locations[b.m.ev[e].loc].Value
				write[e] = &v
				continue
			}
			if w := b.m.rf[e]; w >= 0 && write[w] != nil {
				read[e] = write[w]
			}
			args, ok := make([]int64, len(in.Args)), true
			for i, o := range in.Args {
				args[i] = o.Value
				if from := b.regs[e][i]; o.IsReg && from >= 0 {
					if ok = ok && read[from] != nil; read[from] != nil {
						args[i] = *read[from]
					}
				} else if o.IsReg {
					args[i] = 0
				}
			}
			switch {
			case !ok:
			case in.Kind == Store || in.Kind == Update && in.Update == Swap:
				write[e] = &args[0]
			case in.Kind == Update && read[e] != nil && in.Update == Modify:
				v := *read[e] + args[0]
				write[e] = &v
			case in.Kind == Update && read[e] != nil && *read[e] == args[0]:
				write[e] = &args[1]
			case in.Kind == Update && read[e] != nil:
				failed[e] = true
			}
		}
	}
	for e := range n {
		if b.m.ev[e].reads && (read[e] == nil || failed[b.m.rf[e]]) {
			return
		}
	}
	saved := slices.Clone(b.m.ev)
	for e := range n {
		b.m.ev[e].writes = b.m.ev[e].writes && !failed[e]
	}
	b.orders(read, write)
	b.m.ev = saved
}

// orders enumerates both directions of all pairs that Fence-SC order, and then coherence order,
// must relate.
func (b *brute) orders(read, write []*int64) {
	m := &b.m
	m.obs = m.observation()
	var fences, writes [][2]int
	for x := range m.ev {
		for y := range x {
			sc := func(e int) bool { return m.ev[e].fence && m.ev[e].order == event.SeqCst }
			if m.ms(x, y) && sc(x) && sc(y) {
				fences = append(fences, [2]int{y, x})
			}
			if m.ms(x, y) && m.ev[x].writes && m.ev[y].writes {
				writes = append(writes, [2]int{y, x})
			}
		}
	}
	m.co = table(len(m.ev))
	var fenced, ordered func() bool
	if b.prune {
		more := func() bool { b.tried++; return b.tried <= b.limit }
		fenced = func() bool { return more() && m.fenced() }
		ordered = func() bool { ok, _ := m.allowed(); return ok && more() }
	}
	directions(fences, &m.sc, len(m.ev), fenced, func() {
		if !m.fenced() {
			return
		}
		races := strings.Join(m.races(), " ")
		directions(writes, &m.co, len(m.ev), ordered, func() {
			if ok, co := m.allowed(); ok {
				b.out[m.key(co)] = outcome{b.final(read, write, co), races}
			}
		})
		m.co = table(len(m.ev))
	})
}

// directions calls f with a relation between n events that has each pair in one of its directions,
// for all choices. It leaves out those for which ok, if it is not nil, does not hold of the pairs
// that were chosen first.
func directions(pairs [][2]int, to *[][]bool, n int, ok func() bool, f func()) {
	*to = table(n)
	var choose func(i int)
	choose = func(i int) {
		if i == len(pairs) {
			f()
			return
		}
		for d := range 2 {
			a, b := pairs[i][d], pairs[i][1-d]
			(*to)[a][b] = true
			if ok == nil || ok() {
				choose(i + 1)
			}
			(*to)[a][b] = false
		}
	}
	choose(0)
}

// choices returns how many choices the enumeration has.
func (b *brute) choices() int {
	n := 1
	for e := range b.m.ev {
		if b.m.ev[e].reads {
			sources := 0
			for w := range b.m.ev {
				if w != e && b.m.ev[w].writes && b.m.ev[w].loc == b.m.ev[e].loc {
					sources++
				}
			}
			n *= sources
		}
		for w := range e {
			both := b.m.ev[e].writes && b.m.ev[w].writes && b.m.ev[e].loc == b.m.ev[w].loc
			if b.m.ev[w].thread >= 0 && both && n < 1<<40 {
				n *= 2
			}
		}
	}
	return n
}

// final prints what every read returned and the values that may be last.
func (b *brute) final(read, write []*int64, co [][]bool) string {
	var out []string
	for e := range b.m.ev {
		if read[e] != nil {
			out = append(out, fmt.Sprintf("%s=%d", b.m.name(e), *read[e]))
		}
	}
	for l := range b.prog.Locations {
		last := map[int64]bool{}
		for w := range b.m.ev {
			if b.m.ev[w].writes && b.m.ev[w].loc == l && !slices.Contains(co[w], true) {
				last[*write[w]] = true
			}
		}
		out = append(out, fmt.Sprint(l, slices.Sorted(maps.Keys(last))))
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}

// explored returns the executions that the explorer finds, in the same form.
func explored(t *testing.T, p *Program) map[string]outcome {
	out := map[string]outcome{}
	_, err := Explore(context.Background(), p, Options{}, func(e *Execution) {
		m := naive{rf: e.Graph.RF}
		for i := range e.Graph.Events {
			ev := &e.Graph.Events[i]
			m.ev = append(m.ev, naiveEvent{thread: ev.Thread, index: e.Sites[i], loc: ev.Loc})
		}
		co, sc := table(len(m.ev)), table(len(m.ev))
		for a := range m.ev {
			for b := range m.ev {
				fences := e.Graph.Events[a].Order == event.SeqCst && e.Graph.Events[b].Order == event.SeqCst
				co[a][b] = e.Derived.CO.Has(a, b)
				sc[a][b] = fences && e.Graph.MorallyStrong(a, b) && e.Derived.Base.Has(a, b)
			}
		}
		m.sc = sc
		key := m.key(co)
		if _, twice := out[key]; twice {
			t.Errorf("an execution is explored twice: %s", key)
		}
		var races []string
		for _, r := range e.Derived.Races() {
			races = append(races, m.pair(r.First, r.Second))
		}
		slices.Sort(races)
		var final []string
		for i := range e.Graph.Events {
			if e.Graph.Events[i].Op.Reads() {
				final = append(final, fmt.Sprintf("%s=%d", m.name(i), e.Read(i)))
			}
		}
		for l := range p.Locations {
			last := e.Last(l)
			slices.Sort(last)
			final = append(final, fmt.Sprint(l, last))
		}
		slices.Sort(final)
		out[key] = outcome{strings.Join(final, " "), strings.Join(races, " ")}
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBruteForce: the explorer finds exactly the executions that satisfy the axioms, each once,
// with the same values and data races. The expectation is the enumeration of all choices, judged by
// the second version of the axioms. HEDDLE_LONG compares 10,000 programs, with the enumeration that
// prunes.
func TestBruteForce(t *testing.T) {
	n, limit, prune := 400, 4000, false
	if long.All() {
		n, limit, prune = 10000, 5000, true
	}
	programs, left, graphs, racy := 0, 0, 0, 0
	var oracle, explorer time.Duration
	for seed := 0; programs < n; seed++ {
		p := randomProgram(rand.New(rand.NewPCG(uint64(seed), 5)))
		began := time.Now()
		want := bruteForce(p, limit, prune)
		oracle += time.Since(began)
		if want == nil {
			left++
			continue
		}
		programs++
		began = time.Now()
		got := explored(t, p)
		explorer += time.Since(began)
		for _, w := range want {
			if w.races != "" {
				racy++
			}
		}
		if compare(t, want, got); t.Failed() {
			t.Fatalf("seed %d: %s", seed, p)
		}
		graphs += len(want)
	}
	t.Logf("%d programs, %d executions, %d of them with a data race; %d programs with more than %d "+
		"choices left out; enumerated in %v, explored in %v", programs, graphs, racy, left, limit, oracle,
		explorer)
	if racy == 0 || racy == graphs {
		t.Error("all executions or none has a race: the programs show too little")
	}
}

// compare reports executions that only one of two enumerations has, or that differ.
func compare(t *testing.T, want, got map[string]outcome) {
	t.Helper()
	for key, w := range want {
		if g, ok := got[key]; !ok {
			t.Errorf("missing: %s (%s)", key, w.final)
		} else if g != w {
			t.Errorf("%s: got %v, expected %v", key, g, w)
		}
	}
	for key := range got {
		if _, ok := want[key]; !ok {
			t.Errorf("not allowed: %s", key)
		}
	}
}

// TestPrunedBruteForce: the enumeration that prunes finds what the one without finds.
func TestPrunedBruteForce(t *testing.T) {
	n, limit := 150, 4000
	if long.All() {
		n, limit = 2000, 60000
	}
	for seed := 0; n > 0; seed++ {
		p := randomProgram(rand.New(rand.NewPCG(uint64(seed), 6)))
		want := bruteForce(p, limit, false)
		if want == nil {
			continue
		}
		n--
		if compare(t, want, bruteForce(p, limit, true)); t.Failed() {
			t.Fatalf("seed %d: %s", seed, p)
		}
	}
}

// String prints a program for messages of tests.
func (p *Program) String() string {
	var b strings.Builder
	for _, t := range p.Threads {
		fmt.Fprintf(&b, "\n%s %v:", t.Name, t.Position)
		for _, in := range t.Code {
			fmt.Fprintf(&b, " [kind %d order %v scope %v loc %d dst %d args %v update %d]", in.Kind,
				in.Order, in.Scope, in.Loc, in.Dst, in.Args, in.Update)
		}
	}
	return b.String()
}
