package nodiff

import (
	"math/rand"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/smt"
	"heddle/internal/testing/gen"
)

// stores keeps what the threads of one warp store, by instruction.
type stores struct {
	*digest
	m  *emu.Machine
	of map[*ir.Instr]*[event.WarpSize]stored
}

type stored struct {
	done bool
	data [4]uint64
}

func (s *stores) Access(a *event.Access) {
	if a.Kind != event.Write {
		return
	}
	in := s.m.Site(a.Site).Instr
	if s.of[in] == nil {
		s.of[in] = &[event.WarpSize]stored{}
	}
	for l := range event.WarpSize {
		if a.Mask>>l&1 == 0 {
			continue
		}
		of := &s.of[in][l]
		of.done = true
		for k := range of.data {
			if a.Data != nil {
				of.data[k] = a.Data[k][l]
			}
		}
	}
}

// TestTermsAreValues: the terms that lockstep makes of integer instructions have the values that a
// run computes.
func TestTermsAreValues(t *testing.T) {
	from, to := seeds(t, 150)
	compared, skipped := 0, 0
	for seed := from; seed < to; seed++ {
		k := gen.Integers(rand.New(rand.NewSource(int64(seed))))
		f := kernelOf(t, k.PTX)
		th,
			err := lockstep.Build(t.Context(), f,
			lockstep.Options{Geometry: event.Geometry{Grid: k.Grid, Block: k.Block,
				Cluster: event.Dim3{X: 1, Y: 1, Z: 1}}})
		if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, k.PTX)
		}
		for _, number := range []string{"0", "3", "0x80000000", "0xffffffff", "0x12345"} {
			grid, block := k.Grid, k.Block
			cfg, errs := launch.Resolve(f, launch.Request{Grid: &grid, Block: &block, Args: []launch.ArgSpec{
				{Param: "mem", Offset: -1, Kind: launch.ArgBuffer, Size: 4096},
				{Param: "n", Offset: -1, Kind: launch.ArgValue, Text: number},
			}}, nil)
			if len(errs) > 0 {
				t.Fatal(errs[0])
			}
			m, err := emu.New(f, cfg)
			if err != nil {
				t.Fatal(err)
			}
			saw := &stores{digest: newDigest(), m: m, of: map[*ir.Instr]*[event.WarpSize]stored{}}
			if _, err := m.Run(t.Context(), emu.Options{MaxSteps: maxSteps, Workers: 1}, saw); err != nil {
				t.Fatal(err)
			}
			n := uint64(0)
			for i, b := range cfg.Args[1].Bits {
				n |= uint64(b) << (8 * i)
			}
			c, s := compareStores(t, f, th, saw, n)
			compared, skipped = compared+c, skipped+s
		}
		if t.Failed() {
			t.Fatalf("seed %d\n%s", seed, k.PTX)
		}
	}
	t.Logf("%d values compared, %d not known to lockstep", compared, skipped)
	if compared < skipped {
		t.Error("the test shows little")
	}
}

// compareStores evaluates the stored terms for each lane. A term with symbols of which nothing is
// known says nothing.
func compareStores(t *testing.T, f *ir.Func, th *lockstep.Thread, saw *stores, n uint64) (compared,
	skipped int) {
	c := th.Context
	for lane := range uint64(event.WarpSize) {
		model := &smt.Model{Vars: map[string]uint64{c.Name(th.Tid[0]): lane,
			lockstep.ParamName(f.Params[1], 0, 32): n}}
		e := c.Evaluate(model)
		for i := range th.Accesses {
			a := &th.Accesses[i]
			of := saw.of[a.Instr]
			for k, v := range a.Values {
				open := false
				c.Visit([]smt.Term{v, a.Guard}, func(u smt.Term) { open = open || c.Op(u) == smt.OpApp })
				if open {
					skipped++
					continue
				}
				compared++
				done := of != nil && of[lane].done
				switch {
				case e.Holds(a.Guard) != done:
					t.Errorf("lane %d, n = %#x, %s #%d: executed %v, but its guard says %v", lane, n,
						a.Instr.Text(), a.Instr.Index, done, !done)
				case done && e.Value(v) != of[lane].data[k]:
					t.Errorf("lane %d, n = %#x, %s #%d: stored %#x, but the term has %#x", lane, n, a.Instr.Text(),
						a.Instr.Index, of[lane].data[k], e.Value(v))
				}
			}
		}
	}
	return compared, skipped
}
