package lower

import (
	"errors"
	"strings"
	"testing"
)

// TestSharedTables checks that the thread stores addresses of shared variables in a local array or
// struct, since PTX has no initialiser for them, and that a constant with such addresses is
// reported at its use.
func TestSharedTables(t *testing.T) {
	const head = "struct W { int *p; float k; int *q; };\n__global__ void k(int *o, int n) {\n  __shared__ int x[64], y[64];\n"
	for _, body := range []string{
		"int *t[2] = {x, y}; t[n & 1][threadIdx.x] = 1;",
		"int *const t[3] = {x, y + 2, x}; t[n & 1][threadIdx.x] = 1;",
		"W w = {x, 3, y}; w.p[threadIdx.x] = w.q[n];",
		"W w[2] = {{x, 3, y}, {y, 4, x}}; w[n & 1].p[threadIdx.x] = 1;",
	} {
		r := lowerSource(t, head+"  "+body+"\n}\n", Options{})
		for _, line := range strings.Split(string(r.PTX), "\n") {
			if strings.HasPrefix(line, ".global") || strings.HasPrefix(line, ".const") {
				t.Errorf("%s\nis initialised by %s", body, line)
			}
		}
	}
	for _, body := range []string{
		"static int *const t[2] = {x, y};\n  t[n & 1][threadIdx.x] = 1;",
		"static const W w[2] = {{x, 3, y}, {y, 4, x}};\n  w[n & 1].p[threadIdx.x] = 1;",
	} {
		path := writeSource(t, "k.cu", head+"  "+body+"\n}\n")
		_, err := File(t.Context(), path, Options{CacheDir: testCache})
		if no := (*InputError)(nil); !errors.As(err, &no) || !strings.Contains(no.File, "k.cu:5:") ||
			!strings.Contains(no.Reason, "addresses of __shared__") {
			t.Errorf("%s: error %v, want one at line 5 about addresses of __shared__ variables", body, err)
		}
	}
}
