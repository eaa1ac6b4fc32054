package placement_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/engine/placement"
	"heddle/internal/lower"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// threeKernels lack one barrier each. Only the second one calls the function.
const threeKernels = `// three kernels
__device__ float half(float x) { return x * 0.5f; }

// heddle: grid=2 block=64
__global__ void first(float *out) {
  __shared__ float a[64];
  int t = threadIdx.x;
  a[t] = t;
  out[blockIdx.x * 64 + t] = a[63 - t];
}

// heddle: grid=2 block=64
__global__ void second(float *out) {
  __shared__ float b[64];
  int t = threadIdx.x;
  b[t] = half(t);
  out[blockIdx.x * 64 + t] = b[(t + 1) % 64];
}

// heddle: grid=2 block=64
__global__ void third(float *out, int n) {
  __shared__ float c[64];
  int t = threadIdx.x;
  for (int i = 0; i < n; i++) {
    c[t] = i;
    __syncthreads();
    out[blockIdx.x * 64 + t] += c[63 - t];
  }
}
`

// incremental searches a text with the cache in dir.
func incremental(t *testing.T, dir, text string, so placement.Options) *placement.Result {
	t.Helper()
	so.Common.Lower.CacheDir = dir
	in := driver.Input{Input: lower.Input{Name: "three.cu", Content: []byte(text)}}
	res, err := placement.File(t.Context(), so, in, func(d diag.Diagnostic) { t.Errorf("%s", d.Message) })
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// shown is what users see of a result: everything but the time and where it comes from.
func shown(t *testing.T, res *placement.Result) string {
	t.Helper()
	kernels := append([]placement.Kernel(nil), res.Kernels...)
	for i := range kernels {
		kernels[i].Time, kernels[i].Earlier = time.Duration(0), false
		kernels[i].Verdict.Span = source.Span{} // refers to the files of its own proof
	}
	text, err := json.MarshalIndent(kernels, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text) + res.Diff
}

// After an edit, exactly the kernels that it may affect are searched again, and the result is that
// of a search without the cache.
func TestIncremental(t *testing.T) {
	dir := t.TempDir()
	options := placement.Options{Incremental: true}
	first := incremental(t, dir, threeKernels, options)
	for i := range first.Kernels {
		if k := &first.Kernels[i]; k.Earlier || k.Verdict.Kind != diag.Verified {
			t.Fatalf("%s: earlier %v, %v", k.Kernel, k.Earlier, k.Verdict.Kind)
		}
	}
	for _, c := range []struct {
		name     string
		from, to string
		again    string // the kernels that are searched again
	}{
		{"nothing", "", "", ""},
		{"lines above all kernels", "// three kernels\n", "// three\n// kernels\n\n", ""},
		{"a comment between kernels", "// heddle: grid=2 block=64\n__global__ void second",
			"// the second one\n// heddle: grid=2 block=64\n__global__ void second", ""},
		{"a kernel that is new, in front", "// three kernels\n",
			"__global__ void zero(float *out) { out[threadIdx.x + blockIdx.x * blockDim.x] = 0; }\n", "zero"},
		{"an index", "b[(t + 1) % 64]", "b[(t + 2) % 64]", "second"},
		{"the name of a variable", "a[63 - t]", "a[63 - (t)]", "first"},
		{"a line within a kernel", "  b[t] = half", "\n  b[t] = half", "second"},
		{"a function that one kernel calls", "x * 0.5f", "x * 0.25f", "second"},
		{"a launch", "// heddle: grid=2 block=64\n__global__ void third", "// heddle: grid=2 block=32\n__global__ void third", "third"},
		{"a barrier", "    c[t] = i;\n", "    __syncthreads();\n    c[t] = i;\n", "third"},
		// The PTX without the barriers that are inserted is as before; that with them is not.
		{"what is inserted", "// three kernels", "#define __syncthreads() __threadfence_block()",
			"first second third"},
		{"a type", "__shared__ float a[64]", "__shared__ double a[64]", "first"},
	} {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 4)
			text := strings.Replace(threeKernels, c.from, c.to, 1)
			res := incremental(t, dir, text, options)
			var again []string
			for i := range res.Kernels {
				if k := &res.Kernels[i]; !k.Earlier {
					again = append(again, strings.SplitN(k.Kernel, "(", 2)[0])
				}
			}
			if got := strings.Join(again, " "); got != c.again {
				t.Errorf("searched again: %q, want %q", got, c.again)
			}
			fresh := incremental(t, t.TempDir(), text, placement.Options{})
			if got, want := shown(t, res), shown(t, fresh); got != want {
				t.Errorf("the result differs:\n%s\nfrom that of a new search:\n%s", got, want)
			}
		})
	}
}

// A launch of another shape makes another search, although the first launch is the same.
func TestIncrementalLaunches(t *testing.T) {
	const one = `__global__ void k(int *out) {
  __shared__ int s[256];
  int t = threadIdx.x;
  s[t] = t;
  __syncthreads();
  out[blockIdx.x * blockDim.x + t] = s[blockDim.x - 1 - t];
}
void f(int *o) {
  k<<<1, 1>>>(o);
}
`
	dir := t.TempDir()
	incremental(t, dir, one, placement.Options{Incremental: true})
	for _, more := range []string{"  k<<<2, 256>>>(o);\n}", "  auto again = k;\n}"} {
		text := one[:strings.LastIndex(one, "}")] + more + "\n"
		res := incremental(t, dir, text, placement.Options{Incremental: true})
		fresh := incremental(t, t.TempDir(), text, placement.Options{})
		if res.Kernels[0].Earlier || shown(t, res) != shown(t, fresh) || res.Diff != "" {
			t.Errorf("%q: the result is that of one launch: %s\n%s", more, shown(t, res), res.Diff)
		}
	}
}

// Another option makes another search.
func TestIncrementalOptions(t *testing.T) {
	dir := t.TempDir()
	incremental(t, dir, threeKernels, placement.Options{Incremental: true})
	for name, so := range map[string]placement.Options{
		"block only": {BlockOnly: true}, "the oracle": {Oracle: placement.Both},
		"a flag of the launch": {Common: driver.Options{Limit: 3}},
		"verify only":          {VerifyOnly: true}, "another seed": {Common: driver.Options{MaxSteps: 1000}},
	} {
		so.Incremental = true
		res := incremental(t, dir, threeKernels, so)
		for i := range res.Kernels {
			if res.Kernels[i].Earlier {
				t.Errorf("%s: %s is not searched again", name, res.Kernels[i].Kernel)
			}
		}
	}
	res := incremental(t, dir, threeKernels, placement.Options{Incremental: true, Explain: true})
	for i := range res.Kernels {
		k := &res.Kernels[i]
		if !k.Earlier || len(k.Barriers) == 0 || k.Barriers[0].Use == nil {
			t.Errorf("%s: earlier %v, %+v", k.Kernel, k.Earlier, k.Barriers)
		}
	}
}
