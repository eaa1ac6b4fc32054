package main

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
)

func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == workerFlag { // as the program does for each job
		if worker(os.Args[2], os.Stdin, os.Stdout) != nil {
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func TestScaleDown(t *testing.T) {
	tests := []struct {
		d     event.Dim3
		limit uint64
		want  event.Dim3
	}{
		{event.Dim3{X: 64, Y: 1, Z: 1}, 64, event.Dim3{X: 64, Y: 1, Z: 1}},
		{event.Dim3{X: 1024, Y: 1, Z: 1}, 64, event.Dim3{X: 64, Y: 1, Z: 1}},
		{event.Dim3{X: 64, Y: 64, Z: 1}, 64, event.Dim3{X: 8, Y: 8, Z: 1}}, // a square stays one
		{event.Dim3{X: 10, Y: 10, Z: 10}, 64, event.Dim3{X: 1, Y: 5, Z: 5}},
		{event.Dim3{X: 96, Y: 1, Z: 1}, 64, event.Dim3{X: 48, Y: 1, Z: 1}}, // still a multiple of 3
		{event.Dim3{X: 127, Y: 1, Z: 1}, 64, event.Dim3{X: 1, Y: 1, Z: 1}}, // a prime: 127/64
	}
	for _, tt := range tests {
		if got := scaleDown(tt.d, tt.limit); got != tt.want {
			t.Errorf("%v to %d: %v, want %v", tt.d, tt.limit, got, tt.want)
		}
	}
}

// C's precedence: | and & bind less tightly than == and more tightly than &&.
func TestExpr(t *testing.T) {
	env := func(name string) (int64, bool) {
		v, ok := map[string]int64{"n": 7, "m": 4, "blockDim.x": 64, "get_local_size(0)": 32}[name]
		return v, ok
	}
	tests := []struct {
		text string
		want int64
	}{
		{"n == 7 | n == 8", 1}, {"n == 1 | n == 2", 0}, {"n & 1 == 1", 1}, {"m & m - 1", 0},
		{"1 + 2 * 3", 7},
		{"-n + 10", 3}, {"!(n > 3) || m", 1}, {"n << 2 >> 1", 14}, {"__implies(n == 8, 0)", 1},
		{"__implies(n == 7, m == 3)", 0},
		{"blockDim.x / m == 16", 1}, {"get_local_size(0) % n", 4}, {"(int)n - 0x10u", -9},
		{"__is_pow2(m) && !__is_pow2(n)", 1},
		{"__mod_pow2(n, m)", 3},
	}
	for _, tt := range tests {
		e, _, _, err := parseExpr(tt.text)
		if err != nil {
			t.Errorf("%s: %v", tt.text, err)
			continue
		}
		if got, err := e(env); err != nil || got != tt.want {
			t.Errorf("%s = %d, %v; want %d", tt.text, got, err, tt.want)
		}
	}
	for _, bad := range []string{"", "n +", "a[3]", "f(n)", "n ? 1 : 2", "(n", "q.a->b", "n / 0",
		"missing"} {
		if e, _, _, err := parseExpr(bad); err == nil {
			if _, err = e(env); err == nil {
				t.Errorf("%q: no error", bad)
			}
		}
	}
}

// The arguments of a launch satisfy the preconditions.
func TestChoices(t *testing.T) {
	grid, block := event.Dim3{X: 4, Y: 1, Z: 1}, event.Dim3{X: 64, Y: 1, Z: 1}
	tests := []struct{ src, want string }{
		{`__global__ void k(int *a, int n) { __requires(n == blockDim.x); }`, "n=64"},
		{`__global__ void k(int n, int m) { __requires(n == 143); __requires(m == 2 * n); }`,
			"n=143 m=286"},
		{`__kernel void k(__global int *a, uint n) { /* __requires(n == 3); */ __requires(n > 1000 & __is_pow2(n)); }`, "n=1024"},
		{"#define LIMIT 99\n__kernel void k(unsigned int n) { __requires(n == LIMIT); }", "n=99"},
		{`typedef int (*fn)(int); __device__ int one(int x) { return 1; } __global__ void k(fn f) { __requires(f == one); }`, "f=func:one"},
		{`__global__ void k(int n) { __requires(a[n] == 3); }`, ""}, // not understood: the run decides
		{`__global__ void k(int n) { n = 3; }`, ""},
	}
	for _, tt := range tests {
		ks := kernelsOf(tt.src)
		if len(ks) != 1 {
			t.Errorf("%s: %d kernels", tt.src, len(ks))
			continue
		}
		if got := strings.Join(ks[0].choices(grid, block, nil)[0], " "); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.src, got, tt.want)
		}
	}
}

func TestGivenArguments(t *testing.T) {
	k := kernelsOf(`__kernel void foo(__local int *a, int x, struct pack p) {}`)[0]
	want := []string{"x=0x00000003", "p=hex:0400000003000000"}
	if got := k.given([]string{"0x00000003", "0x0000000300000004"}); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestAnnotated shows which sources get heddle.h.
func TestAnnotated(t *testing.T) {
	for src, want := range map[string]bool{
		"__kernel void k(__global int *p __attribute__((aligned(4)))) {}": false,
		"__global__ void k() { __shared__ int a; __syncthreads(); }":      false,
		"__kernel void k() { __assert(1); }":                              true,
		"kernel void k() { bool b; }":                                     true,
		"DECLARE_UF_UNARY(f, int, int)":                                   true,
	} {
		if got := annotated(src); got != want {
			t.Errorf("%s: %v, want %v", src, got, want)
		}
	}
}

func TestHeader(t *testing.T) {
	src := "//pass\n//--local_size=[16,16] --global_size=[64,32] -DN=3 --warp-sync=32 " +
		"--vcgen-opt=/checkArrays:A,B\n__kernel void k() {}\n"
	c, err := readCase("k", "k.cl", src)
	if err != nil {
		t.Fatal(err)
	}
	full := c.Jobs[len(c.Jobs)-1]
	if c.Expect != Pass || full.Grid != (event.Dim3{X: 4, Y: 2, Z: 1}) ||
		full.Block != (event.Dim3{X: 16, Y: 16, Z: 1}) ||
		full.Warp != event.Lockstep || full.Benign != event.BenignAll ||
		!slices.Equal(full.Defines, []string{"__HEDDLE_WORK_DIM=2", "N=3"}) || !slices.Equal(full.Exclude.Arrays, []string{"A", "B"}) {
		t.Errorf("%+v", c)
	}
	if first := c.Jobs[0]; first.Grid.Count() > maxBlocks || first.Block.Count() > maxThreads ||
		first.Note == "" {
		t.Errorf("not made smaller: %+v", first)
	}
	for _, bad := range []string{"", "//pass", "int x;\n\n\n", "//maybe\n//\n\n",
		"//pass\n//--blockDim=x\n\n", "//pass\n//--gridDim=0\n\n"} {
		if _, err := readCase("k", "k.cu", bad); err == nil {
			t.Errorf("%q: no error", bad)
		}
	}
}

func TestExclusion(t *testing.T) {
	race := Finding{Code: "race-global", Memory: "global A"}
	for _, tt := range []struct {
		e    Exclusion
		want bool
	}{{Exclusion{}, false}, {Exclusion{Races: true}, true}, {Exclusion{Arrays: []string{"B"}}, true},
		{Exclusion{Arrays: []string{"B", "A"}}, false}} {
		if tt.e.has(&race) != tt.want {
			t.Errorf("%+v", tt.e)
		}
	}
	if e := (Exclusion{Races: true}); e.has(&Finding{Code: "barrier-divergence"}) ||
		e.has(&Finding{Code: "annotation-failed"}) {
		t.Error("divergence or annotations are excluded")
	}
}

func TestLabelPattern(t *testing.T) {
	for _, tt := range []struct {
		pattern, s string
		want       bool
	}{{"*", "GLOBAL 1x2", true}, {"SHARED* 2x1", "SHARED 2x1", true},
		{"SHARED* 2x1", "SHARED WW 2x1", true}, {"* 2x1", "SHARED 1x33", false},
		{"2x1", "A 2x1", false}} {
		if matches(tt.pattern, tt.s) != tt.want {
			t.Errorf("%q %q", tt.pattern, tt.s)
		}
	}
}

// writeSuite writes a suite with a kernel for each case.
func writeSuite(t *testing.T, dir string, kernels map[string]string) {
	t.Helper()
	for name, text := range kernels {
		d := filepath.Join(dir, name)
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(d, "kernel.cu"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// TestProofs proves small kernels in the format of the suite. A proof of a kernel that should fail
// sets the exit code.
func TestProofs(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	kernels := map[string]string{
		"right": "//pass\n//--blockDim=256 --gridDim=64\n__global__ void k(int *a) { a[blockIdx.x * " +
			"256 + threadIdx.x] = 1; }\n",
		"racy": "//xfail:NOT_ALL_VERIFIED\n//--blockDim=64 --gridDim=1\n//possible race\n__global__ " +
			"void k(int *a) { a[0] = threadIdx.x; }\n",
		// GPUVerify's option: writes by different blocks do not count.
		"intra": "//pass\n//--blockDim=64 --gridDim=2 --only-intra-group\n__global__ void k(int *a) { " +
			"a[threadIdx.x] = blockIdx.x; }\n",
		"strict": "//xfail:NOT_ALL_VERIFIED\n//--blockDim=64 --gridDim=1 " +
			"--no-benign-tolerance\n__global__ void k(int *a) { a[0] = 1; }\n",
		"alarm": "//pass\n//--blockDim=64 --gridDim=1\n__global__ void k(int *a) { if (a[64] != " +
			"a[64]) a[0] = threadIdx.x; a[threadIdx.x / 2] = threadIdx.x; }\n",
		"broken": "//xfail:CLANG_ERROR\n//--blockDim=64 --gridDim=1\n__global__ void k(int *a) { a[0] " +
			"= ; }\n",
		// Options that say what counts: divergence, and races on b.
		"ordered": "//pass\n//--blockDim=64 --gridDim=1 --only-divergence\n__global__ void k(int *a) { " +
			"a[0] = threadIdx.x; __syncthreads(); }\n",
		"chosen": "//pass\n//--blockDim=64 --gridDim=1 --vcgen-opt=/checkArrays:b\n__global__ void " +
			"k(int *a, int *b) { a[0] = b[threadIdx.x] = threadIdx.x; }\n",
		"parted": "//xfail:NOT_ALL_VERIFIED\n//--blockDim=64 --gridDim=1 " +
			"--only-divergence\n__global__ void k(int *a) { if (threadIdx.x) __syncthreads(); }\n",
		// GPUVerify has no host: variables of the file are device memory, which threads share.
		"deviceright": "//pass\n//--blockDim=64 --gridDim=1\nint v[64];\n__shared__ int s[64];\n" +
			"__global__ void k() { s[threadIdx.x] = 1; v[threadIdx.x] = s[threadIdx.x]; }\n",
		"deviceracy": "//xfail:NOT_ALL_VERIFIED\n//--blockDim=64 --gridDim=1\nint v;\n" +
			"__global__ void k() { v = threadIdx.x; }\n",
		// Axioms, one of them about functions that GPUVerify makes of conversions.
		"assumed": "//pass\n//--blockDim=64 --gridDim=1 --boogie-file=${KERNEL_DIR}/axioms.bpl\n" +
			"DECLARE_UF_UNARY(f, int, int);\n__global__ void k(int n) { __assert(f(n) == n); }\n",
		// but a function of the host stays one
		"hosted": "//xfail:CLANG_ERROR\n//--blockDim=64 --gridDim=1\nint v;\nint f() { return v; }\n" +
			"__global__ void k() { v = f(); }\n",
	}
	writeSuite(t, filepath.Join(dir, "suite"), kernels)
	axioms := "axiom (forall x : bv32 :: f(x) == x);\naxiom (forall x : ptr :: P(F(x)) == x);\n"
	if err := os.WriteFile(filepath.Join(dir, "suite", "assumed", "axioms.bpl"), []byte(axioms),
		0o600); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := run([]string{"--engine", "verify", "--all", filepath.Join(dir, "suite")}, &out,
		&errs); code != 0 {
		t.Errorf("exit code %d\n%s%s", code, out.String(), errs.String())
	}
	if strings.Contains(out.String(), "no clang") {
		t.Skip("no clang")
	}
	for _, want := range []string{`right +pass +verified +agrees`, `racy +fail +bug +agrees`,
		`intra +pass +verified +agrees`, `strict +fail +bug +agrees`,
		`alarm +pass +bug +not proved`, `broken +rejected +error +rejected, as expected`,
		`ordered +pass +verified`, `chosen +pass +verified`, `parted +fail +bug`,
		`deviceright +pass +verified +agrees`, `deviceracy +fail +bug +agrees`,
		`hosted +rejected +error +rejected, as expected`,
		`assumed +pass +verified +agrees`, `expected pass: 7; 6 verified`, `queries: [1-9]`, `no kernel that should fail is verified`} {
		if !regexp.MustCompile(want).MatchString(out.String()) {
			t.Errorf("no %s in\n%s", want, out.String())
		}
	}
	writeSuite(t, filepath.Join(dir, "wrong"), map[string]string{
		"clean": "//xfail:NOT_ALL_VERIFIED\n//--blockDim=64 --gridDim=1\n__global__ void k(int *a) { " +
			"a[threadIdx.x] = 1; }\n",
	})
	out.Reset()
	if code := run([]string{"--engine", "verify", filepath.Join(dir, "wrong")}, &out,
		&errs); code != 1 || !strings.Contains(out.String(), "clean (unspecified): NO REASON KNOWN") {
		t.Errorf("exit code %d\n%s", code, out.String())
	}
}

// TestRun runs the program on small kernels in the format of the suite.
func TestRun(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	kernels := map[string]string{
		"right": "//pass\n//--blockDim=256 --gridDim=64\n__global__ void k(int *a, int n) { " +
			"__requires(n == blockDim.x); a[blockIdx.x * n + threadIdx.x] = 1; }\n",
		"racy": "//xfail:NOT_ALL_VERIFIED\n//--blockDim=64 --gridDim=1\n//possible " +
			"race\n__global__ void k(int *a) { a[0] = threadIdx.x; }\n",
		"alarm": "//pass\n//--blockDim=64 --gridDim=1\n__global__ void k(int *a) { a[0] = " +
			"threadIdx.x; }\n",
		"outside": "//pass\n//--blockDim=64 --gridDim=1\n__global__ void k(int *a) { __assume(a[1] != " +
			"a[1]); a[0] = threadIdx.x; }\n",
		"broken": "//xfail:CLANG_ERROR\n//--blockDim=64 --gridDim=1\n__global__ void k(int *a) { " +
			"a[0] = ; }\n",
		"unwanted": "//pass\n//--blockDim=64 --gridDim=1\n__global__ void k(int *a) { a[0] = ; }\n",
	}
	writeSuite(t, filepath.Join(dir, "suite"), kernels)
	var out, errs bytes.Buffer
	if code := run([]string{"--all", filepath.Join(dir, "suite")}, &out, &errs); code != 1 {
		t.Errorf("exit code %d\n%s%s", code, out.String(), errs.String())
	}
	if strings.Contains(out.String(), "no clang") {
		t.Skip("no clang")
	}
	want := map[string]string{
		"right": "agrees", "racy": "agrees", "alarm": "FALSE ALARM?", "outside": "outside",
		"broken": "rejected, as expected", "unwanted": "not reached",
	}
	for line := range strings.Lines(out.String()) {
		name, rest, _ := strings.Cut(line, " ")
		if w, ok := want[name]; ok {
			if !strings.Contains(rest, "  "+w+"  ") {
				t.Errorf("want %s: %s", w, line)
			}
			delete(want, name)
		}
	}
	if len(want) > 0 || !strings.Contains(out.String(), "5 of 6 completed") ||
		!strings.Contains(out.String(), "1  race: 1 with") {
		t.Errorf("missing %v in\n%s", want, out.String())
	}
	for _, args := range [][]string{{"--suite", "none", dir}, {"--engine", "none", dir}, {},
		{"--only", "(", dir}, {filepath.Join(dir, "missing")}} {
		if code := run(args, &out, &errs); code != 2 {
			t.Errorf("%q: exit code %d", args, code)
		}
	}
}
