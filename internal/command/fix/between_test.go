package fix

import (
	"strings"
	"testing"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/repair/between"
	"heddle/internal/source"
	"heddle/internal/testing/long"
)

// shift is a kernel in which an element is read that another block writes, and the host code around
// its launch.
func shift(body, host string) string {
	if body == "" {
		body = "    int v = a[(i + 1) % n];\n    a[i] = v;\n"
	}
	return "__global__ void k(int *a, int n) {\n    int i = blockIdx.x * blockDim.x + threadIdx.x;\n" +
		body + "}\n" + host
}

const (
	plainHost = "void go() {\n    int n = 1024;\n    int *d;\n    cudaMalloc(&d, n * sizeof(int));\n" +
		"    k<<<n / 128, 128>>>(d, n);\n    cudaFree(d);\n}\n"
	macroHost = "#define CHECK(call)            \\\n    if ((call) != cudaSuccess) \\\n" +
		"        return\n" + "void go() {\n    int n = 1024;\n    int *d;\n" +
		"    CHECK(cudaMalloc((void **)&d, n * sizeof(int)));\n    if (n > 0)\n" +
		"        k<<<n / 128, 128>>>(d, n);\n    CHECK(cudaFree(d));\n}\n"
)

// replace is plainHost with another text.
func replace(old, with string) string { return strings.Replace(plainHost, old, with, 1) }

// windows is a text with tabs and the line ends of Windows.
func windows(text string) string {
	return strings.NewReplacer("    ", "\t", "\n", "\r\n").Replace(text)
}

// What the host code around a launch looks like decides what a repair writes, or why there is none.
func TestBetweenHost(t *testing.T) {
	for _, c := range []struct {
		name  string
		means between.Means
		text  string
		want  string // in the patched text; of a refusal, "because ..."
	}{
		{"plain", between.GridSync, shift("", plainHost),
			"    void *args[] = {&d, &n};\n" +
				"    cudaLaunchCooperativeKernel((void *)k, n / 128, 128, args);\n"},
		{"plain", between.Split, shift("", plainHost),
			"    k_1<<<n / 128, 128>>>(d, n, v_saved);\n    k_2<<<n / 128, 128>>>(d, v_saved);\n"},
		{"plain", between.DoubleBuffer, shift("", plainHost),
			"    cudaMemcpy(d_old, d, n * sizeof(int), cudaMemcpyDeviceToDevice);\n" +
				"    k<<<n / 128, 128>>>(d, d_old, n);\n"},
		{"macros, a launch without braces", between.DoubleBuffer, shift("", macroHost),
			"    CHECK(cudaMalloc((void **)&d, n * sizeof(int)));\n    int *d_old;\n" +
				"    CHECK(cudaMalloc((void **)&d_old, n * sizeof(int)));\n    if (n > 0) {\n"},
		{"an expression as an argument", between.GridSync,
			shift("", replace("(d, n)", "(d + 0, n)")),
			"    int *a_arg = d + 0;\n    void *args[] = {&a_arg, &n};\n"},
		{"another type", between.GridSync,
			shift("", replace("int n =", "short n =")),
			"    int n_arg = n;\n    void *args[] = {&d, &n_arg};\n"},
		{"shared memory and a stream", between.GridSync,
			shift("", strings.Replace(replace("128>>>", "128, 64, s>>>"), "void go()",
				"void go(cudaStream_t s)", 1)), "(void *)k, n / 128, 128, args, 64, s);"},
		{"a stream", between.DoubleBuffer,
			shift("", strings.Replace(replace("128>>>", "128, 0, s>>>"), "void go()",
				"void go(cudaStream_t s)", 1)), "cudaMemcpyAsync(d_old, d, n * sizeof(int), " +
				"cudaMemcpyDeviceToDevice, s);"},
		{"tabs and the line ends of Windows", between.GridSync, windows(shift("", plainHost)),
			"\tvoid *args[] = {&d, &n};\r\n\tcudaLaunchCooperativeKernel("},
		{"tabs and the line ends of Windows", between.Split, windows(shift("", plainHost)),
			"\tint v = v_saved[i];\r\n\ta[i] = v;\r\n}\r\n"},
		{"one line", between.GridSync,
			shift("", "void go(int *d) { k<<<8, 128>>>(d, 1024); }\n"),
			"{ int n_arg = 1024; void *args[] = {&d, &n_arg}; cudaLaunchCooperativeKernel("},
		{"comments", between.Split, "// The kernel.\n" + shift("    // Read.\n    int v = a[(i + 1) % n]; "+
			"// next\n\n    // Write.\n    a[i] = v;\n", plainHost),
			"    // Read.\n    int v = a[(i + 1) % n]; // next\n    v_saved[i] = v;\n}\n\n" +
				"__global__ void k_2(int *a, const int *v_saved) {\n" +
				"    int i = blockIdx.x * blockDim.x + threadIdx.x;\n    int v = v_saved[i];\n" +
				"    // Write.\n    a[i] = v;\n}\n"},

		{"the pointer changes", between.DoubleBuffer,
			shift("", replace("    k<<<", "    d = nullptr;\n    k<<<")), "because k.cu:10: d may point"},
		{"another pointer to the buffer", between.DoubleBuffer,
			shift("", replace("    k<<<", "    int *e = d;\n    k<<<")),
			"because k.cu:10: another variable"},
		{"the size changes", between.DoubleBuffer,
			shift("", replace("    k<<<", "    n++;\n    k<<<")), "because k.cu:10: n may change"},
		{"allocated in another block", between.DoubleBuffer,
			shift("", replace("    cudaMalloc(&d, n * sizeof(int));",
				"    { cudaMalloc(&d, n * sizeof(int)); }")),
			"because k.cu:9: the block in which d is allocated"},
		{"a declaration elsewhere", between.Split,
			"__global__ void k(int *a, int n);\n" + shift("", plainHost), "because k.cu:1: k is used here"},
		{"a pointer to the kernel", between.GridSync,
			shift("", plainHost+"void *address() { return (void *)k; }\n"),
			"because k.cu:13: k is used here"},
		{"a launch by a macro", between.GridSync,
			shift("", "#define RUN(f) f<<<8, 128>>>(d, 1024)\nvoid go(int *d) { RUN(k); }\n"),
			"because k.cu:7: k is used here"},
		{"part of a statement", between.Split,
			shift("", replace("    k<<<n / 128, 128>>>(d, n);",
				"    n > 0 ? k<<<n / 128, 128>>>(d, n) : (void)0;")),
			"because k.cu:10: the launch is only a part of a statement"},
		{"a template", between.GridSync,
			strings.NewReplacer("k<<<", "k<int><<<").Replace("template <typename T> " +
				strings.Replace(shift("", plainHost), "int *a", "T *a", 1)),
			"because k.cu:1: k is a template"},
		{"a launch that calls", between.Split,
			"int blocks() { return 8; }\n" + shift("", replace("n / 128, 128", "blocks(), 128")),
			"because k.cu:11: blocks() may do more"},
	} {
		t.Run(c.name+" "+c.means.String(), func(t *testing.T) {
			long.Sample(t, 4)
			fixBetween(t, c.means, c.text, c.want)
		})
	}
}

// What the statements of a kernel do decides whether it can be divided.
func TestBetweenDivided(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"a value is saved", "", "    int v = a[(i + 1) % n];\n    v_saved[i] = v;\n}\n"},
		{"values are computed again", "    int j = i + 1;\n    if (j >= n)\n        j = 0;\n" +
			"    int v = a[j];\n    a[i] = v + j;\n",
			"    int j = i + 1;\n    if (j >= n)\n        j = 0;\n" +
				"    int v = v_saved[i];\n    a[i] = v + j;\n"},
		{"a changed argument", "    n = n / 2 * 2;\n    int v = a[(i + 1) % n];\n    a[i] = v + n;\n",
			"    n = n / 2 * 2;\n    int v = v_saved[i];\n"},
		{"a return", "    if (i >= n)\n        return;\n    int v = a[(i + 1) % n];\n    a[i] = v;\n",
			"    if (i >= n)\n        return;\n    int v = v_saved[i];\n"},
		{"a return with an effect", "    if (i >= n) {\n        a[i] = 0;\n        return;\n    }\n" +
			"    int v = a[(i + 1) % n];\n    a[i] = v;\n", "because"},
		{"an address", "    int v = 0;\n    int *p = &v;\n    *p = a[(i + 1) % n];\n    a[i] = v;\n",
			"because k.cu:4: a pointer or a reference to v"},
		{"a reference", "    int v = 0;\n    int &p = v;\n    p = a[(i + 1) % n];\n    a[i] = v;\n",
			"because k.cu:4: a pointer or a reference to v"},
		{"an array", "    int v[2];\n    v[i % 2] = a[(i + 1) % n];\n    a[i] = v[i % 2];\n",
			"because k.cu:4: v is used on both sides"},
		{"a directive", "    int v = a[(i + 1) % n];\n#if 1\n    a[i] = v;\n#endif\n",
			"because k.cu:4: a preprocessor directive"},
		{"steps", "    for (int s = 0; s < n / 512; s++) {\n        int v = a[(i + 1) % n];\n" +
			"        __syncthreads();\n        a[i] = v;\n        __syncthreads();\n    }\n",
			"    for (int s = 0; s < n / 512; s++) {\n        k_1<<<"},
		{"a value from step to step", "    int sum = 0;\n    for (int s = 0; s < n / 512; s++) {\n" +
			"        sum += a[(i + 1) % n];\n        __syncthreads();\n        a[i] = sum;\n" +
			"        __syncthreads();\n    }\n", "because k.cu:5: sum passes from one iteration"},
		{"a step that ends early", "    for (int s = 0; s < n / 512; s++) {\n" +
			"        int v = a[(i + 1) % n];\n        __syncthreads();\n        a[i] = v;\n" +
			"        __syncthreads();\n        if (n == 7)\n            break;\n    }\n",
			"because k.cu:3: the loop has a break"},
	} {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 4)
			fixBetween(t, between.Split, shift(c.body, plainHost), c.want)
		})
	}
}

// A copy replaces a read only if no write can come before it.
func TestBetweenCopied(t *testing.T) {
	for _, c := range []struct{ name, body, want string }{
		{"before the write", "", "    int v = a_old[(i + 1) % n];\n    a[i] = v;\n"},
		{"in the statement of the write", "    a[i] = a[(i + 1) % n] + a[i];\n",
			"    a[i] = a_old[(i + 1) % n] + a_old[i];\n"},
		{"an update", "    a[i] += a[(i + 1) % n];\n", "    a[i] += a_old[(i + 1) % n];\n"},
		{"pointer arithmetic", "    int v = *(a + (i + 1) % n);\n    *(a + i) = v;\n",
			"    int v = *(a_old + (i + 1) % n);\n    *(a + i) = v;\n"},
		{"in the other branch", "    if (i % 2 == 0)\n        a[i] = 1;\n    else\n" +
			"        a[i] = a[(i + 1) % n];\n", "        a[i] = a_old[(i + 1) % n];\n"},
		{"behind the write", "    a[i] = i;\n    int v = a[(i + 1) % n];\n    a[i] = v;\n",
			"because k.cu:4: a may be read here after the kernel wrote it"},
		{"in a loop with the write", "    for (int s = 0; s < 2; s++)\n        a[i] = a[(i + 1) % n];\n",
			"because k.cu:4: a may be read here after the kernel wrote it"},
		{"an alias", "    int *b = a + 1;\n    int v = b[i];\n    a[i] = v;\n",
			"because k.cu:3: a is used here other than as an element"},
	} {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 3)
			fixBetween(t, between.DoubleBuffer, shift(c.body, plainHost), c.want)
		})
	}
}

// Several means are tried in the order of their costs, whatever the order of the flags; the first that
// repairs is the patch. Without any, the reason names those that would do, and nothing changes.
func TestBetweenSeveral(t *testing.T) {
	all := []between.Means{between.DoubleBuffer, between.Split, between.GridSync}
	shared := "    __shared__ int s[128];\n    s[threadIdx.x] = a[(i + 1) % n];\n" +
		"    __syncthreads();\n    a[i] = s[threadIdx.x];\n"
	missing := strings.Replace(shared, "    __syncthreads();\n    a[i] = s[threadIdx.x]",
		"    a[i] = s[127 - threadIdx.x]", 1)
	second := strings.NewReplacer(" k(", " m(", "k<<<", "m<<<", "go()", "went()").Replace(
		shift("", plainHost))
	for _, c := range []struct {
		name, text string
		allow      []between.Means
		would      string // at the end of each reason
		repair     []string
	}{
		{"all", shift("", plainHost), all, "", []string{"grid-sync", "split", "double-buffer"}},
		{"two", shift("", plainHost), all[:2], "", []string{"split", "double-buffer"}},
		{"one of two", shift(shared, plainHost), all[:2], "", []string{"double-buffer"}},
		{"none", shift("", plainHost), nil,
			"; --allow grid-sync, split or double-buffer would repair it", nil},
		{"two would", shift(shared, plainHost), nil,
			"; --allow grid-sync or double-buffer would repair it", nil},
		{"a barrier is missing, too", shift(missing, plainHost), nil,
			"; --allow grid-sync or double-buffer would repair it", nil},
		{"a barrier is missing, too", shift(missing, plainHost), all, "",
			[]string{"grid-sync", "double-buffer"}},
		{"no host code", "// heddle: grid=8 block=128\n" +
			shift("    int v = a[i ^ 128];\n    a[i] = v;\n", ""), nil,
			"a block barrier does not order them", nil},
		{"two kernels", shift("", plainHost) + second, all, "",
			[]string{"grid-sync", "split", "double-buffer"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			long.Sample(t, 2)
			opt := Options{Source: true, Between: c.allow,
				Common: driver.Options{Files: source.NewSet(), Limit: 20}}
			in := driver.Input{Input: lower.Input{Name: "k.cu", Content: []byte(c.text)}}
			res, err := File(t.Context(), opt, in, func(diag.Diagnostic) {})
			if err != nil || len(res.Fixes) == 0 {
				t.Fatalf("%v", err)
			}
			for i := range res.Fixes {
				betweenResult(t, &res.Fixes[i], c.would, c.repair)
			}
			if c.repair == nil {
				return
			}
			again, err := File(t.Context(), Options{Source: true, Common: driver.Options{Limit: 20}},
				driver.Input{Input: lower.Input{Name: "k.cu", Content: res.Patched}},
				func(diag.Diagnostic) {})
			if err != nil || len(again.Fixes) == 0 {
				t.Fatal(err)
			}
			for _, f := range again.Fixes {
				if f.Status != NothingToFix || f.After.Kind != diag.Verified {
					t.Errorf("the patched file: %v, %v: %s", f.Status, f.After.Kind, f.Why)
				}
			}
		})
	}
}

// betweenResult compares the result of one kernel: the means that repair it, or the end of the reason.
func betweenResult(t *testing.T, f *Kernel, would string, repair []string) {
	t.Helper()
	why := strings.Join(append([]string{f.Why}, f.Remaining...), "\n")
	if !strings.HasSuffix(why, would) || (f.Status == Repaired) != (repair != nil) {
		t.Errorf("%v: %q; want %q", f.Status, why, would)
	}
	var got []string
	for i := range f.Between {
		if b := &f.Between[i]; b.Why == "" {
			got = append(got, b.Means.String())
		}
	}
	if strings.Join(got, " ") != strings.Join(repair, " ") {
		t.Errorf("repaired by %q, want %q: %q", got, repair, why)
	}
}

// fixBetween repairs a text by one means, and expects a patch with a text, or a reason.
func fixBetween(t *testing.T, m between.Means, text, want string) {
	t.Helper()
	opt := Options{Source: true, Between: []between.Means{m},
		Common: driver.Options{Files: source.NewSet(), Limit: 20}}
	in := driver.Input{Input: lower.Input{Name: "k.cu", Content: []byte(text)}}
	res, err := File(t.Context(), opt, in, func(diag.Diagnostic) {})
	if err != nil || len(res.Fixes) != 1 {
		t.Fatalf("%v", err)
	}
	f := &res.Fixes[0]
	if strings.HasPrefix(want, "because") {
		if f.Status == Repaired || !strings.Contains(f.Why, want) || res.Diff != "" {
			t.Errorf("%v, %q; want %q", f.Status, f.Why, want)
		}
		return
	}
	if f.Status != Repaired || f.Source.Kind != diag.Verified {
		t.Fatalf("%v, %v: %s", f.Status, f.Source.Kind, f.Why)
	}
	if !strings.Contains(string(res.Patched), want) {
		t.Errorf("want\n%s\nin\n%s", want, res.Patched)
	}
}
