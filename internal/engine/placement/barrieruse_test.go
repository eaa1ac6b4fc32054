package placement_test

import (
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/placement"
	"heddle/internal/lower"
)

// Without the first barrier thread t reads what thread 63-t writes. The second separates that read
// from the write in the branch, and the third that write from the last read: a run with in = 0 does
// not reach the branch, another input does. If the branch writes nothing shared, there is nothing
// for the second to separate. A position beside a barrier is not one.
const barriers = `// heddle: grid=1 block=64 in=zero
__global__ void k(int *out, const int *in) {
    __shared__ int s[64];
    int t = threadIdx.x;
    s[t] = in[t];
    __syncthreads();
    int v = s[63 - t];
    __syncthreads();
    out[t] = v;
    if (in[t] > 0)
        s[t] = v + 1;
    __syncthreads();
    out[t + 64] = s[63 - t];
}
`

func TestUseOfBarrier(t *testing.T) {
	lines := strings.Split(barriers, "\n")
	for _, c := range []struct {
		line      int
		need      placement.BarrierNeed
		separates string
	}{
		{6, placement.BarrierNeeded, "the write of `s[t]` in line 5 and the read of `s[63 - t]` in line 7"},
		{8, placement.BarrierMaybe, "the read of `s[63 - t]` in line 7 and the write of `s[t]` in line 11"},
		{12, placement.BarrierMaybe, "the write of `s[t]` in line 11 and the read of `s[63 - t]` in line 13"},
	} {
		col := strings.Index(lines[c.line-1], "__sync") + 3
		in := driver.Input{Input: lower.Input{Name: "k.cu", Content: []byte(barriers)}}
		use, err := placement.UseOfBarrier(t.Context(), placement.Options{}, in, placement.At{Line: c.line, Col: col}, func(d diag.Diagnostic) { t.Error(d.Message) })
		if err != nil || use == nil {
			t.Fatalf("line %d: %v, %v", c.line, use, err)
		}
		if use.Need != c.need || strings.Join(use.Separates, "; ") != c.separates ||
			use.Kernel != "k(int*, int const*)" {
			t.Errorf("line %d: %+v", c.line, use)
		}
	}
	redundant := strings.Replace(barriers, "s[t] = v + 1", "v++", 1)
	in := driver.Input{Input: lower.Input{Name: "k.cu", Content: []byte(redundant)}}
	for line, need := range map[int]placement.BarrierNeed{8: placement.BarrierRedundant, 6: placement.BarrierNeeded} {
		use, err := placement.UseOfBarrier(t.Context(), placement.Options{}, in, placement.At{Line: line, Col: 8}, func(d diag.Diagnostic) { t.Error(d.Message) })
		if err != nil || use == nil || use.Need != need {
			t.Errorf("redundant, line %d: %+v, %v", line, use, err)
		}
	}
	if use, err := placement.UseOfBarrier(t.Context(), placement.Options{}, in, placement.At{Line: 7, Col: 8}, func(d diag.Diagnostic) { t.Error(d.Message) }); use != nil || err != nil {
		t.Errorf("no barrier: %+v, %v", use, err)
	}
}
