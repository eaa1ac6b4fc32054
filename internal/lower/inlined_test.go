package lower

import (
	"strings"
	"testing"
)

// TestReturnedPacked: a function that returns a packed struct with integers of 128 bits, in a
// struct or not, can be called. LLVM 19 crashes on such a call.
func TestReturnedPacked(t *testing.T) {
	for _, field := range []string{"__int128 v[2];", "union { __int128 v[2]; } v;", deep(20, "__int128 v")} {
		src := `struct __attribute__((packed)) R { long a; ` + field + ` int *p; int n; };
__device__ __noinline__ R r(int *p) { R r = {}; r.p = p; r.n = 2; return r; }
__global__ void k(int *p) { R a = r(p); a.p[threadIdx.x] = a.n; }
`
		text := string(lowerSource(t, src, Options{Compiler: compilers(t)[0]}).PTX)
		if strings.Count(text, "st.u32") != 1 || strings.Contains(text, "call") {
			t.Errorf("%s: want one store and no call\n%s", field, text)
		}
	}
}

// deep returns a member within n structs.
func deep(n int, member string) string {
	for range n {
		member = "struct { " + member + "; } m"
	}
	return member + ";"
}

// TestUnsetDeep: a variable of 20 structs within each other is arbitrary until it is written, so
// that its use as an index is not that of the only write.
func TestUnsetDeep(t *testing.T) {
	src := `struct D { ` + deep(20, "int x") + ` };
__global__ void k(int *p) {
  D d;
  if (threadIdx.x < 5) d` + strings.Repeat(".m", 20) + `.x = threadIdx.x;
  p[d` + strings.Repeat(".m", 20) + `.x] = 1;
}
`
	text := string(lowerSource(t, src, Options{Compiler: compilers(t)[0]}).PTX)
	if !strings.Contains(text, "unset") {
		t.Errorf("the index has the value of the write on all paths\n%s", text)
	}
}
