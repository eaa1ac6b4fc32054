package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// crowd is a state of threads that only arrive at barriers: what each has done, and who waits
// where.
type crowd struct {
	pc    []int
	stuck []bool // waits
	here  map[int64][]string
	done  []string // completed generations: the arrivals of each
}

// meetings returns the ways in which arrivals can meet: all interleavings of the threads, by the
// rules of PTX ISA 9.7.13.1. A barrier completes when its count is reached, and starts anew.
func meetings(p *Program) map[string]bool {
	out, seen := map[string]bool{}, map[string]bool{}
	var step func(c *crowd)
	step = func(c *crowd) {
		key := fmt.Sprint(c.pc, c.stuck, c.here, c.done)
		if seen[key] {
			return
		}
		seen[key] = true
		moved := false
		for t := range p.Threads {
			if c.stuck[t] || c.pc[t] == len(p.Threads[t].Code) {
				continue
			}
			moved = true
			in := &p.Threads[t].Code[c.pc[t]]
			n := &crowd{slices.Clone(c.pc), slices.Clone(c.stuck), map[int64][]string{},
				slices.Clone(c.done)}
			for k, v := range c.here {
				n.here[k] = slices.Clone(v)
			}
			name := in.Name[0].Value
			n.here[name] = append(n.here[name], fmt.Sprintf("%d.%d", t, c.pc[t]))
			slices.Sort(n.here[name])
			n.pc[t]++
			n.stuck[t] = true
			if len(n.here[name]) == int(in.Count.Value) {
				n.done = append(n.done, strings.Join(n.here[name], "+"))
				slices.Sort(n.done)
				for _, a := range n.here[name] {
					n.stuck[a[0]-'0'] = false
				}
				delete(n.here, name)
			}
			step(n)
		}
		if !moved {
			out[fmt.Sprint(c.done)] = true
		}
	}
	step(&crowd{pc: make([]int, len(p.Threads)), stuck: make([]bool, len(p.Threads)),
		here: map[int64][]string{}})
	return out
}

// TestMeetings: for random barriers with counts, the explorer finds exactly the ways in which
// threads can meet, each once.
func TestMeetings(t *testing.T) {
	various := 0
	for seed := range 400 {
		r := rand.New(rand.NewPCG(uint64(seed), 9))
		p := &Program{}
		counts := []Operand{Const(int64(1 + r.IntN(3))), Const(int64(2 + r.IntN(2)))}
		for i := range 2 + r.IntN(3) {
			th := Thread{Name: fmt.Sprint("P", i)}
			for range 1 + r.IntN(3) {
				k := r.IntN(2)
				th.Code = append(th.Code, Inst{Kind: Barrier, Dst: -1, Count: &counts[k],
					Name: [2]Operand{Const(int64(k)), Const(0)}})
			}
			p.Threads = append(p.Threads, th)
		}
		want, got := meetings(p), map[string]bool{}
		_, err := Explore(context.Background(), p, Options{}, func(e *Execution) {
			groups := map[int][]string{}
			for i := range e.Graph.Events {
				if ev := &e.Graph.Events[i]; ev.Generation > 0 {
					groups[ev.Generation] = append(groups[ev.Generation],
						fmt.Sprintf("%d.%d", ev.Thread, e.Sites[i]))
				}
			}
			var done []string
			for _, g := range groups {
				slices.Sort(g)
				done = append(done, strings.Join(g, "+"))
			}
			slices.Sort(done)
			key := fmt.Sprint(done)
			if got[key] {
				t.Errorf("seed %d: %s is explored twice", seed, key)
			}
			got[key] = true
		})
		if err != nil {
			t.Fatal(err)
		}
		for key := range want {
			if !got[key] {
				t.Errorf("seed %d: not explored: %s", seed, key)
			}
		}
		for key := range got {
			if !want[key] {
				t.Errorf("seed %d: explored, and impossible: %s", seed, key)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d: counts %v, %s", seed, counts, p)
		}
		if len(want) > 1 {
			various++
		}
	}
	if various < 50 {
		t.Errorf("only %d programs have more than one way", various)
	}
}
