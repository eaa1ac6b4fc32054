package trace

import (
	"slices"
	"testing"

	"heddle/internal/diag"
)

// Of a long trace the ends are kept, with what is around the first finding of a kind; nothing twice
// and nothing else.
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
	if len(got) != 2*graphEnds+2*graphAround+1 || got[graphEnds-1] != graphEnds-1 || got[graphEnds] != 5000-graphAround || got[len(got)-1] != 9999 {
		t.Errorf("%v", got)
	}
	r.nodes = r.nodes[:graphEnds+1]
	if keep := r.kept(); slices.Contains(keep, false) {
		t.Errorf("of a short trace: %v", keep)
	}
}
