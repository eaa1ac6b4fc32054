package repair

import (
	"slices"
	"strings"
	"testing"
)

// TestWeaken: a fence gets the weakest order and scope that the judge accepts, if all executions
// decided; runs alone do not justify less than the race asks for.
func TestWeaken(t *testing.T) {
	all := []string{"fence.acq_rel.cta", "fence.acq_rel.gpu", "fence.sc.cta", "fence.sc.gpu"}
	for _, c := range []struct {
		what  string
		any   []string // the judge accepts
		grade Grade
		want  string
	}{
		{"any fence", all, Explored, "fence.acq_rel.cta"},
		{"device scope", []string{all[1], all[3]}, Explored, "fence.acq_rel.gpu"},
		{"sequential consistency", []string{all[2], all[3]}, Explored, "fence.sc.cta"},
		{"both", []string{all[3]}, Explored, "fence.sc.gpu"},
		{"any fence, by runs", all, Clean, "fence.acq_rel.gpu"},
	} {
		k := kernelOf(t, modern, "st.global.u32 [%d1], 1;\nst.volatile.global.u32 [%d1+4], 1;\n"+
			"ld.global.u32 %r1, [%d1+8];\n")
		race := Finding{Kind: Race, Reach: AcrossBlocks, Shown: true}
		race.A, _ = k.File.Offset(instrs(k, "st.global")[0].Span.Start)
		race.B, _ = k.File.Offset(instrs(k, "ld.global")[0].Span.Start)
		judge := judgeFunc(func(text string) *Judgement {
			has := func(f string) bool { return strings.Contains(text, f) }
			if slices.ContainsFunc(c.any, has) {
				return &Judgement{Grade: c.grade}
			}
			return &Judgement{Grade: Buggy, Findings: []Finding{race}}
		})
		res, err := Repair(t.Context(), k, judge, Options{})
		if err != nil || res.Patch == nil {
			t.Errorf("%s: %v, %s", c.what, err, res.Reason)
			continue
		}
		got := ""
		for _, f := range all {
			if strings.Contains(string(res.Patch.Text), f) {
				got += f
			}
		}
		if got != c.want {
			t.Errorf("%s: %s, expected %s", c.what, got, c.want)
		}
	}
}
