package lower

import "testing"

// A caller widens the result of a function that heddle does not interpret itself: of a char, bits 8
// to 31 of the result in PTX say nothing.
func TestWidened(t *testing.T) {
	eachCompiler(t, func(t *testing.T, compiler string) {
		r := lowerSource(t, `#include "heddle.h"
DECLARE_UF_UNARY(f, unsigned char, unsigned char);
DECLARE_UF_UNARY(g, short, short);
__global__ void k(int *a, unsigned char c, short d) { a[f(c)] = g(d); }`,
			Options{Compiler: compiler})
		for _, want := range []string{`and\.b\d+\s+%\w+, %\w+, 255;`, `cvt\.s32\.s16`} {
			if count(r.PTX, want) != 1 {
				t.Errorf("no %s in\n%s", want, r.PTX)
			}
		}
	})
}
