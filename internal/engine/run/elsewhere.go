package run

import (
	"heddle/internal/emu"
	"heddle/internal/launch"
	"heddle/internal/race"
)

// Launches that are executed elsewhere: on a GPU, whose kernels log what they do. Their events are
// those of a run of the emulator, so that findings and verdicts are made as for such a run.

// Begin returns the detector of a launch that something else executes. m is a machine for it, which
// says what sites and addresses are and never runs.
func (p *Program) Begin(cfg *launch.Config, m *emu.Machine) Detector {
	r := &p.run
	r.Config, r.Machine, r.protocol, r.line, r.Mark = cfg, m, nil, &p.Reproduce, p.Mark
	return p.watch(cfg, m)
}

// End reports what the detector of the last Begin has found. early says why the events are not all
// of the launch; empty: they are.
func (p *Program) End(rep *race.Report, early string) {
	r := &p.run
	p.launches++
	r.Runs++
	r.inconclusive, r.unchecked, r.Unsupported, r.assumptions = early, "", nil, nil
	r.Findings(rep, r.opt.Seed)
	p.ended(&emu.Result{Status: emu.Completed}, true, false)
}

// Unwatched counts a launch that nothing watched.
func (p *Program) Unwatched() { p.launches++ }
