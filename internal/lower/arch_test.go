package lower

import (
	"slices"
	"strings"
	"testing"
)

// TestCompiledArch: clang compiles for the newest architecture that it knows and that is not newer,
// by what its releases have added: sm_90 with LLVM 16, sm_90a with 18, sm_100 and sm_120 with 20.
func TestCompiledArch(t *testing.T) {
	for _, c := range []struct {
		arch  string
		major int
		want  string
	}{
		{"sm_70", 14, "sm_70"}, {"sm_86", 14, "sm_86"}, {"sm_90", 14, "sm_86"}, {"sm_90a", 16, "sm_90"},
		{"sm_90a", 19, "sm_90a"}, {"sm_100a", 19, "sm_90"}, {"sm_120", 19, "sm_90"},
		{"sm_100a", 20, "sm_100a"}, {"sm_100f", 20, "sm_100"}, {"sm_121a", 20, "sm_120"},
		{"sm_103a", 20, "sm_101"}, {"sm_999", 19, "sm_999"}, {"sm_89", 15, "sm_86"},
	} {
		if got := compiledArch(c.arch, c.major); got != c.want {
			t.Errorf("%s with clang %d: %s, want %s", c.arch, c.major, got, c.want)
		}
	}
}

// TestNewerArch: code for an architecture that clang may not know has the macros that nvcc defines
// for it, and the PTX names it, with the version that PTX ISA 11.1.1 and 11.1.2 give for it.
func TestNewerArch(t *testing.T) {
	const src = `__global__ void k(int *p) {
  p[0] = __CUDA_ARCH__;
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
  p[1] = 1;
#endif
#ifdef __CUDA_ARCH_FEAT_SM100_ALL
  p[2] = __CUDA_ARCH_SPECIFIC__;
#endif
#ifdef __CUDA_ARCH_FAMILY_SPECIFIC__
  p[3] = __CUDA_ARCH_FAMILY_SPECIFIC__;
#endif
}
`
	for _, c := range []struct {
		arch, version string
		stored        []string
	}{
		{"sm_90a", "", []string{"900", "1", "900"}},
		{"sm_100", ".version 8.6", []string{"1000"}},
		{"sm_100a", ".version 8.6", []string{"1000", "1000", "1000"}},
		{"sm_100f", ".version 8.8", []string{"1000", "1000"}},
		{"sm_120a", ".version 8.7", []string{"1200", "1200"}},
		{"sm_110", ".version 9.0", []string{"1100"}},
	} {
		for _, compiler := range compilers(t) {
			text := string(lowerSource(t, src, Options{Compiler: compiler, Arch: c.arch}).PTX)
			value, stored := map[string]string{}, []string(nil)
			for line := range strings.Lines(text) {
				f := strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n,;", r) })
				switch {
				case len(f) == 3 && f[0] == "mov.b32", len(f) == 3 && f[0] == "mov.u32":
					value[f[1]] = f[2]
				case len(f) == 3 && strings.HasPrefix(f[0], "st."):
					stored = append(stored, value[f[2]])
				}
			}
			if !strings.Contains(text, "\n.target "+c.arch+"\n") || !strings.Contains(text, c.version) ||
				!slices.Equal(stored, c.stored) {
				t.Errorf("%s, %s: stored %q, want %q\n%s", compiler, c.arch, stored, c.stored, text)
			}
		}
	}
}
