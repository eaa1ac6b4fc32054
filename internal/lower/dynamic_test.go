package lower

import "testing"

// TestDynamicAlignment: dynamic shared memory begins at a multiple of 16 behind any other shared
// memory, as nvcc has it; alignments of more than 16 stay.
func TestDynamicAlignment(t *testing.T) {
	for typ, want := range map[string]string{
		"char": "16", "double": "16", "int4": "16", "__align__(128) char": "128",
	} {
		for _, level := range []string{"", "2"} {
			r := lowerSource(t, "extern __shared__ "+typ+` a[];
__global__ void k(int *p) { __shared__ char c; c = *p; p[threadIdx.x] = (int)(size_t)a + c; }`,
				Options{OptLevel: level})
			if n := count(r.PTX, `\.extern \.shared \.align `+want+` \.b8 a\[\];`); n != 1 {
				t.Errorf("-O%s, %s: not aligned to %s:\n%s", level, typ, want, r.PTX)
			}
		}
	}
}
