// Package longkernel generates kernels of any length that lack all their barriers, to show how the
// time of a search for barriers grows.
package longkernel

import (
	"fmt"
	"strings"
)

// Shape is a kind of kernel.
type Shape struct {
	Name string
	// Text is the CUDA text of a kernel of about n statements. Its launch is in a comment.
	Text func(n int) string
	// Barriers is the least number of barriers of that kernel.
	Barriers func(n int) int
}

// Shapes are all of them.
var Shapes = []Shape{
	{"chain", chain, func(n int) int { return n }},
	{"trees", trees, treeBarriers},
	{"loops", loops, func(n int) int { return 3 * (n / loopStatements) }},
}

// chain is n steps of a stencil between two buffers, unrolled by hand. Each reads what others wrote
// in the step before. So there is a barrier before each step; the buffer that it writes was read
// before the barrier before that. What the last step wrote is read by the same thread.
func chain(n int) string {
	var b strings.Builder
	b.WriteString("// heddle: grid=4 block=256\n" +
		"__global__ void chain(const float *in, float *out) {\n" +
		"  __shared__ float a[256], b[256];\n" +
		"  int t = threadIdx.x;\n" +
		"  a[t] = in[blockIdx.x * 256 + t];\n")
	from, to := "a", "b"
	for i := range n {
		fmt.Fprintf(&b, "  %s[t] = %s[(t + %d) %% 256] * 0.5f;\n", to, from, i%7+1)
		from, to = to, from
	}
	fmt.Fprintf(&b, "  out[blockIdx.x * 256 + t] = %s[t];\n}\n", from)
	return b.String()
}

// treeStatements is the number of statements of one tree of trees.
const treeStatements = 19

// trees is one reduction after another of 256 elements, unrolled, each in a tree of eight steps.
func trees(n int) string {
	var b strings.Builder
	b.WriteString("// heddle: grid=4 block=256\n" +
		"__global__ void trees(const float *in, float *out) {\n" +
		"  __shared__ float s[256];\n" +
		"  int t = threadIdx.x;\n")
	for i := range max(n/treeStatements, 1) {
		fmt.Fprintf(&b, "  s[t] = in[%d + t];\n", 256*i)
		for half := 128; half > 0; half /= 2 {
			fmt.Fprintf(&b, "  if (t < %d)\n    s[t] += s[t + %d];\n", half, half)
		}
		fmt.Fprintf(&b, "  if (t == 0)\n    out[gridDim.x * %d + blockIdx.x] = s[0];\n", i)
	}
	b.WriteString("}\n")
	return b.String()
}

// treeBarriers counts a barrier before each of the eight steps of a tree, which read what other
// threads wrote: barriers of the block until one warp is left, then of the warp. One more is before
// each further tree: its first statement overwrites s[32] to s[63] by the second warp, which the
// first warp reads in the sixth step, followed by barriers of the warp only.
func treeBarriers(n int) int {
	k := max(n/treeStatements, 1)
	return 8*k + k - 1
}

// loopStatements is the number of statements of one loop of loops.
const loopStatements = 5

// loops is one loop after another. Each may have no iteration, so that the accesses of a loop race
// with those of all others. Each of the three statements of an iteration reads what other threads
// wrote in the one before.
func loops(n int) string {
	var b strings.Builder
	b.WriteString("// heddle: grid=4 block=256\n" +
		"__global__ void loops(const float *in, float *out, int m) {\n" +
		"  __shared__ float a[256], b[256];\n" +
		"  int t = threadIdx.x;\n" +
		"  a[t] = in[blockIdx.x * 256 + t];\n" +
		"  b[t] = 0;\n")
	for range n / loopStatements {
		b.WriteString("  for (int i = 0; i < m; i++) {\n" +
			"    b[t] += a[(t + i) % 256];\n" +
			"    a[t] = b[255 - t];\n" +
			"    if (t < 128)\n" +
			"      a[t] += a[t + 128];\n" +
			"  }\n")
	}
	b.WriteString("  out[blockIdx.x * 256 + t] = a[t];\n}\n")
	return b.String()
}
