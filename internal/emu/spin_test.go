package emu

import (
	"context"
	"testing"
)

// TestSlowRelease: a run in which one warp waits for another is not over while the other one counts,
// although it only polls meanwhile, and however often the first one repeats its state.
func TestSlowRelease(t *testing.T) {
	k := kernel(t, "setp.ge.u32 %d, %t, 32;\n@%d bra SLOW;\n"+
		"WAIT:\nld.volatile.global.u32 %v, [%x];\nsetp.eq.u32 %c, %v, 0;\n@%c bra WAIT;\nret;\n"+
		"SLOW:\nmov.u32 %w, 0;\nCOUNT:\nld.volatile.global.u32 %v, [%x];\nadd.u32 %w, %w, 1;\n"+
		"setp.lt.u32 %c, %w, 100000;\n@%c bra COUNT;\nst.volatile.global.u32 [%x], 1;\nret;")
	for seed := range uint64(3) {
		m, err := New(k, config(1, 64, buffer("out", 4), buffer("x", 4)))
		if err != nil {
			t.Fatal(err)
		}
		res, err := m.Run(context.Background(), Options{Seed: seed}, nil)
		if err != nil || res.Status != Completed {
			t.Errorf("seed %d: the run ended with status %d, %+v; %v", seed, res.Status, res.Stop, err)
		}
	}
}
