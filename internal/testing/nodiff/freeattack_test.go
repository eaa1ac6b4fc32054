package nodiff

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/engine/prove"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/race"
	"heddle/internal/testing/long"
	"heddle/internal/testing/oracle"
)

// freeAttack is a kernel in which it would be wrong to take one of the accesses for free, with
// launches, in most of which some access races or pointers point into one buffer.
type freeAttack struct {
	name, arch, source string
	launches           []string // as in the comment above a kernel
}

// freeAttacks reads testdata/free.txt.
func freeAttacks(t *testing.T) (list []freeAttack) {
	t.Helper()
	text, err := os.ReadFile("testdata/free.txt")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.SplitAfter(string(text), "\n") {
		word, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if word == "==" {
			list = append(list, freeAttack{name: rest})
			continue
		}
		switch c := &list[len(list)-1]; word {
		case "launch":
			c.launches = append(c.launches, rest)
		case "arch":
			c.arch = rest
		default:
			c.source += line
		}
	}
	return list
}

// TestFreeAttacks: no access that is free in a launch for which the assumptions hold takes part in
// a race: by the definitions, and by the detector, which knows proxies and bulk copies as well. No
// such launch makes an invalid access.
func TestFreeAttacks(t *testing.T) {
	if testing.Short() {
		t.Skip("many proofs")
	}
	only := os.Getenv("HEDDLE_ONLY")
	tried, some, holds, racy := 0, 0, 0, 0
	for _, c := range freeAttacks(t) {
		if !strings.Contains(c.name, only) || only == "" && !long.Keep(c.name, 3) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "k.cu")
			if err := os.WriteFile(path, []byte(c.source), 0o644); err != nil {
				t.Fatal(err)
			}
			low, err := lower.File(t.Context(), path, lower.Options{Arch: c.arch})
			if err != nil {
				t.Fatal(err)
			}
			for _, text := range c.launches {
				before, kernel, _ := strings.Cut(c.source, "__global__")
				l := loadWith(t, low.PTX, "user.cu",
					[]byte(before+"\n// heddle: "+text+"\n__global__"+kernel))
				k := kernelIn(t, l.mod)
				cfg, errs := launch.Resolve(k, launch.Request{}, l.facts)
				if cfg == nil || len(errs) > 0 {
					t.Fatalf("%s: %v", text, errs)
				}
				for _, block := range []event.Dim3{{}, cfg.Geometry.Block} {
					f, err := prove.Free(t.Context(), k, prove.FreeOptions{Block: block})
					if err != nil {
						t.Fatal(err)
					}
					tried++
					if !f.Some() {
						t.Logf("%s, block %v: %s", text, block, f.Reason)
						continue
					}
					some++
					if ok, why := f.Holds(t.Context(), launchOf(k, cfg)); !ok {
						t.Logf("%s, block %v: %s", text, block, why)
						continue
					}
					holds++
					races := raceOfFree(t, k, cfg, f, text)
					if races {
						racy++
					}
					t.Logf("%s, block %v: %d accesses free, all %v, races %v", text, block, countFree(f),
						f.All, races)
				}
			}
		})
	}
	t.Logf("%d launches, %d of kernels with free accesses, %d accepted, %d of these with races", tried,
		some, holds, racy)
	if only == "" && (holds < long.Least(100) || racy < long.Least(50)) {
		t.Error("too few launches")
	}
}

// kernelIn returns the kernel of a module.
func kernelIn(t *testing.T, m *ir.Module) *ir.Func {
	t.Helper()
	for _, f := range m.Funcs {
		if f.Kernel {
			return f
		}
	}
	t.Fatal("no kernel")
	return nil
}

// countFree returns the number of accesses that are free.
func countFree(f *prove.FreeAccesses) (n int) {
	for _, ok := range f.Instrs {
		if ok {
			n++
		}
	}
	return n
}

// raceOfFree runs a kernel under some schedules, fails if a free access races or an access is
// invalid, and reports whether others race.
func raceOfFree(t *testing.T, k *ir.Func, cfg *launch.Config, f *prove.FreeAccesses,
	name string) (racy bool) {
	t.Helper()
	m, err := emu.New(k, cfg)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(6) {
		o := oracle.New(oracle.Options{Geometry: cfg.Geometry})
		d := race.New(race.Options{Geometry: cfg.Geometry, Benign: event.BenignNone,
			SharedBytes: uint32(m.SharedBytes())})
		opt := emu.Options{Seed: seed, MaxSteps: 20_000, Workers: 1}
		for _, sink := range []event.Sink{o, d} {
			r, err := m.Run(t.Context(), opt, sink)
			if err != nil {
				t.Fatal(err)
			}
			if len(r.Faults) > 0 {
				t.Errorf("%s: a fault: %+v", name, r.Faults[0])
			}
			if f.All && r.Status == emu.Stalled {
				t.Errorf("%s: proved, and a barrier diverges", name)
			}
		}
		sites := make(map[event.Site]bool)
		for p := range o.Pairs {
			sites[p.A], sites[p.B] = true, true
		}
		rep := d.Report()
		for i := range rep.Races {
			sites[rep.Races[i].First.Site], sites[rep.Races[i].Second.Site] = true, true
		}
		for s := range sites {
			if in := m.Site(s).Instr; f.All || f.Instrs[in] {
				t.Errorf("%s, seed %d: %s is free and races (all: %v)", name, seed, in.Text(), f.All)
			}
		}
		racy = racy || len(sites) > 0
	}
	return racy
}
