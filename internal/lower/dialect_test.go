package lower

import (
	"context"
	"errors"
	"strings"
	"testing"
)

// TestOtherErrorsOfPrograms: in a program that is to run, words that only nvcc accepts hide no
// error, and are not among the errors that are reported. Nor do they cause a warning.
func TestOtherErrorsOfPrograms(t *testing.T) {
	const kernel = `__global__ void k(int *p) { __shared__ alignas(16) int a[4]; a[0] = 1; *p = a[0];
#pragma unroll(2)
	for (int i = 0; i < 4; i++) p[i] = 2;
}
`
	for _, c := range []struct{ code, want string }{
		{"", ""},
		{"__global__ void m(int *p) { missing(p); }", "undeclared identifier 'missing'"},
		{"int main() { missing(); }", "undeclared identifier 'missing'"},
		{"int i = 1; alignas int j;", "expected '('"},
		{`__global__ void m(int *p) { asm("mov.u32 %0, %laneid;" : "=r"(*p) : "r"(1) "r"(2)); }`, ""},
		{`__global__ void m(int *p) { asm("mov.u32 %0, %@;" : "=r"(*p)); }`, "invalid % escape"},
		{`__global__ void m(int *p) { *p = (1 "r"(1)); }`, "expected ')'"},
	} {
		opt := Options{Compiler: compilers(t)[0], Strict: true, NoCache: true}
		r, err := File(context.Background(), writeSource(t, "k.cu", kernel+c.code), opt)
		var failed *CompileError
		switch {
		case c.want == "" && (err != nil || len(r.Omitted) > 0 || len(r.Warnings) > 0):
			t.Errorf("%v, %+v", err, r)
		case c.want == "":
		case !errors.As(err, &failed) || !strings.Contains(failed.Output, c.want) ||
			strings.Count(failed.Output, "error: ") != 1:
			t.Errorf("%s: %+v, want one error with %q", c.code, err, c.want)
		}
	}
}
