// Package nodiff compares engines with each other: they must agree on the same kernels.
package nodiff

import (
	"fmt"
	"io/fs"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/race"
	"heddle/internal/testing/kernels"
	"heddle/internal/testing/long"
	"heddle/internal/testing/oracle"
)

// Limits of a launch for the oracle, whose cost is quadratic.
const (
	maxThreads = 128
	maxSteps   = 20_000
	maxCost    = 250_000 // comparisons of accesses by the oracle, about
)

// TestDetectorAgainstOracle runs the kernels of the suite and of the examples with the detector and
// the oracle on the same events. The oracle must report every race that the detector reports, site
// by site. At each access for which the oracle finds the first race on some word, the detector must
// report a race.
func TestDetectorAgainstOracle(t *testing.T) {
	compared := 0
	for _, dir := range []string{"../../../testdata/suite", "../../../examples"} {
		for _, path := range sample(t, dir) {
			t.Run(filepath.Base(filepath.Dir(path))+"/"+filepath.Base(path), func(t *testing.T) {
				compared += compareFile(t, path)
			})
		}
	}
	if compared < long.Least(300) {
		t.Errorf("%d runs were compared, at least %d are expected", compared, long.Least(300))
	}
}

// sample returns the files with kernels below a directory: about a third of them, or all with
// HEDDLE_LONG or HEDDLE_ONLY. It is the same third in all tests, so that each file is compiled
// once.
func sample(t *testing.T, dir string) []string {
	return slices.DeleteFunc(kernelFiles(t, dir), func(path string) bool {
		return os.Getenv("HEDDLE_ONLY") == "" && !long.Keep(filepath.Base(path), 3)
	})
}

func kernelFiles(t *testing.T, dir string) []string {
	var out []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && (strings.HasSuffix(path, ".cu") || strings.HasSuffix(path, ".cl") ||
			strings.HasSuffix(path, ".ptx")) {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// compareFile compares the engines on each kernel of a file, under several schedules, and returns
// the number of runs.
func compareFile(t *testing.T, path string) int {
	t.Helper()
	module, facts := kernels.File(t, path, lower.Options{})
	n := 0
	for _, k := range module.Funcs {
		if k.Kernel && k.Blocks != nil {
			for seed := range uint64(2) {
				for _, only := range spaces(k) {
					n += compareKernel(t, k, facts, false, seed, only) +
						compareKernel(t, k, facts, true, seed, only)
				}
			}
		}
	}
	return n
}

// spaces are the memory spaces that are checked separately.
func spaces(k *ir.Func) []event.Space {
	if ir.OrdersParts(k) {
		return []event.Space{event.Shared, event.Global}
	}
	return []event.Space{event.NoSpace}
}

func compareKernel(t *testing.T, k *ir.Func, facts *launch.SourceFacts, lockstep bool, seed uint64,
	only event.Space) int {
	t.Helper()
	return compareLaunch(t, k, launch.Request{}, facts, lockstep, seed, only)
}

// compareLaunch compares the engines on one launch; it returns 0 if the launch cannot be run.
func compareLaunch(t *testing.T, k *ir.Func, req launch.Request, facts *launch.SourceFacts,
	lockstep bool, seed uint64, only event.Space) int {
	t.Helper()
	cfg, errs := launch.Resolve(k, req, facts)
	if cfg == nil || len(errs) > 0 {
		return 0
	}
	g := cfg.Geometry
	if g.Blocks()*uint64(g.WarpsPerBlock())*event.WarpSize > 2*maxThreads ||
		g.Blocks()*uint64(g.ThreadsPerBlock()) > maxThreads || g.Ranks() > 1 {
		return 0
	}
	m, err := emu.New(k, cfg)
	if err != nil {
		return 0 // not supported
	}
	opt := emu.Options{Seed: seed, MaxSteps: maxSteps, Workers: 1}
	model := event.Independent
	if lockstep {
		opt.Model, model = event.Lockstep, event.Lockstep
	}
	p := &pair{
		det: race.New(race.Options{Geometry: g, Model: model, Benign: event.BenignNone,
			SharedBytes: uint32(m.SharedBytes()), Only: only, Exchanges: true}),
		ora: oracle.New(oracle.Options{Geometry: g, Lockstep: lockstep, Only: only}),
	}
	if _, err := m.Run(t.Context(), opt, p); err != nil {
		t.Fatal(err)
	}
	p.finish()
	for _, d := range p.diffs {
		t.Errorf("%s, lockstep %v, seed %d: %s", k.Name, lockstep, seed, d)
	}
	return 1
}

// pair sends events to both engines and compares them.
type pair struct {
	det   *race.Detector
	ora   *oracle.Oracle
	words map[oracle.Byte]bool // words on which the oracle has found a race
	racy  int                  // bytes on which it has found one
	total uint64               // hazards that the detector has reported
	diffs []string

	seen, cost int  // accesses, and about how many comparisons they took
	over       bool // the remaining events are ignored
}

func (p *pair) Access(a *event.Access) {
	lanes := bits.OnesCount32(a.Mask)
	p.seen += lanes
	if p.cost += lanes * p.seen / 8; p.cost > maxCost {
		p.over = true // earlier events are compared nevertheless
		return
	}
	p.det.Access(a)
	p.ora.Access(a)
	p.compare(a.Warp, a.Site)
}

// compare checks the results after an event.
func (p *pair) compare(w event.Warp, site event.Site) {
	if len(p.ora.Racy) == p.racy {
		return
	}
	p.racy = len(p.ora.Racy)
	fresh := p.freshWords()
	total := hazards(p.det.Report())
	if fresh > 0 && total == p.total {
		p.diffs = append(p.diffs,
			fmt.Sprintf("the detector misses the first race on a word, by warp %d at site %d", w, site))
	}
	p.total = total
}

// freshWords returns the number of words on which the oracle has found a first race since the last
// call.
func (p *pair) freshWords() int {
	if p.words == nil {
		p.words = make(map[oracle.Byte]bool)
	}
	n := 0
	for b := range p.ora.Racy {
		b.Addr &^= 3
		if !p.words[b] {
			p.words[b] = true
			n++
		}
	}
	return n
}

func hazards(r *race.Report) uint64 {
	n := uint64(0)
	for i := range r.Races {
		n += r.Races[i].Hazards
	}
	return n
}

func (p *pair) finish() {
	rep := p.det.Report()
	for i := range rep.Exchanges {
		x := &rep.Exchanges[i]
		a, b := x.First.Site, x.Second.Site
		if p.ora.Exchanges[oracle.Pair{Space: x.Space, A: min(a, b), B: max(a, b)}] == 0 {
			p.diffs = append(p.diffs, fmt.Sprintf("the detector alone finds that sites %d and %d "+
				"exchange values on %v address %#x", a, b, x.Space, x.Second.Addr))
		}
	}
	if len(p.ora.Exchanged) > 0 && len(rep.Exchanges)+len(rep.Races) == 0 {
		p.diffs = append(p.diffs, "the detector misses that threads exchange values by strong accesses")
	}
	for _, r := range rep.Races {
		a, b := r.First.Site, r.Second.Site
		if p.ora.Pairs[oracle.Pair{Space: r.Space, A: min(a, b), B: max(a, b)}] == 0 {
			p.diffs = append(p.diffs,
				fmt.Sprintf("the detector alone finds a race of sites %d and %d on %v address %#x", a, b,
					r.Space, r.Second.Addr))
		}
	}
}

// Fence goes to both.
func (p *pair) Fence(e *event.Fence) {
	if !p.over {
		p.det.Fence(e)
		p.ora.Fence(e)
	}
}

// Arrive goes to both.
func (p *pair) Arrive(e *event.Arrive) {
	if !p.over {
		p.det.Arrive(e)
		p.ora.Arrive(e)
	}
}

// Cluster and InitFence are events of launches with clusters, which the oracle does not know.
func (p *pair) Cluster(*event.ClusterBarrier) {}

// InitFence is one of them.
func (p *pair) InitFence(*event.InitFence) {}

// Complete goes to both.
func (p *pair) Complete(e *event.Complete) {
	if !p.over {
		p.det.Complete(e)
		p.ora.Complete(e)
	}
}

// WarpSync goes to both.
func (p *pair) WarpSync(e *event.WarpSync) {
	if !p.over {
		p.det.WarpSync(e)
		p.ora.WarpSync(e)
	}
}

// Converge goes to both.
func (p *pair) Converge(e *event.Converge) {
	if !p.over {
		p.det.Converge(e)
		p.ora.Converge(e)
	}
}

// Copy goes to both. A first race must be found here too.
func (p *pair) Copy(e *event.Copy) {
	if p.over {
		return
	}
	p.det.Copy(e)
	p.ora.Copy(e)
	p.compare(e.Warp, e.Site)
}

// CopyGroup goes to both.
func (p *pair) CopyGroup(e *event.CopyGroup) {
	if !p.over {
		p.det.CopyGroup(e)
		p.ora.CopyGroup(e)
	}
}

// Exit goes to both.
func (p *pair) Exit(e *event.Exit) {
	if !p.over {
		p.det.Exit(e)
		p.ora.Exit(e)
	}
}

// Stall goes to both.
func (p *pair) Stall(e *event.Stall) {
	if !p.over {
		p.det.Stall(e)
		p.ora.Stall(e)
	}
}

// CopyArrive ends the comparison: the oracle of events does not know it.
func (p *pair) CopyArrive(*event.CopyArrive) { p.over = true }

// Bulk ends the comparison: the oracle of events does not know it.
func (p *pair) Bulk(*event.Bulk) { p.over = true }

// BulkGroup ends the comparison: the oracle of events does not know it.
func (p *pair) Matrix(*event.Matrix)           { p.over = true }
func (p *pair) MatrixGroup(*event.MatrixGroup) { p.over = true }
func (p *pair) Tensor(*event.TensorAgent)      { p.over = true }
func (p *pair) TensorSync(*event.TensorSync)   { p.over = true }
func (p *pair) BulkGroup(*event.BulkGroup)     { p.over = true }

// Signal ends the comparison: the oracle of events does not know it.
func (p *pair) Signal(*event.Signal) { p.over = true }

// MBarrier ends the comparison: the oracle of events does not know it.
func (p *pair) MBarrier(*event.MBarrier) { p.over = true }

// ProxyFence ends the comparison: the oracle of events does not know it.
func (p *pair) ProxyFence(*event.ProxyFence) { p.over = true }
