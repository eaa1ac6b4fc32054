package fix

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/exhaustive"
	"heddle/internal/event"
	"heddle/internal/explore"
	"heddle/internal/lower"
	"heddle/internal/repair"
	"heddle/internal/testing/long"
)

// Kernels whose synchronization is fences and strong accesses. The expectation of each follows from
// the PTX ISA: who must release and acquire (8.8), in which scope (8.7), and where only fence.sc
// orders a store before a load (8.9.4, 8.10.2).
var protocols = []struct {
	name, text    string
	grid, block   uint32 // of the launch in which the result is explored
	fence, source string // what the PTX and the source get
	grade         repair.Grade
}{
	// The writer does not release: acq_rel suffices, and the reader is in another block.
	{"flag without release", `
__device__ int flag, data, out;
__global__ void k() {
	if (blockIdx.x == 0) {
		data = 42;
		*(volatile int *)&flag = 1;
	} else {
		while (*(volatile int *)&flag == 0) {}
		__threadfence();
		out = data;
	}
}
int main() { k<<<2, 1>>>(); }
`, 2, 1, "fence.acq_rel.gpu", "__threadfence()", repair.Verified},
	// The owner of a ticket passes it on without releasing what it wrote.
	{"ticket lock with relaxed unlock", `
__device__ unsigned next, serving;
__device__ int sum;
__global__ void k() {
	unsigned mine = atomicAdd(&next, 1u);
	while (*(volatile unsigned *)&serving != mine) {}
	__threadfence();
	sum += 1;
	*(volatile unsigned *)&serving = mine + 1;
}
int main() { k<<<2, 1>>>(); }
`, 2, 1, "fence.acq_rel.gpu", "__threadfence()", repair.Verified},
	// The owner of a lock may read what was there before the last owner.
	{"lock without acquire fence", `
__device__ int lock, sum;
__global__ void k() {
	while (atomicCAS(&lock, 0, 1) != 0) {}
	sum += 1;
	__threadfence();
	atomicExch(&lock, 0);
}
int main() { k<<<2, 1>>>(); }
`, 2, 1, "fence.acq_rel.gpu", "__threadfence()", repair.Verified},
	// Neither the blocks that finish nor the last one have a fence.
	{"last block without fences", `
__device__ unsigned count;
__device__ int part[4], total;
__global__ void k() {
	part[blockIdx.x] = 1;
	if (atomicInc(&count, gridDim.x - 1) != gridDim.x - 1) return;
	int sum = 0;
	for (int i = 0; i < gridDim.x; i++) sum += part[i];
	total = sum;
}
int main() { k<<<2, 1>>>(); }
`, 2, 1, "fence.acq_rel.gpu", "__threadfence()", repair.Verified},
	// Each of two blocks enters unless it sees the other. Both may miss it unless fence.sc orders the
	// store before the load; no run shows that, since runs interleave.
	{"store, then load", `
__device__ int want[2], inside;
__global__ void k() {
	int me = blockIdx.x;
	*(volatile int *)&want[me] = 1;
	if (*(volatile int *)&want[1 - me] == 0) inside += 1;
}
int main() { k<<<2, 1>>>(); }
`, 2, 1, "fence.sc.gpu", "__threadfence()", repair.Explored},
}

// TestProtocols: the repair of each protocol has the weakest fence that suffices, and all
// executions of the patched source are right, though some of the original's are not.
func TestProtocols(t *testing.T) {
	for _, c := range protocols {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 2)
			path := filepath.Join(t.TempDir(), "k.cu")
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			if kind := everyExecution(t, path, c.grid, c.block); kind != diag.Bug {
				t.Fatalf("all executions of the original: %v, expected bug", kind)
			}
			res := fixSource(t, path, Options{})
			f := &res.Fixes[0]
			if f.Status != Repaired || len(f.Wrong) == 0 {
				t.Fatalf("%v, %d findings: %s", f.Status, len(f.Wrong), f.Why)
			}
			var plan []string
			for _, ch := range f.Changes {
				plan = append(plan, ch.Text)
			}
			if !strings.Contains(strings.Join(plan, "; "), c.source) ||
				!strings.Contains(string(res.Patched), c.source) {
				t.Errorf("changes %q, expected %s\n%s", plan, c.source, res.Diff)
			}
			explored := strings.Contains(strings.Join(f.Notes, "\n"), "all executions that the PTX memory")
			if explored != (c.grade == repair.Explored) ||
				(f.After.Kind == diag.Verified) != (c.grade == repair.Verified) {
				t.Errorf("verdict %v, notes %q, expected grade %d", f.After.Kind, f.Notes, c.grade)
			}
			if err := os.WriteFile(path, res.Patched, 0o644); err != nil {
				t.Fatal(err)
			}
			if kind := everyExecution(t, path, c.grid, c.block); kind != diag.Verified {
				t.Errorf("all executions of the repaired source: %v\n%s", kind, res.Diff)
			}
		})
	}
}

// TestWeakestFence: the plan in the PTX has the weakest order and scope.
func TestWeakestFence(t *testing.T) {
	for _, c := range protocols {
		path := filepath.Join(t.TempDir(), "k.cu")
		if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		res, _, _ := fixFile(t, path, "k", Options{})
		before, err := lower.Lower(t.Context(), lower.Input{Name: path}, lower.Options{})
		if err != nil {
			t.Fatal(err)
		}
		added := 0
		for _, text := range []string{"fence.acq_rel.cta", "fence.acq_rel.gpu", "fence.sc.cta",
			"fence.sc.gpu"} {
			n := strings.Count(string(res.PTX), text) - strings.Count(string(before[0].PTX), text)
			if added += n; n > 0 && text != c.fence {
				t.Errorf("%s: the repair has %d times %s, expected %s", c.name, n, text, c.fence)
			}
		}
		if added == 0 {
			t.Errorf("%s: no fence was added", c.name)
		}
	}
}

// everyExecution explores a kernel of a file for one launch.
func everyExecution(t *testing.T, path string, grid, block uint32) diag.VerdictKind {
	t.Helper()
	opt := driver.Options{Workers: 1}
	opt.Launch.Grid = &event.Dim3{X: grid, Y: 1, Z: 1}
	opt.Launch.Block = &event.Dim3{X: block, Y: 1, Z: 1}
	d := driver.New(opt, func(diag.Diagnostic) {})
	kind := diag.Unsupported
	d.Run(t.Context(), []driver.Input{{Input: lower.Input{Name: path}}},
		func(ctx context.Context, j *driver.Job) {
			res, err := exhaustive.Kernel(ctx, j, &exhaustive.Options{
				Options: explore.Options{Unroll: 4, MaxStates: 100_000}})
			if err != nil {
				t.Fatal(err)
			}
			kind, _ = res.Verdict()
		})
	return kind
}
