package weaken_test

import (
	"fmt"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/emu"
	"heddle/internal/engine/run"
	"heddle/internal/engine/weaken"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
)

// seeds is how many schedules of a changed text run.
const seeds = 6

// clean runs the kernels that offers change, under several schedules and with several contents of
// their buffers: what a proof overlooked would be seen here.
func clean(t *testing.T, name string, res *weaken.Result) {
	t.Helper()
	changed := map[string]bool{}
	for i := range res.Offers {
		for _, k := range res.Offers[i].Kernels {
			changed[k] = changed[k] || res.Offers[i].Offered()
		}
	}
	if text := res.Patched[name]; text != nil {
		for kernel, what := range findings(t, name, text, changed) {
			t.Errorf("%s: %s", kernel, what)
		}
	}
}

// findings runs the kernels of a text that changed, with several contents of their buffers, and
// returns what the detector reports, by kernel.
func findings(t *testing.T, name string, text []byte, changed map[string]bool) map[string]string {
	t.Helper()
	out := map[string]string{}
	d := driver.New(driver.Options{Limit: 1}, func(diag.Diagnostic) {})
	in := driver.Input{Input: lower.Input{Name: name, Content: text}}
	d.Open(name)
	low := d.Lower(t.Context(), in)
	if len(low) != 1 {
		t.Fatal("the changed file does not compile")
	}
	mod := d.Parse(in, low[0])
	for _, k := range mod.Kernels() {
		if !changed[k.Demangled] {
			continue
		}
		all, errs := launch.Launches(k, launch.Request{}, mod.Facts)
		if len(errs) > 0 {
			t.Fatal(errs[0].Msg)
		}
		for _, cfg := range all.Configs {
			for _, filled := range append(run.Fills(cfg, k), cfg) {
				if what := execute(t, d, k, filled); what != "" {
					out[k.Demangled] = what
				}
			}
		}
	}
	return out
}

// execute runs a launch under several seeds.
func execute(t *testing.T, d *driver.Driver, k *ir.Func, cfg *launch.Config) string {
	for seed := range uint64(seeds) {
		m, err := emu.New(k, cfg)
		if err != nil {
			t.Fatal(err)
		}
		det := run.Watch(d.Options(), k, cfg, m, true)
		opt := emu.Options{Seed: seed, MaxSteps: 20_000_000, Workers: 1, StopAtFault: true}
		res, err := m.Run(t.Context(), opt, det)
		if err != nil {
			t.Fatal(err)
		}
		rep := det.Report()
		switch {
		case res.Status != emu.Completed:
			return fmt.Sprintf("a run ends as %v", res.Status)
		case len(rep.Races) > 0:
			return fmt.Sprintf("%v", rep.Races[0])
		case len(rep.Barriers) > 0:
			return fmt.Sprintf("%v", rep.Barriers[0])
		}
	}
	return ""
}
