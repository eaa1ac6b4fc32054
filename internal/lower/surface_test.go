package lower

import (
	"slices"
	"strings"
	"testing"
)

// A surface that a parameter names is an array in a kernel that writes surfaces. The kernels that
// keep the instructions of surfaces have another handle, clamp what they write, or only read.
func TestSurfaceAccesses(t *testing.T) {
	src := `struct Pair { int n; cudaSurfaceObject_t s; };
__constant__ cudaSurfaceObject_t fixed;
__global__ void plane(cudaSurfaceObject_t s, cudaSurfaceObject_t r) {
  surf2Dwrite(surf2Dread<int>(r, 4, 1, cudaBoundaryModeClamp), s, threadIdx.x * 4, blockIdx.x);
}
__global__ void shapes(cudaSurfaceObject_t s, cudaSurfaceObject_t t, cudaSurfaceObject_t u) {
  surf1Dwrite((short)1, s, 4);
  surf3Dwrite(1.0, t, 4, 5, 6);
  surf2DLayeredwrite((char)1, u, 4, 5, 6);
}
__global__ void field(Pair p) { surf1Dwrite(1, p.s, 4); }
__global__ void clamped(cudaSurfaceObject_t s) { surf1Dwrite(1, s, 4, cudaBoundaryModeClamp); }
__global__ void both(cudaSurfaceObject_t s) { surf1Dwrite(surf1Dread<int>(s, 0, cudaBoundaryModeClamp), s, 4); }
__global__ void variable() { surf1Dwrite(1, fixed, 4); }
__global__ void chosen(cudaSurfaceObject_t s, cudaSurfaceObject_t t, int n) { surf1Dwrite(1, n ? s : t, 4); }
__global__ void reads(cudaSurfaceObject_t s, int *p) { *p = surf1Dread<int>(s, 4); }
`
	spread := []string{"plane", "shapes", "field"}
	r := lowerSource(t, src, Options{Compiler: compilers(t)[0]})
	bodies := strings.Split(string(r.PTX), ".entry ")[1:]
	for _, k := range r.Kernels {
		name := baseName(k.Name)
		want := slices.Contains(spread, name)
		for _, body := range bodies {
			if strings.HasPrefix(body, k.Name+"(") && surfaceRE.MatchString(body) == want {
				t.Errorf("%s: accesses to surfaces are replaced: %v, want %v\n%s", name, !want, want, body)
			}
		}
		for _, p := range k.Params {
			if strings.Contains("rstu", p.Name) && p.Pointer != want {
				t.Errorf("%s: parameter %+v, its accesses are replaced: %v", name, p, want)
			}
		}
	}
	if len(r.Kernels) != 8 {
		t.Errorf("kernels %v", r.Kernels)
	}
	// Layers come first in PTX and last in the array: 16 bits of x, 13 of y (PTX ISA 9.7.11.2).
	for _, want := range []string{"shl.b64 hsb, hsb, 29;", "st.global.u8 [hsa]", "st.global.u64 [hsa]",
		"shl.b64 hsb, hsb, 26;", "ld.global.u32 ", "and.b32 hsc, %r"} {
		if !strings.Contains(string(r.PTX), want) {
			t.Errorf("no %q in\n%s", want, r.PTX)
		}
	}
}
