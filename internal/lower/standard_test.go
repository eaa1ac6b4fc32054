package lower

import "testing"

// A file that needs C++20 compiles without --std, and one that does not is C++17, as with nvcc.
func TestLaterStandard(t *testing.T) {
	cases := []struct {
		name, src, std string
		kernels        int
		warnings       int
	}{
		{"concepts", `#include <concepts>
#include <span>
template <std::integral T> __device__ T twice(T x) { return 2 * x; }
__global__ void k(std::span<int> s) { s[threadIdx.x] = twice(s[threadIdx.x]); }
`, "", 1, 0},
		{"with a missing header", `#include <missing.h>
template <class T> concept Wide = sizeof(T) > 4;
template <Wide T> __global__ void k(T *p) { p[0] = 1; }
void launch(missing::Buffer b) { k<<<1, 32>>>(b.data<double>()); }
template __global__ void k<double>(double *);
`, "", 1, 2},
		// The words of C++20 are in a comment.
		{"C++17", `// concept, requires: no
static_assert(__cplusplus == 201703L);
` + goodKernel, "", 1, 0},
		{"named standard", `constexpr bool concept = true;
__global__ void k(bool *p) { *p = concept; }
`, "c++17", 1, 0},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := lowerSource(t, c.src, Options{Compiler: compilers(t)[0], Std: c.std})
			if len(r.Kernels) != c.kernels || len(r.Warnings) != c.warnings || len(r.Omitted) > 0 {
				t.Errorf("kernels %v, omitted %v, warnings %q", r.Kernels, r.Omitted, r.Warnings)
			}
		})
	}
}
