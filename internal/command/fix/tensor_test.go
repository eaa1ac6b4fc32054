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

// What orders the end of an allocation of a pair of blocks is put back, and an end that is missing
// (PTX ISA 9.7.16.7.1: the warps "must synchronize Tensor Memory accesses before attempting to
// collectively deallocate").
func TestTensorPairFreed(t *testing.T) {
	text, err := os.ReadFile("../../../testdata/suite/tcgen05/pairs_right.ptx")
	if err != nil {
		t.Fatal(err)
	}
	const (
		loaded = "\ttcgen05.wait::ld.sync.aligned;\n"
		arrive = "\tbarrier.cluster.arrive.aligned;\n"
		wait   = "\tbarrier.cluster.wait.aligned;\n"
		free   = "\t@%p1 tcgen05.dealloc.cta_group::2.sync.aligned.b32 %r4, 32;\n"
	)
	for _, c := range []struct {
		removed []string
		want    []string
	}{
		{[]string{wait}, []string{"barrier.cluster.wait;"}},
		{[]string{arrive}, []string{"barrier.cluster.arrive;"}},
		{[]string{arrive, wait}, []string{"barrier.cluster.arrive;", "barrier.cluster.wait;"}},
		{[]string{loaded, arrive, wait}, []string{"tcgen05.wait::ld.sync.aligned;",
			"barrier.cluster.arrive;", "barrier.cluster.wait;"}},
		{[]string{free}, []string{"@%p1 tcgen05.dealloc.cta_group::2.sync.aligned.b32 \t%r4, 32;"}},
	} {
		before, body, ok := strings.Cut(string(text), ".entry once()")
		at := strings.Index(body, loaded)
		if !ok || at < 0 {
			t.Fatal("the kernel has changed")
		}
		end := body[at:]
		for _, r := range c.removed {
			if !strings.Contains(end, r) {
				t.Fatalf("the kernel has no %q", r)
			}
			end = strings.Replace(end, r, "", 1)
		}
		mutant := before + ".entry once()" + body[:at] + end
		f, fixed := mutantFix(t, "once", mutant)
		if f.Status != Repaired || len(f.Changes) != 1 {
			t.Errorf("without %q: %s (%s), %d changes", c.removed, f.Status, f.Why, len(f.Changes))
		}
		for _, w := range c.want {
			if strings.Count(fixed, w) != strings.Count(mutant, w)+1 {
				t.Errorf("without %q: no %s was added", c.removed, w)
			}
		}
	}
}
