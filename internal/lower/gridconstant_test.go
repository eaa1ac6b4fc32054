package lower

import (
	"strings"
	"testing"
)

// TestGridConstant: the address of a parameter with __grid_constant__ is that of the parameter
// (CUDA C++ Programming Guide, "__grid_constant__"), and without it that of a copy in local memory.
func TestGridConstant(t *testing.T) {
	for _, level := range []string{"", "3"} {
		gridConstant(t, level)
	}
}

func gridConstant(t *testing.T, level string) {
	const head = `struct map { long long x[16]; };
template <class T> __global__ void k(int *p, const %s T m, const %s map n) {
  asm volatile("prefetch.tensormap [%%0];" ::"l"(&m) : "memory");
  asm volatile("prefetch.tensormap [%%0];" ::"l"(&n) : "memory");
  p[0] = (int)n.x[2];
}
template __global__ void k<map>(int *, const map, const map);
`
	for _, c := range []struct {
		one, two string
		copies   int // of parameters
	}{{"__grid_constant__", "__grid_constant__", 0}, {"", "__grid_constant__", 1}, {"", "", 2}} {
		src := strings.ReplaceAll(strings.Replace(strings.Replace(head, "%s", c.one, 1), "%s", c.two, 1), "%%", "%")
		r := lowerSource(t, src, Options{Compiler: compilers(t)[0], OptLevel: level})
		text := string(r.PTX)
		if got := strings.Count(text, "st.local"); got != 16*c.copies || strings.Count(text, "cvta.param") != 2-c.copies {
			t.Errorf("-O %q, %q, %q: %d stores to local memory, want %d\n%s", level, c.one, c.two, got,
				16*c.copies, text)
		}
	}
}
