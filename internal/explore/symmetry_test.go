package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"heddle/internal/memmodel"
	"heddle/internal/testing/long"
)

// twins returns a program of 2 to 4 threads with one code, some of which are in one CTA. Accesses
// are to shared locations, to those of the thread, or to those of its neighbour; a branch or a
// stored value may tell threads apart.
func twins(r *rand.Rand) *Program {
	const shared = 2
	n := 2 + r.IntN(3)
	p := &Program{Silent: r.IntN(2) == 0, Locate: func(_ int, _ *Inst, addr int64) (Location, error) {
		return Location{Name: fmt.Sprint("m", addr/8), Addr: uint64(addr), Size: 8}, nil
	}}
	p.Same = func(a, b *Inst) bool { return a.Site == b.Site }
	code := randomProgram(r).Threads[0].Code
	if r.IntN(3) == 0 {
		code = randomLoops(r).Threads[0].Code
	}
	own := make([]int, len(code)) // which location
	for i := range code {
		own[i] = r.IntN(5)
	}
	apart := r.IntN(4)
	perCTA := 1 + r.IntN(n)
	for t := range n {
		th := Thread{Name: fmt.Sprint("P", t), Regs: make([]int64, 4),
			Position: memmodel.Position{CTA: t / perCTA}, Code: slices.Clone(code)}
		for i := range th.Code {
			in := &th.Code[i]
			in.Site = i
			if in.Kind > Update {
				continue
			}
			addr := Const(int64(8 * (in.Loc % shared)))
			switch own[i] {
			case 3:
				addr = Const(int64(8 * (shared + t)))
			case 4:
				addr = Const(int64(8 * (shared + (t+1)%n)))
			}
			if i == 1 && apart == 0 && len(in.Args) > 0 && in.Update != CompareAndSwap {
				in.Args = slices.Clone(in.Args)
				in.Args[0] = Const(int64(t))
			}
			in.Addr, in.Size = &addr, 8
		}
		p.Threads = append(p.Threads, th)
	}
	return p
}

// seen is what an execution shows of each thread: its registers, whether it ended, and its races
// with others.
func seen(e *Execution) (threads []string, races [][4]int) {
	for i := range e.prog.Threads {
		var regs []int64
		for r := range e.prog.Threads[i].Regs {
			regs = append(regs, e.Reg(i, r))
		}
		threads = append(threads, fmt.Sprint(regs, e.Done[i]))
	}
	for _, q := range e.Derived.Races() {
		races = append(races, [4]int{e.Graph.Events[q.First].Thread, e.Sites[q.First],
			e.Graph.Events[q.Second].Thread, e.Sites[q.Second]})
	}
	return threads, races
}

// permuted is what is seen of an execution after a permutation of the threads.
func permuted(e *Execution, perm []int, values bool) string {
	threads, races := seen(e)
	if !values {
		clear(threads)
	}
	out := make([]string, len(threads))
	for t, u := range perm {
		out[u] = threads[t]
	}
	var list []string
	for _, q := range races {
		a, b := [2]int{perm[q[0]], q[1]}, [2]int{perm[q[2]], q[3]}
		if slices.Compare(a[:], b[:]) > 0 {
			a, b = b, a
		}
		list = append(list, fmt.Sprint(a, b))
	}
	slices.Sort(list)
	return fmt.Sprint(e.End, out, list)
}

// TestSymmetry: an exploration that leaves symmetric executions out finds, up to the permutations
// that it uses, what one without them finds: registers, ends and races; and the same executions, if
// loops do not repeat.
func TestSymmetry(t *testing.T) {
	n := 150
	if long.All() {
		n = 10000
	}
	symmetric, saved, all := 0, 0, 0
	for seed := range uint64(n) {
		p := twins(rand.New(rand.NewPCG(seed, 41)))
		identity := []int{0, 1, 2, 3}[:len(p.Threads)]
		explore := func(opt Options, perms func() [][]int) (map[string]bool, Stats, bool) {
			var list []*Execution
			opt.Restart = func() { list = nil }
			opt.MaxStates = 3000
			s, err := Explore(context.Background(), p, opt, func(e *Execution) { list = append(list, e) })
			if limit := new(LimitError); err != nil && !errors.As(err, &limit) {
				t.Fatal(err)
			}
			out := map[string]bool{}
			for _, e := range list {
				for _, perm := range perms() {
					out[permuted(e, perm, !apartIn(p))] = true
				}
			}
			return out, s, err == nil && !s.Stopped && s.Truncated == 0
		}
		want, full, ok := explore(Options{Unroll: 2}, func() [][]int { return [][]int{identity} })
		var perms [][]int
		got, less, ok2 := explore(Options{Unroll: 2, Symmetry: true, perms: &perms},
			func() [][]int { return perms })
		if !ok || !ok2 {
			continue
		}
		all++
		if len(perms) == 1 {
			continue
		}
		symmetric++
		saved += full.Executions - less.Executions
		if !maps.Equal(got, want) {
			t.Fatalf("seed %d, %d permutations: found\n%v\nexpected\n%v%s", seed, len(perms),
				slices.Sorted(maps.Keys(got)), slices.Sorted(maps.Keys(want)), p)
		}
		if less.Executions > full.Executions || less.Executions*len(perms) < full.Executions {
			t.Fatalf("seed %d: %d executions up to %d permutations, of %d", seed, less.Executions,
				len(perms), full.Executions)
		}
	}
	t.Logf("%d programs, %d with symmetries, in which %d executions were left out", all, symmetric, saved)
	if symmetric < n/4 || symmetric == all || saved == 0 {
		t.Error("the programs show too little")
	}
}

// apartIn reports whether a value tells the threads of a program apart: what is read is then not
// equal up to renaming, and races and ends are.
func apartIn(p *Program) bool {
	for i := range p.Threads[0].Code {
		for k := range p.Threads[0].Code[i].Args {
			if p.Threads[0].Code[i].Args[k] != p.Threads[1].Code[i].Args[k] {
				return true
			}
		}
	}
	return false
}
