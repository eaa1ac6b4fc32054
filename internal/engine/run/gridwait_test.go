package run_test

import (
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/event"
)

// TestEarlyAccess: which accesses to global memory follow a griddepcontrol.wait (PTX ISA
// 9.7.13.13), by their thread or by one with which it has synchronized since. There are 64 threads;
// %q is true for thread 0, and each thread accesses a word of its own.
func TestEarlyAccess(t *testing.T) {
	const (
		gridWait  = "\tgriddepcontrol.wait;\n"
		firstWait = "\t@!%q bra S;\n" + gridWait + "S:\n"
		load      = "\tld.global.u32 %x, [%a];\n"
		store     = "\tst.global.u32 [%a], %x;\n"
		barrier   = "\tbar.sync 0;\n"
		ofWarp    = "\tbar.warp.sync -1;\n"
		copied    = "\tcp.async.ca.shared.global [s], [%a], 4;\n\tcp.async.wait_all;\n"
		object    = "\t@!%q bra I;\n\tmbarrier.init.shared.b64 [m], 1;\nI:\n" + barrier +
			"\t@!%q bra W;\n"
		arrive = "\tmbarrier.arrive.shared.b64 _, [m];\n"
		await  = "W:\n\tmbarrier.test_wait.parity.shared.b64 %w, [m], 0;\n\t@!%w bra W;\n"
		start  = "\tcvt.u64.u32 %b, %x;\n\tshl.b64 %b, %b, 2;\n\tadd.s64 %a, %a, %b;\n" +
			"\tsetp.eq.u32 %q, %x, 0;\n"
	)
	for name, c := range map[string]struct {
		body string
		want int // places
	}{
		"no wait":                      {load + store, 0},
		"a wait in front":              {gridWait + load + store, 0},
		"a wait in between":            {load + gridWait + store, 1},
		"a wait behind":                {load + store + gridWait, 2},
		"only launch_dependents":       {load + "\tgriddepcontrol.launch_dependents;\n" + store, 0},
		"thread 0 waits for the block": {firstWait + barrier + load + store, 0},
		"thread 0 waits for itself":    {firstWait + load + store, 2},
		// what the others learn at the barrier is from before the wait
		"the barrier comes before the wait": {barrier + firstWait + load, 1},
		// 32 lanes learn of it, and the other warp does not
		"for its warp":             {firstWait + ofWarp + load, 1},
		"for its warp, guarded":    {firstWait + ofWarp + "\tsetp.lt.u32 %q, %x, 32;\n\t@%q" + load, 0},
		"shared memory":            {"\tst.shared.u32 [s], %x;\n" + gridWait, 0},
		"an atomic":                {"\tred.global.add.u32 [%a], 1;\n" + gridWait, 1},
		"a copy":                   {"\t@!%q bra E;\n" + copied + gridWait + "E:\n", 1},
		"a copy behind":            {"\t@!%q bra E;\n" + gridWait + copied + "E:\n", 0},
		"through an mbarrier":      {object + gridWait + arrive + await + load, 0},
		"an mbarrier, and no wait": {object + arrive + gridWait + await + load, 1},
	} {
		for _, model := range []event.WarpModel{event.Independent, event.Lockstep} {
			places := map[string]bool{}
			v := examineWith(t, "\t.reg .b64 %b;\n\t.reg .pred %w;\n\t.shared .align 8 .b8 m[8];\n"+
				"\t.shared .align 8 .b8 s[8];\n"+start+c.body, driver.Options{Warp: model},
				func(g diag.Diagnostic) {
					if g.Code == diag.CodeEarlyAccess && g.Severity == diag.Warning {
						places[g.Message[:strings.Index(g.Message, ",")]] = true
					}
				})
			want := c.want
			if model == event.Lockstep && strings.HasPrefix(name, "for its warp") {
				continue
			}
			if len(places) != want || v.Kind == diag.Unsupported {
				t.Errorf("%s, %v: %v, %v, want %d", name, model, v, places, want)
			}
		}
	}
}
