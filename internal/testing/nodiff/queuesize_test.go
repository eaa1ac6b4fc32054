package nodiff

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
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
}

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
	var sum [4]cost
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
			if 4*costs[3].perAccess() > costs[0].perAccess() {
				t.Errorf("%s, %s: %v, plain %v", path, k.Demangled, costs[3], costs[0])
			}
		}
	}
	fmt.Fprintf(&table, "%-28s", "all")
	for _, s := range sum {
		table.WriteString(s.String())
	}
	t.Logf("warp instructions that are added, and bytes of log, for each access of a warp\n%s", &table)
	if os.Getenv("HEDDLE_ONLY") == "" && compared < 30 {
		t.Errorf("%d kernels were measured, at least 30 are expected", compared)
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
	costs [4]cost) {
	for i, l := range levers {
		w, ok := watch(t, before, k, l.opt, event.Independent, event.BenignWarp)
		if !ok {
			return false, "", costs
		}
		plain, err := w.direct.Run(t.Context(), w.run(0), nil)
		if err != nil {
			t.Fatal(err)
		}
		c := &counter{} // of this run: in another one, threads may poll more or less often
		sum, res := w.logged(0, 60_000_000, c, nil)
		if plain.Status != emu.Completed || res.Status != emu.Completed || !sum.Complete() {
			t.Fatalf("%s: %v, logged %v %+v", path, plain.Status, res.Status, sum)
		}
		costs[i] = cost{c.accesses, res.Steps - plain.Steps, sum.Slots * instrument.SlotSize}
		if i == 0 {
			row = fmt.Sprintf("%-28s", filepath.Base(path))
		}
		row += costs[i].String()
	}
	return true, row + "\n", costs
}
