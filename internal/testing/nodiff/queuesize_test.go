package nodiff

import (
	"fmt"
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
	"heddle/internal/ptx/instrument"
)

// The levers that make logs shorter, each added to those before it.
var levers = []struct {
	name string
	opt  instrument.Options
}{
	{"plain", instrument.Options{Fixed: true, Private: true, Separate: true}},
	{"forms", instrument.Options{Private: true, Separate: true}},
	{"private", instrument.Options{Separate: true}},
	{"merged", instrument.Options{}},
	{"proved", instrument.Options{}},           // what is proved free for all launches is not logged
	{"proved for block", instrument.Options{}}, // and for the blocks of the launch
}

// The levers that are proofs, and the one before them.
const leverMerged, leverProved, leverBlock = 3, 4, 5

// counter counts accesses of warps to global and shared memory.
type counter struct {
	event.Discard
	accesses uint64
}

func (c *counter) Access(*event.Access) { c.accesses++ }

// TestLogSize prints what logging costs, with each lever: warp instructions and bytes of log for
// each access of a warp. The log of each example must take at most a quarter of the bytes that
// plain instrumentation writes.
func TestLogSize(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "%-28s", "kernel")
	for _, l := range levers {
		fmt.Fprintf(&table, " | %-23s", l.name)
	}
	table.WriteByte('\n')
	var sum [6]cost
	pruned, proved := 0, 0
	compared := 0
	for _, path := range kernelFiles(t, "../../../examples") {
		if strings.Contains(path, "/programs/") || !strings.Contains(path, os.Getenv("HEDDLE_ONLY")) {
			continue
		}
		low, err := lower.File(t.Context(), path, lower.Options{})
		if err != nil {
			t.Fatal(err)
		}
		before := load(t, low.PTX, path)
		for _, k := range before.mod.Funcs {
			if !k.Kernel || k.Blocks == nil {
				continue
			}
			ok, row, costs := logSize(t, path, before, k)
			if !ok {
				continue
			}
			compared++
			table.WriteString(row)
			for i, c := range costs {
				sum[i].accesses += c.accesses
				sum[i].steps += c.steps
				sum[i].bytes += c.bytes
			}
			if 4*costs[leverMerged].perAccess() > costs[0].perAccess() {
				t.Errorf("%s, %s: %v, plain %v", path, k.Demangled, costs[leverMerged], costs[0])
			}
			for i := leverProved; i <= leverBlock; i++ {
				if costs[i].bytes > costs[leverMerged].bytes {
					t.Errorf("%s, %s: %v, merged %v", path, k.Demangled, costs[i], costs[leverMerged])
				}
			}
			if costs[leverBlock].bytes < costs[leverMerged].bytes {
				pruned++
			}
			if costs[leverBlock].bytes == 0 {
				proved++
			}
		}
	}
	fmt.Fprintf(&table, "%-28s", "all")
	for _, s := range sum {
		table.WriteString(s.String())
	}
	t.Logf("%d of %d kernels have shorter logs by proofs, %d none", pruned, compared, proved)
	t.Logf("warp instructions that are added, and bytes of log, for each access of a warp\n%s", &table)
	if os.Getenv("HEDDLE_ONLY") == "" && (compared < 30 || pruned < 25) {
		t.Errorf("%d kernels were measured and %d have shorter logs by proofs, at least 30 and 25 are "+
			"expected", compared, pruned)
	}
}

// cost is what the log of a run takes.
type cost struct{ accesses, steps, bytes uint64 }

// perAccess returns the bytes of log for each access.
func (c cost) perAccess() float64 { return float64(c.bytes) / float64(c.accesses) }

func (c cost) String() string {
	return fmt.Sprintf(" | %7d %6.1f %6.1f B", c.accesses,
		float64(c.steps)/float64(c.accesses), c.perAccess())
}

// logSize measures one kernel. ok is false if it is not instrumented.
func logSize(t *testing.T, path string, before loaded, k *ir.Func) (ok bool, row string,
	costs [6]cost) {
	for i, l := range levers {
		opt, prune := l.opt, false
		if i >= leverProved {
			opt, prune = pruning(t, before, k, i == leverBlock)
		}
		w, ok := watch(t, before, k, opt, event.Independent, event.BenignWarp)
		if !ok {
			return false, "", costs
		}
		w.prune = prune
		plain, err := w.direct.Run(t.Context(), w.run(0), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &counter{} // of this run: in another one, threads may poll more or less often
		sum, res := w.logged(0, 60_000_000, c, nil)
		if plain.Status != emu.Completed || res.Status != emu.Completed || !sum.Complete() {
			t.Fatalf("%s: %v, logged %v %+v", path, plain.Status, res.Status, sum)
		}
		if prune { // of those of the kernel, logged or not
			c.accesses = costs[leverMerged].accesses
		}
		costs[i] = cost{c.accesses, res.Steps - plain.Steps, sum.Slots * instrument.SlotSize}
		if i == 0 {
			row = fmt.Sprintf("%-28s", filepath.Base(path))
		}
		row += costs[i].String()
	}
	return true, row + "\n", costs
}

// pruning returns the options of an instrumentation that leaves out what is free, for blocks of any
// shape or only for those of the launch, and whether it is in this launch.
func pruning(t *testing.T, before loaded, k *ir.Func, block bool) (instrument.Options, bool) {
	cfg, errs := launch.Resolve(k, launch.Request{}, before.facts)
	if cfg == nil || len(errs) > 0 {
		return instrument.Options{}, false
	}
	var opt prove.FreeOptions
	if block {
		opt.Block = cfg.Geometry.Block
	}
	p := proofsOf(t, before.mod, opt)
	ok, _ := p.of[k].Holds(t.Context(), launchOf(k, cfg))
	return p.options(), ok
}
