package syntax_test

import (
	"strings"
	"testing"

	"heddle/internal/syntax"
)

// Macros that write blocks, whole statements, and parts of them.
const macroKernel = `#define STEP(s) if (t < (s)) { a[t] += a[t + (s)]; }
#define BLOCK { a[t] = 1; __syncthreads(); }
#define TWO a[t] = 1; a[t + 1] = 2;
#define BEGIN(c) if (c) {
#define END }
#define EACH for (int i = 0; i < 4; i++)
__global__ void k(int *a, int t) {
    STEP(128)
    STEP(64);
    BLOCK
    if (t)
        BLOCK
    else
        STEP(8)
    EACH
        STEP(4)
    EACH {
        TWO
    }
    for (int j = 0; j < 4; j++)
        STEP(2)
    BEGIN(t > 3) a[0] = 1; END
    do BLOCK while (t--);
    a[1] = 2;
}
`

// Every offset has an answer: a block that a macro writes has no statements of its own.
func TestMacrosHaveNoPlacesWithin(t *testing.T) {
	u := rewriteUnit(t, macroKernel)
	f := u.Funcs[0]
	for at := strings.Index(macroKernel, "__global__"); at < len(macroKernel); at++ {
		for _, in := range append(u.Near(f, at), syntax.Insert{At: at}) {
			for _, in.After = range []bool{false, true} {
				u.Spot(f, in)
				in.Text, in.Block = "__syncthreads();", true
				u.Rewrite(f, &syntax.Rewrite{Inserts: []syntax.Insert{in}})
			}
		}
	}
}

// Where a macro writes a whole statement, there is room around it.
func TestBarriersAroundMacros(t *testing.T) {
	for _, test := range []struct {
		before string // the barrier is inserted before this text
		after  bool   // or after it
		want   string
	}{
		{before: "STEP(64)", want: "    __syncthreads();\n    STEP(64);\n    BLOCK\n"},
		{before: "STEP(64)", after: true,
			want: "    STEP(64);\n    __syncthreads();\n    BLOCK\n"},
		{before: "STEP(2)", want: "j++) {\n        __syncthreads();\n        STEP(2)\n    }\n"},
	} {
		rw := &syntax.Rewrite{Uniform: func(int, int) bool { return true }}
		rw.Inserts = append(rw.Inserts, syntax.Insert{At: strings.Index(macroKernel, test.before),
			After: test.after, Text: "__syncthreads();", Block: true})
		got, err := rewrite(t, macroKernel, rw)
		if err != nil || !strings.Contains(got, test.want) {
			t.Errorf("%s: error %v, want\n%sin\n%s", test.before, err, test.want, got)
		}
	}
}
