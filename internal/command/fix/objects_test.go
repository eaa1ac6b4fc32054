package fix

import (
	"slices"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

// TestObjectStatements: the statement about an mbarrier that is missing or wrong is put back as a
// statement of the source. The judge of the kernel accepts the compiled source; here are the lines
// that it removes and adds. They are those of the intended kernel, unless a comment says why not.
func TestObjectStatements(t *testing.T) {
	wait := func(object, parity string) string {
		return `asm volatile("{ .reg .pred p; W: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra W; }" ` +
			`::"r"(` + object + `), "r"(` + parity + `) : "memory");`
	}
	type lines = []string
	for _, c := range []struct {
		file, kernel   string
		removed, added lines
	}{
		{"waits.cu", "read_too_early", nil, lines{"wait(&full, i & 1);"}},
		{"waits.cu", "filled_too_early", nil, lines{"wait(&empty, (i & 1) ^ 1);"}},
		{"waits.cu", "never_empty", nil, lines{"arrive(&empty);"}},
		{"waits.cu", "never_full", nil, lines{"expect(&full, sizeof stage);"}},
		{"waits.cu", "parity_of_next_round", lines{"wait(&empty, i & 1);"}, lines{"wait(&empty, (i & 1) ^ 1);"}},
		{"waits.cu", "parity_of_first_round", lines{"wait(&full, 0);"}, lines{"wait(&full, i & 1);"}},
		// as many bytes as the copy moves
		{"waits.cu", "too_few_bytes", lines{"expect(&full, sizeof stage / 2);"}, lines{"expect(&full, sizeof stage);"}},
		// a function of the file that the kernel does not call otherwise
		{"waits.cu", "no_wait_at_all", nil, lines{"wait(&full, 0);"}},
		// within asm statements
		{"waits.cu", "group_of_one", lines{`asm volatile("cp.async.bulk.wait_group 1;" ::: "memory");`},
			lines{`asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");`}},
		{"waits.cu", "relaxed_release",
			lines{`asm volatile("mbarrier.arrive.relaxed.cta.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");`},
			lines{`asm volatile("mbarrier.arrive.release.cta.shared::cta.b64 _, [%0];" ::"r"(at(b)) : "memory");`}},
		{"waits.cu", "direct_read_too_early", nil, lines{wait("at(&bar[1])", "0")}},
		{"waits.cu", "direct_never_full", lines{"if (t == 0)"}, lines{"if (t == 0) {",
			`asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&bar)), "r"(256) : "memory");`, "}"}},
		{"rings.cu", "ring_read_too_early", nil, lines{"wait(&full[s], i >> 1 & 1);"}},
		{"rings.cu", "ring_filled_too_early", nil, lines{"wait(&empty[s], (i >> 1 & 1) ^ 1);"}},
		{"rings.cu", "ring_never_empty", nil, lines{"arrive(&empty[s]);"}},
		{"rings.cu", "ring_never_empty_of_warps", nil,
			lines{"if (threadIdx.x % 32 == 0) arrive(&empty[s]);"}},
		{"rings.cu", "ring_never_full", nil, lines{"expect(&full[s], sizeof stage[s]);"}},
		{"rings.cu", "ring_parity_of_one_stage", lines{"wait(&full[s], i & 1);"}, lines{"wait(&full[s], i >> 1 & 1);"}},
		// a wait as a loop around a test
		{"apis.cu", "ptx_read_too_early", nil,
			lines{"while (!ptx::mbarrier_try_wait_parity(&full, i & 1)) {", "}"}},
		{"apis.cu", "ptx_filled_too_early", nil,
			lines{"while (!ptx::mbarrier_try_wait_parity(&empty, (i & 1) ^ 1))", ";"}},
		{"apis.cu", "ptx_never_empty", nil, lines{"ptx::mbarrier_arrive(&empty);"}},
		{"apis.cu", "ptx_never_full", nil, lines{"ptx::mbarrier_arrive_expect_tx(&full, sizeof stage);"}},
		{"apis.cu", "ptx_parity", lines{"while (!ptx::mbarrier_try_wait_parity(&full, i & 1 ^ 1))"},
			lines{"while (!ptx::mbarrier_try_wait_parity(&full, i & 1))"}},
		// the parity of a counter, as that of the variable `phase` is no register of the loop with the wait
		{"apis.cu", "class_read_too_early", nil, lines{"full[i % 2].wait(i >> 1 & 1);"}},
		{"apis.cu", "class_filled_too_early", nil, lines{"empty[i % 2].wait((i >> 1 & 1) ^ 1);"}},
		{"apis.cu", "class_never_empty", nil, lines{"empty[i % 2].arrive();"}},
		// a function in place of the member that does the same
		{"apis.cu", "class_never_full", nil,
			lines{"ptx::mbarrier_arrive_expect_tx(&full[i % 2].value, sizeof stage[0]);"}},
		{"apis.cu", "class_parity", lines{"empty[i % 2].wait(phase);"}, lines{"empty[i % 2].wait(phase ^ 1);"}},
	} {
		t.Run(c.kernel, func(t *testing.T) {
			long.Sample(t, 3)
			res, _, _ := fixFile(t, "../../../testdata/fix/"+c.file, c.kernel, Options{Source: true})
			var removed, added lines
			for line := range strings.Lines(res.Diff) {
				text := strings.TrimSpace(line[1:])
				switch {
				case strings.HasPrefix(line, "---") || strings.HasPrefix(line, "+++"):
				case line[0] == '-':
					removed = append(removed, text)
				case line[0] == '+':
					added = append(added, text)
				}
			}
			if !slices.Equal(removed, c.removed) || !slices.Equal(added, c.added) {
				t.Errorf("removed %q, want %q\nadded %q, want %q", removed, c.removed, added, c.added)
			}
			if f := &res.Fixes[0]; f.Status != Repaired || f.PTXOnly != "" || f.Source.Kernel == "" {
				t.Errorf("%s, source %+v: %s", f.Status, f.Source, f.PTXOnly)
			}
		})
	}
}
