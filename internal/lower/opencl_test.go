package lower

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestEveryBuiltin compiles the definitions of all names, in each version of the language.
func TestEveryBuiltin(t *testing.T) {
	tc, err := findToolchain(t.Context(), "", &probeCache{})
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(clBuiltins()))
	for _, to := range clAll {
		for _, n := range []string{"", "4"} {
			names = append(names, "as_"+to.name+n)
			for _, mode := range []string{"", "_rte", "_rtz", "_rtp", "_rtn"} {
				names = append(names, "convert_"+to.name+n+mode)
				if !to.float {
					names = append(names, "convert_"+to.name+n+"_sat"+mode)
				}
			}
		}
	}
	root, err := writeHeaders(testCache)
	if err != nil {
		t.Fatal(err)
	}
	for _, std := range []string{"CL1.0", "CL1.1", "CL1.2", "CL2.0", "CL3.0"} {
		t.Run(std, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			source := filepath.Join(dir, "k.cl")
			if err := os.WriteFile(source, []byte("kernel void k(global int *p) { *p = 1; }\n"), 0o644); err != nil {
				t.Fatal(err)
			}
			b := &build{tc: tc, name: source, headers: root, tmp: dir, cl: &openCL{std: std}}
			b.cl.prelude = filepath.Join(dir, "builtins.h")
			text := clPrelude(names, b.cl.generic())
			for _, n := range names {
				since20 := strings.HasPrefix(n, "atomic_") && clLegacy[n[len("atomic_"):]] == "" && !b.cl.generic()
				if !since20 && !strings.Contains(text, " "+n+"(") && !strings.Contains(text, "opencl/") {
					t.Errorf("%s is not defined", n)
				}
			}
			if err := os.WriteFile(b.cl.prelude, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), tc.Clang, b.clangArgs("-fsyntax-only", "-Wno-unused-command-line-argument")...).CombinedOutput()
			if err != nil || len(out) > 0 {
				t.Errorf("%v\n%s", err, clip(string(out), 4000))
			}
		})
	}
}
