package syntax_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// threads records the memory accesses and barriers of each thread, in program order.
type threads struct {
	event.Sink // nil: any other event ends the test
	does       map[event.Thread][]string
	strong     bool // strong accesses occurred, so the behavior may depend on the schedule
}

func (s *threads) note(w event.Warp, mask uint32, what func(lane int) string) {
	for lane := range event.WarpSize {
		if mask>>lane&1 == 1 {
			t := event.ThreadOf(w, lane)
			s.does[t] = append(s.does[t], what(lane))
		}
	}
}

func (s *threads) Access(a *event.Access) {
	s.strong = s.strong || a.Order != event.Weak
	s.note(a.Warp, a.Mask, func(lane int) string {
		return fmt.Sprint(a.Kind, a.Space, a.Order, a.Scope, a.Size, a.Addr[lane])
	})
}
func (s *threads) Copy(c *event.Copy) {
	s.note(c.Warp, c.Mask, func(lane int) string {
		return fmt.Sprint("copy", c.Size, c.To[lane],
			c.From[lane])
	})
}
func (s *threads) CopyGroup(c *event.CopyGroup) {
	s.note(c.Warp, c.Mask, func(int) string {
		return fmt.Sprint("group", c.Commit, c.Wait,
			c.Pending)
	})
}
func (s *threads) Fence(f *event.Fence) {
	s.note(f.Warp, f.Mask, func(int) string { return fmt.Sprint("fence", f.Order, f.Scope, f.Orders) })
}
func (s *threads) Arrive(a *event.Arrive) {
	s.note(a.Warp, a.Mask, func(int) string {
		return fmt.Sprint("bar", a.Barrier, a.Count, a.Op, a.Red,
			a.Orders)
	})
}
func (s *threads) WarpSync(e *event.WarpSync) {
	s.note(e.Warp, e.Mask, func(int) string { return "warp" })
}
func (s *threads) Complete(*event.Complete) {}
func (s *threads) Converge(*event.Converge) {}
func (s *threads) Exit(*event.Exit)         {}
func (s *threads) Stall(*event.Stall)       {}

// TestMarksRunTheSame runs race-free kernels with and without marks: each thread does the same at
// the same addresses in the same order. (The behavior of a kernel with races, or with threads that
// wait for each other by strong accesses, may depend on the schedule.)
func TestMarksRunTheSame(t *testing.T) {
	ran := 0
	for _, path := range sources(t) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(text, []byte("expect: clean")) || !long.Keep(path, 12) {
			continue
		}
		set := source.NewSet()
		in := lower.Input{Name: path}
		u := read(t, set, in, lower.Options{})
		plain, with := compile(t, set, in, lower.Options{}),
			compile(t, set, in, marked(u, lower.Options{}))
		user, err := source.NewSet().Add(path, text)
		if err != nil {
			t.Fatal(err)
		}
		facts := launch.Scan(user, nil)
		for i, k := range plain.Funcs {
			if !k.Kernel {
				continue
			}
			a, b := run(t, k, facts), run(t, with.Funcs[i], facts)
			if a == nil {
				continue
			}
			ran++
			for th, want := range a {
				if got := b[th]; fmt.Sprint(got) != fmt.Sprint(want) {
					t.Errorf("%s, %s: thread %d does %v with marks, %v without", path, k.Demangled, th, got, want)
					break
				}
			}
		}
	}
	if ran < 3 {
		t.Errorf("only %d kernels ran", ran)
	}
}

// run returns the events of each thread of a kernel, and nil if the kernel has no launch, is too
// large for a test, or has strong accesses.
func run(t *testing.T, k *ir.Func, facts *launch.SourceFacts) map[event.Thread][]string {
	t.Helper()
	cfg, errs := launch.Resolve(k, launch.Request{}, facts)
	if cfg == nil || len(errs) > 0 ||
		cfg.Geometry.Blocks()*uint64(cfg.Geometry.ThreadsPerBlock()) > 2048 {
		return nil
	}
	m, err := emu.New(k, cfg)
	if err != nil {
		return nil
	}
	s := &threads{does: make(map[event.Thread][]string)}
	if _, err := m.Run(t.Context(), emu.Options{Seed: 1, MaxSteps: 1 << 20, Workers: 1},
		s); err != nil {
		t.Fatal(err)
	}
	if s.strong {
		return nil
	}
	return s.does
}
