package kernel

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/driver"
	"heddle/internal/explore"
)

// TestRefused: what the fragment leaves out is refused by name: proxies other than the generic one
// (PTX ISA 8.6), asynchronous operations, mbarriers, barriers of clusters, and accesses of different
// sizes to the same bytes (8.7.2).
func TestRefused(t *testing.T) {
	const head = ".version 8.6\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 s[64];\n" +
		".global .align 16 .b8 g[64];\n// heddle: grid=2 block=1\n.visible .entry k()\n{\n" +
		".reg .b32 %r<8>;\n.reg .b64 %rd<8>;\n"
	for _, c := range []struct{ body, want string }{
		{"fence.proxy.async;", "fence.proxy.async is not supported by heddle explore"},
		{"fence.proxy.alias;", "fence.proxy.alias is not supported by heddle explore"},
		{"cp.async.ca.shared.global [s], [g], 4;", "cp.async.ca.shared.global is not supported"},
		{"mbarrier.init.shared.b64 [s], 1;", "mbarrier.init.shared.b64 is not supported"},
		{"barrier.cluster.arrive; barrier.cluster.wait;", "barrier.cluster.arrive is not supported"},
		{"tex.1d.v4.s32.s32 {%r1, %r2, %r3, %r4}, [%rd1, {%r5}];", "is not supported"},
		{"st.global.u32 [g], 1; ld.global.u64 %rd1, [g];", "accesses of 4 and of 8 bytes overlap at g"},
		{"st.global.u32 [g], 1; ld.global.u16 %r1, [g+2];", "accesses of 4 and of 2 bytes overlap at g"},
	} {
		path := filepath.Join(t.TempDir(), "k.ptx")
		if err := os.WriteFile(path, []byte(head+c.body+"\nret;\n}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		jobs(t, path, func(j *driver.Job) {
			_, err := survey(t, j, explore.Options{Unroll: 4})
			var refused *UnsupportedError
			var limit *explore.LimitError
			if !errors.As(err, &refused) && !errors.As(err, &limit) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: error %v, expected one with %q", c.body, err, c.want)
			}
		})
	}
}
