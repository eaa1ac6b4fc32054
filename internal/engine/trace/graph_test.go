package trace_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"heddle/internal/check"
	"heddle/internal/diag"
)

// graphOf traces the only kernel of a file and returns its graph, and a short form of it: a line
// for each generation, with its parts by warp.
func graphOf(t *testing.T, name string) (g *diag.BarrierGraph, short []string) {
	t.Helper()
	opt := check.Options{Mode: check.Trace}
	opt.Limit, opt.Trace.Graph = 1, func(got *diag.BarrierGraph) { g = got }
	if _, err := check.Files(t.Context(), opt, []string{name}, func(diag.Diagnostic) {}); err != nil {
		t.Fatal(err)
	}
	if g == nil {
		t.Fatal("no graph")
	}
	for _, n := range g.Generations {
		var parts []string
		for _, p := range n.Parts {
			how := "arrives"
			if p.Waits {
				how = "waits"
			}
			parts = append(parts, fmt.Sprintf("warp %d %s", p.Warp, how))
		}
		slices.Sort(parts)
		line := fmt.Sprintf("%d: barrier %d.%d of %d, after %v: %s",
			n.Index, n.Barrier, n.Number, n.Count, n.After, strings.Join(parts, ", "))
		if !n.Complete {
			line += "; open"
		}
		if n.Wrong != "" {
			line += "; " + string(n.Wrong)
		}
		short = append(short, line)
	}
	return g, short
}

// The graphs of kernels, as read off their text.
func TestBarrierGraph(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles kernels")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	// Both warps wait in generation 1 of barrier 0. At barrier 1 one warp waits and the other
	// only arrives. Generation 2 of barrier 1 follows generation 2 of barrier 0 (Weft, section 4.2).
	_, got := graphOf(t, "../../../testdata/trace/listing2.cu")
	want := []string{
		"0: barrier 0.1 of 64, after []: warp 0 waits, warp 1 waits",
		"1: barrier 1.1 of 64, after [0]: warp 0 arrives, warp 1 waits",
		"2: barrier 0.2 of 64, after [0 1]: warp 0 waits, warp 1 waits",
		"3: barrier 1.2 of 64, after [2]: warp 0 waits, warp 1 arrives",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	// Each warp waits at a barrier at which the other warp arrives only after its own wait.
	file := filepath.Join(t.TempDir(), "k.cu")
	text := "// heddle: grid=1 block=64\n__global__ void k(void) {\n" +
		"if (threadIdx.x < 32) { asm volatile(\"bar.sync 1, 64; bar.arrive 2, 64;\" ::: \"memory\"); }\n" +
		"else { asm volatile(\"bar.sync 2, 64; bar.arrive 1, 64;\" ::: \"memory\"); }\n}\n"
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	g, got := graphOf(t, file)
	want = []string{
		"0: barrier 1.1 of 64, after []: warp 0 waits; open; barrier-deadlock",
		"1: barrier 2.1 of 64, after []: warp 1 waits; open; barrier-deadlock",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if g.Exited[0] != 0 || g.Exited[1] != 0 {
		t.Errorf("threads that wait forever have exited: %x", g.Exited)
	}
	// A finding about a generation marks that one. Comments in the files say why it is wrong.
	for name, want := range map[string]string{
		"shared_by_two_pairs": "1: barrier-recycling",
		"too_many":            "1: barrier-too-many",
		"arrivals_alone":      "0: barrier-no-waiter",
	} {
		g, _ := graphOf(t, "../../../testdata/trace/"+name+".cu")
		var marked []string
		for _, n := range g.Generations {
			if n.Wrong != "" {
				marked = append(marked, fmt.Sprintf("%d: %s", n.Index, n.Wrong))
			}
		}
		if diff := cmp.Diff([]string{want}, marked); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}
