package placement_test

import (
	"slices"
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

// useAt explains the barrier that a line of a text contains; any position in its name will do.
func useAt(t *testing.T, name, text string, line int) *placement.BarrierUse {
	t.Helper()
	row := strings.Split(text, "\n")[line-1]
	at := placement.At{Line: line, Col: max(strings.Index(strings.ToLower(row), "sync"), 0) + 1}
	in := driver.Input{Input: lower.Input{Name: name, Content: []byte(text)}}
	use, err := placement.UseOfBarrier(t.Context(), placement.Options{}, in, at,
		func(d diag.Diagnostic) { t.Error(d.Message) })
	if err != nil {
		t.Fatalf("line %d: %v", line, err)
	}
	return use
}

// texts are the pairs that a barrier separates.
func texts(use *placement.BarrierUse) []string {
	var out []string
	for i := range use.Pairs {
		out = append(out, use.Pairs[i].Text())
	}
	return out
}

func TestUseOfBarrier(t *testing.T) {
	for _, c := range []struct {
		line      int
		need      placement.BarrierNeed
		separates string
	}{
		{6, placement.BarrierNeeded,
			"the write of `s[t]` in line 5 and the read of `s[63 - t]` in line 7"},
		{8, placement.BarrierMaybe,
			"the read of `s[63 - t]` in line 7 and the write of `s[t]` in line 11"},
		{12, placement.BarrierMaybe,
			"the write of `s[t]` in line 11 and the read of `s[63 - t]` in line 13"},
	} {
		use := useAt(t, "k.cu", barriers, c.line)
		if use == nil || use.Need != c.need || use.Kernel != "k(int*, int const*)" ||
			!slices.Equal(texts(use), []string{c.separates}) {
			t.Fatalf("line %d: %+v", c.line, use)
		}
		// A pair is shown by a run or by the counterexample of the proof, never by both.
		if p := &use.Pairs[0]; (p.Example() != "") != (c.need == placement.BarrierNeeded) ||
			(p.Proof != "") != (c.need == placement.BarrierMaybe) {
			t.Errorf("line %d: example %q, proof %q", c.line, p.Example(), p.Proof)
		}
	}
	redundant := strings.Replace(barriers, "s[t] = v + 1", "v++", 1)
	for line, need := range map[int]placement.BarrierNeed{
		8: placement.BarrierRedundant, 6: placement.BarrierNeeded,
	} {
		if use := useAt(t, "k.cu", redundant, line); use == nil || use.Need != need {
			t.Errorf("redundant, line %d: %+v", line, use)
		}
	}
	if use := useAt(t, "k.cu", redundant, 7); use != nil {
		t.Errorf("no barrier: %+v", use)
	}
}
