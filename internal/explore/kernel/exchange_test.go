package kernel

import (
	"os"
	"path/filepath"
	"testing"

	"heddle/internal/driver"
	"heddle/internal/explore"
)

// TestUnordered: strong loads and stores that nothing orders are reported where a thread's value goes
// to another one, and not where they are a flag or a counter. The reasons are those of the suite
// (testdata/suite/strong): event.Unordered, and docs/theory/happens-before.md, Exchange.
func TestUnordered(t *testing.T) {
	const head = ".version 8.0\n.target sm_80\n.address_size 64\n.shared .u32 s[2];\n" +
		".global .u32 out[2];\n// heddle: grid=1 block=2\n.visible .entry k(.param .u32 n)\n{\n" +
		".reg .b32 %r<8>;\n.reg .b64 %rd<4>;\n.reg .pred %p<3>;\nmov.u32 %r1, %tid.x;\n" +
		"ld.param.u32 %r2, [n];\nsetp.eq.u32 %p1, %r1, 0;\n"
	for _, c := range []struct {
		name, body string
		want       int
	}{
		// Thread 1 reads what thread 0 computed, or not.
		{"value", "@%p1 st.volatile.shared.u32 [s], %r2; @!%p1 ld.volatile.shared.u32 %r3, [s];", 1},
		// A constant says that something has happened.
		{"raised", "@%p1 st.volatile.shared.u32 [s], 1; @!%p1 ld.volatile.shared.u32 %r3, [s];", 0},
		// A barrier orders them.
		{"barrier", "@%p1 st.volatile.shared.u32 [s], %r2; bar.sync 0;" +
			"@!%p1 ld.volatile.shared.u32 %r3, [s];", 0},
		// An atomic operation makes it a counter or a lock.
		{"counter", "atom.shared.add.u32 %r4, [s], %r2; @%p1 st.volatile.shared.u32 [s], %r2;" +
			"@!%p1 ld.volatile.shared.u32 %r3, [s];", 0},
		// Acquire and release say that they synchronize.
		{"release", "@%p1 st.release.cta.shared.u32 [s], %r2; @!%p1 ld.relaxed.cta.shared.u32 %r3, [s];", 0},
		// A loop waits for the value.
		{"polled", "@%p1 st.volatile.shared.u32 [s], %r2; @%p1 bra E; L: ld.volatile.shared.u32 %r3, [s];" +
			"setp.eq.u32 %p2, %r3, 5; @%p2 bra L; E:", 0},
	} {
		path := filepath.Join(t.TempDir(), "k.ptx")
		if err := os.WriteFile(path, []byte(head+c.body+"\nret;\n}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		jobs(t, path, func(j *driver.Job) {
			rep, err := survey(t, j, explore.Options{Unroll: 4})
			if err != nil {
				t.Fatal(c.name, err)
			}
			if len(rep.Races) > 0 || len(rep.Unordered) != c.want {
				t.Errorf("%s: %d races, %d pairs without an order; expected %d", c.name, len(rep.Races),
					len(rep.Unordered), c.want)
			}
		})
	}
}
