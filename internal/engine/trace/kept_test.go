package trace

import (
	"slices"
	"testing"

	"heddle/internal/diag"
)

// TestBarrierGraphKept: of a long trace, the two ends and the surroundings of the first finding of
// each kind are kept, and nothing else.
func TestBarrierGraphKept(t *testing.T) {
	r := &graphRecorder{nodes: make([]graphNode, 10_000)}
	r.nodes[5000].wrong, r.nodes[7000].wrong = diag.CodeBarrierRecycle, diag.CodeBarrierRecycle
	r.nodes[9999].wrong = diag.CodeBarrierDeadlock
	var got []int
	for i, keep := range r.kept() {
		if keep {
			got = append(got, i)
		}
	}
	if len(got) != 2*graphEnds+2*graphAround+1 || got[graphEnds-1] != graphEnds-1 ||
		got[graphEnds] != 5000-graphAround || got[len(got)-1] != 9999 {
		t.Errorf("%v", got)
	}
	r.nodes = r.nodes[:graphEnds+1]
	if keep := r.kept(); slices.Contains(keep, false) {
		t.Errorf("of a short trace: %v", keep)
	}
}
