package fix

import (
	"os"
	"strings"
	"testing"
)

// What is removed from a right kernel over tensor memory is put back (PTX ISA 9.7.16.6.4), or
// replaced by what does the same.
func TestTensorRemoved(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/suite/tcgen05/right.ptx")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ kernel, removed, want string }{
		{"once", "tcgen05.wait::ld.sync.aligned;", "tcgen05.wait::ld.sync.aligned;"},
		{"once", "@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [done];",
			"@%p0 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 \t[done];"},
		{"relaxed", "tcgen05.fence::after_thread_sync;", "tcgen05.fence::after_thread_sync;"},
		{"stored", "tcgen05.wait::st.sync.aligned;", "tcgen05.wait::st.sync.aligned;"},
		{"copied_by_another", "tcgen05.fence::before_thread_sync;",
			"tcgen05.fence::before_thread_sync;"},
	} {
		before, after, ok := strings.Cut(string(text), ".entry "+c.kernel+"()")
		body, rest, more := strings.Cut(after, "\n}\n")
		if !ok || !more || strings.Count(body, c.removed) == 0 {
			t.Fatalf("%s has no %s", c.kernel, c.removed)
		}
		mutant := before + ".entry " + c.kernel + "()" + strings.Replace(body, c.removed, "", 1) +
			"\n}\n" + rest
		f, fixed := mutantFix(t, c.kernel, mutant)
		if f.Status != Repaired || len(f.Changes) != 1 {
			t.Errorf("%s without %s: %s (%s), %d changes", c.kernel, c.removed, f.Status, f.Why,
				len(f.Changes))
			continue
		}
		if strings.Count(fixed, c.want) != strings.Count(mutant, c.want)+1 {
			t.Errorf("%s without %s: no %s was added", c.kernel, c.removed, c.want)
		}
	}
}
