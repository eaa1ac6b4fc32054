package explore

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// text is an execution in words: its events with what they read, and its orders.
func text(e *Execution) string {
	var b strings.Builder
	e.Show(&b, "")
	var orders []string
	for x := range e.Graph.Events {
		for y := range e.Graph.Events {
			if e.Derived.CO.Has(x, y) || e.Derived.Base.Has(x, y) {
				orders = append(orders, fmt.Sprint(x, y))
			}
		}
	}
	return b.String() + fmt.Sprint(e.End, len(orders))
}

// TestReplay: a stored recording of any execution gives that execution back, with its values, its
// orders and its races, and does so for no other one: programs with and without addresses, loops
// and barriers with counts.
func TestReplay(t *testing.T) {
	replayed := 0
	for seed := range uint64(120) {
		r := rand.New(rand.NewPCG(seed, 31))
		p := randomProgram(r)
		switch seed % 4 {
		case 1:
			p = addressed(r, p)
		case 2:
			p = randomLoops(r)
		case 3:
			p = addressed(r, randomLoops(r))
		}
		opt := Options{Unroll: 2, MaxStates: 500}
		var all []*Execution
		_, err := Survey(context.Background(), p, opt, func(e *Execution) { all = append(all, e) })
		if err != nil {
			continue // a loop that grows too long
		}
		seen := map[string]bool{}
		for _, e := range all {
			stored, err := json.Marshal(e.Record())
			if err != nil {
				t.Fatal(err)
			}
			var rec Recording
			if err := json.Unmarshal(stored, &rec); err != nil {
				t.Fatal(err)
			}
			if seen[string(stored)] && p.Locate == nil {
				t.Fatalf("seed %d: two executions have one recording%s", seed, p)
			}
			seen[string(stored)] = true
			got, err := Replay(context.Background(), p, opt, &rec)
			if err != nil {
				t.Fatalf("seed %d: %v\n%s\n%s%s", seed, err, text(e), stored, p)
			}
			if text(got) != text(e) || len(got.Derived.Races()) != len(e.Derived.Races()) {
				t.Fatalf("seed %d: got\n%s\nexpected\n%s", seed, text(got), text(e))
			}
			replayed++
		}
	}
	t.Logf("%d executions replayed", replayed)
	if replayed < 2000 {
		t.Errorf("only %d executions replayed", replayed)
	}
}

// TestReplayDiffers: a recording of another program, or one that was changed, is refused.
func TestReplayDiffers(t *testing.T) {
	p := two(t, "x=0; y=0;", "ld.relaxed.gpu r0, x; ld.relaxed.gpu r1, y",
		"st.relaxed.gpu x, 1; st.relaxed.gpu y, 1")
	var rec *Recording
	if _, err := Explore(t.Context(), p, Options{}, func(e *Execution) {
		if e.Reg(0, 0) == 1 && e.Reg(0, 1) == 1 {
			rec = e.Record()
		}
	}); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*Recording){
		"no thread": func(r *Recording) { r.Steps[0].Thread = "P7" },
		"no step":   func(r *Recording) { r.Steps = r.Steps[:3]; r.Reads = r.Reads[:0] },
		"no write":  func(r *Recording) { n := 99; r.Steps[2].From = &n },
		"no read":   func(r *Recording) { r.Reads = append(r.Reads, []int{17}) },
		"other instruction": func(r *Recording) {
			r.Steps[0].Text = "st.weak x"
		},
	} {
		var c Recording
		stored, _ := json.Marshal(rec)
		if err := json.Unmarshal(stored, &c); err != nil {
			t.Fatal(err)
		}
		change(&c)
		if _, err := Replay(t.Context(), p, Options{}, &c); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for name, q := range map[string]*Program{
		"other": two(t, "x=0; y=0;", "ld.relaxed.gpu r0, y; ld.relaxed.gpu r1, x",
			"st.relaxed.gpu x, 1; st.relaxed.gpu y, 1"),
		"stronger": two(t, "x=0; y=0;", "ld.relaxed.gpu r0, x; ld.relaxed.gpu r1, y",
			"st.relaxed.gpu x, 2; st.relaxed.gpu y, 1"),
	} {
		if _, err := Replay(t.Context(), q, Options{}, rec); err == nil {
			t.Errorf("%s program: no error", name)
		}
	}
}
