package placement_test

import (
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/engine/placement"
)

// A barrier is right for every launch of the host code, not for the first one only: 32 threads are
// one warp, whose lanes a barrier of the warp orders, and 256 are not. Another grid is another
// shape as well, for which the proof is made again.
func TestSyncShapes(t *testing.T) {
	const text = `__global__ void k(int *out) {
  __shared__ int s[256];
  int t = threadIdx.x, o = blockDim.x - 1 - t;
  s[t] = t;
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = s[o];
}
void f(int *o) {
  k<<<1, 1>>>(o);
  k<<<2, 256>>>(o);
}
`
	res := synchronize(t, "shapes.cu", text, placement.Options{})
	k := &res.Kernels[0]
	if k.Status != placement.Unchanged || k.Verdict.Kind != diag.Verified || res.Diff != "" {
		t.Errorf("%v, %v: the barrier is needed for blocks of 256\n%s", k.Status, k.Verdict, res.Diff)
	}
	if text := k.Verdict.FullScope(); !strings.Contains(text, "block 256") ||
		!strings.Contains(text, "block 1;") && !strings.Contains(text, "block 1,") {
		t.Errorf("the scope names not all shapes: %s", text)
	}
	one := strings.Replace(text, "  k<<<2, 256>>>(o);\n", "", 1)
	res = synchronize(t, "shapes.cu", one, placement.Options{})
	if k := &res.Kernels[0]; k.Status != placement.Changed {
		t.Errorf("%v: a single thread needs no barrier", k.Status)
	}
}

// What orders this kernel's accesses with code outside it is no race between its threads.
func TestSyncKeepsAnnouncements(t *testing.T) {
	for name, text := range map[string]string{
		"a fence of the system": `// heddle: grid=2 block=64
__global__ void k(int *data, int *flag) {
  data[blockIdx.x * 64 + threadIdx.x] = 1;
  __threadfence_system();
  __syncthreads();
  if (threadIdx.x == 0)
    flag[blockIdx.x] = 1;
}
`,
	} {
		res := synchronize(t, "k.cu", text, placement.Options{})
		if k := &res.Kernels[0]; k.Removes() {
			t.Errorf("%s: a barrier is removed\n%s", name, res.Diff)
		}
	}
}
