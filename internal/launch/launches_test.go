package launch

import (
	"fmt"
	"strings"
	"testing"

	"heddle/internal/ir"
)

// launchesOf returns one line for each launch of k, the kernel of package tests.
func launchesOf(t *testing.T, src string, words ...string) []string {
	t.Helper()
	f := cuda(t, src)
	configs, errs := Launches(kernel(ir.CtaidX), request(t, words...), ScanCUDA(f, nil))
	var out []string
	if configs == nil {
		configs = &HostLaunches{}
	}
	for _, c := range configs.Configs {
		out = append(out, fmt.Sprintf("line %d: grid %s, block %s, n = %s", c.Launch.Start.Line(),
			Dims(c.Geometry.Grid), Dims(c.Geometry.Block), c.Args[2].Value()))
	}
	for _, e := range errs {
		out = append(out, "error: "+e.Msg)
	}
	return out
}

// A kernel must be right for each launch of its program, so none is left out unless it repeats
// another one.
func TestLaunches(t *testing.T) {
	tests := []struct {
		name, src string
		words     []string
		want      []string
	}{
		{"two shapes", "void f() {\nk<<<1, 64>>>(a, b, 4, 1, s);\nk<<<2, 64>>>(a, b, 4, 1, s); }", nil,
			[]string{"line 2: grid 1, block 64, n = 4", "line 3: grid 2, block 64, n = 4"}},
		{"two arguments", "void f() {\nk<<<1, 64>>>(a, b, 4, 1, s);\nk<<<1, 64>>>(a, b, 5, 1, s); }", nil,
			[]string{"line 2: grid 1, block 64, n = 4", "line 3: grid 1, block 64, n = 5"}},
		{"equal", "void f() {\nk<<<1, 64>>>(a, b, 4, 1, s);\nk<<<1, 64>>>(a, b, 4, 1, s); }", nil,
			[]string{"line 2: grid 1, block 64, n = 4"}},
		{"two places in a buffer", "void f() {\nk<<<1, 64>>>(a, a, 4, 1, s);\nk<<<1, 64>>>(a, a + 1, 4, 1, s); }", nil,
			[]string{"line 2: grid 1, block 64, n = 4", "line 3: grid 1, block 64, n = 4"}},
		{"another kernel", "void f() {\nj<<<1, 64>>>(a);\nk<<<2, 64>>>(a, b, 4, 1, s); }", nil,
			[]string{"line 3: grid 2, block 64, n = 4"}},
		{"the flags differ from both", "void f() {\nk<<<1, 64>>>(a, b, 4, 1, s);\nk<<<2, 64>>>(a, b, 4, 1, s); }",
			[]string{"grid=3"}, []string{"line 2: grid 3, block 64, n = 4"}},
		{"no host code", "", []string{"n=3"}, []string{"line 0: grid 4, block 64, n = 3"}},
		{"one is impossible", "void f() {\nk<<<1, 2048>>>(a, b, 4, 1, s);\nk<<<2, 64>>>(a, b, 4, 1, s); }",
			nil, []string{"line 3: grid 2, block 64, n = 4"}},
		{"all are impossible", "void f() {\nk<<<1, 2048>>>(a, b, 4, 1, s);\nk<<<1, 4096>>>(a, b, 4, 1, s); }",
			nil, []string{"error: block 2048 (host code) has 2048 threads; a block has at most 1024"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			got := launchesOf(t, tt.src, tt.words...)
			if strings.Join(got, "\n") != strings.Join(tt.want, "\n") {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// What is left out is said.
func TestLaunchesLeftOut(t *testing.T) {
	var b strings.Builder
	b.WriteString("void f() { k<<<1, 2048>>>(a, b, 0, 1, s);\n")
	for i := range maxLaunches + 3 {
		fmt.Fprintf(&b, "k<<<%d, 64>>>(a, b, 4, 1, s);\n", i+1)
	}
	b.WriteString("}")
	configs, errs := Launches(kernel(ir.CtaidX), Request{}, ScanCUDA(cuda(t, b.String()), nil))
	if len(errs) > 0 || len(configs.Configs) != maxLaunches || configs.Left != 3 {
		t.Fatalf("%d launches, %d left, %v", len(configs.Configs), configs.Left, errs)
	}
	const want = "the launch in line 1 of the host code is not examined: block 2048"
	if f := configs.Failed; len(f) != 1 || !strings.Contains(f[0].Msg, want) || f[0].Span.Start.Line() != 1 {
		t.Errorf("got %v, want %q", f, want)
	}
}

// A caller resolves one of the launches again, with other values.
func TestLaunchAgain(t *testing.T) {
	facts := ScanCUDA(cuda(t, "void f() { k<<<1, 64>>>(a, b, 4, 1, s); k<<<2, 32>>>(a, b, 4, 1, s); }"),
		nil)
	k := kernel(ir.CtaidX)
	all, errs := Launches(k, Request{}, facts)
	if len(errs) > 0 || len(all.Configs) != 2 {
		t.Fatal(all, errs)
	}
	req := request(t, "n=9")
	req.Host = all.Configs[1].Host
	c := resolve(t, k, req, facts)
	if c.Launch != all.Configs[1].Launch || c.Geometry != all.Configs[1].Geometry || c.Args[2].Value() != "9" {
		t.Errorf("got %s", c.Describe())
	}
}

// An earlier launch of the kernel may have changed what this one finds, unless something has set it
// since: the host, another kernel, or code that heddle does not know.
func TestAgain(t *testing.T) {
	const once = "k<<<1, 64>>>(a, b, 4, 1, s); "
	for _, c := range []struct {
		name, body string
		memory     bool // a, which the host allocates
		variable   bool // of the device
	}{
		{"one launch", once, false, false},
		{"two launches", once + once, true, true},
		{"a loop", "for (int i = 0; i < n; i++) { " + once + "}", true, true},
		{"a loop that always ends early", "for (int i = 0; i < n; i++) { " + once + "break; }", false, false},
		{"the host sets it", once + "cudaMemset(a, 0, 4); " + once, false, true},
		{"the host sets a part of it", once + "cudaMemset(a + 1, 0, 2); " + once, false, true},
		{"in each iteration", "for (int i = 0; i < n; i++) { cudaMemset(a, 0, 4); " + once + "}", false, true},
		{"another kernel may", once + "clear<<<1, 64>>>(a); " + once, false, false},
		{"another kernel with other memory", once + "clear<<<1, 64>>>(b); " + once, true, false},
		{"an unknown function may", once + "clear(a); " + once, false, true},
		{"on one path", "if (n > 0) { " + once + "} " + once, false, false},
		{"on both paths", "if (n > 0) { " + once + "} else { " + once + "} " + once, true, true},
		{"other memory", once + "k<<<1, 64>>>(b, a, 4, 1, s); ", true, true},
	} {
		facts := ScanCUDA(cuda(t, "void f(int n) { float *a, *b; cudaMalloc(&a, 4); cudaMalloc(&b, 4); "+
			c.body+"}"), nil)
		memory, variable := false, false
		for _, l := range facts.Launches {
			if l.Kernel == "k" {
				memory = memory || l.Args[0].Pointer.Again.IsValid()
				variable = variable || l.Again.IsValid()
			}
		}
		if memory != c.memory || variable != c.variable {
			t.Errorf("%s: memory %t, variable %t; want %t, %t", c.name, memory, variable, c.memory, c.variable)
		}
	}
}
