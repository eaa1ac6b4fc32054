package lower

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/testing/long"
)

// TestEveryBuiltin compiles the definitions of all names, in each version of the language.
func TestEveryBuiltin(t *testing.T) {
	tc, err := findToolchain(t.Context(), "", &probeCache{})
	if err != nil {
		t.Fatal(err)
	}
	names := slices.Sorted(maps.Keys(clBuiltins()))
	for _, to := range clAll {
		for _, n := range []string{"", "4"} {
			names = append(names, "as_"+to.name+n)
			for _, mode := range []string{"", "_rte", "_rtz", "_rtp", "_rtn"} {
				names = append(names, "convert_"+to.name+n+mode)
				if !to.float {
					names = append(names, "convert_"+to.name+n+"_sat"+mode)
				}
			}
		}
	}
	root, err := writeHeaders(testCache)
	if err != nil {
		t.Fatal(err)
	}
	stds := []string{"CL1.0", "CL2.0", "CL3.0"}
	if long.All() {
		stds = append(stds, "CL1.1", "CL1.2")
	}
	for _, std := range stds {
		t.Run(std, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			source := filepath.Join(dir, "k.cl")
			if err := os.WriteFile(source, []byte("kernel void k(global int *p) { *p = 1; }\n"),
				0o644); err != nil {
				t.Fatal(err)
			}
			b := &build{tc: tc, name: source, path: source, headers: root, tmp: dir, cl: &openCL{std: std}}
			b.cl.prelude = filepath.Join(dir, "builtins.h")
			text := clPrelude(names, b.cl.generic())
			for _, n := range names {
				since20 := strings.HasPrefix(n, "atomic_") && clLegacy[n[len("atomic_"):]] == "" &&
					!b.cl.generic()
				if !since20 && !strings.Contains(text, " "+n+"(") && !strings.Contains(text, "opencl/") {
					t.Errorf("%s is not defined", n)
				}
			}
			if err := os.WriteFile(b.cl.prelude, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			out, err := exec.CommandContext(t.Context(), tc.Clang,
				b.clangArgs("-fsyntax-only", "-Wno-unused-command-line-argument")...).CombinedOutput()
			if err != nil || len(out) > 0 {
				t.Errorf("%v\n%s", err, clip(string(out), 4000))
			}
		})
	}
}

// componentCases access parts of vectors: the PTX must access exactly the components that the
// source names.
var componentCases = []struct {
	name string
	body string // p is global float4 *, f global float3 *, q global float *
	want map[string]int
}{
	{"write of a component", `p[3].y = 1;`,
		map[string]int{`st\.global\.(f32|u32|b32)`: 1, `st\.`: 1, `ld\.global`: 0}},
	{"read of a component", `q[0] = p[3].y;`, map[string]int{`ld\.global\.f32`: 1, `ld\.global`: 1}},
	{"component of itself", `p[3].x += p[3].y;`,
		map[string]int{`ld\.global\.f32`: 2, `ld\.global`: 2, `st\.global`: 1}},
	{"write of a swizzle", `p[3].xw = (float2)(1, 2);`,
		map[string]int{`st\.global`: 2, `ld\.global`: 0}},
	{"write of a reversed swizzle", `p[3].wx = (float2)(q[0], 2);`,
		map[string]int{`st\.global`: 2, `ld\.global`: 1}},
	{"read of a swizzle", `float2 v = p[3].zy; q[0] = v.x; q[1] = v.y;`,
		map[string]int{`ld\.global`: 2}},
	{"a component twice", `float4 v = p[3].xxyy; q[0] = v.x + v.w;`, map[string]int{`ld\.global`: 2}},
	{"swizzle to swizzle", `p[2].xy = p[3].zw;`, map[string]int{`ld\.global`: 2, `st\.global`: 2}},
	{"all components in another order", `p[2].wzyx = p[3];`,
		map[string]int{`st\.global\.v4`: 1, `ld\.global\.v4`: 1, `ld\.global`: 1}},
	{"subscript", `p[3][i] = q[0];`, map[string]int{`st\.global\.(f32|u32|b32)`: 1, `ld\.global`: 1}},
	{"read by subscript", `q[0] = p[3][i];`, map[string]int{`ld\.global`: 1, `st\.global`: 1}},
	{"half of a vector", `p[3].hi = p[2].even;`, map[string]int{`ld\.global`: 2, `st\.global`: 2}},
	{"constants to a half", `p[3].hi = (float2)(1, 2);`, map[string]int{`st\.global`: 2, `ld\.global`: 0}},
	{"constants to all components", `p[3].wzyx = (float4)(1, 2, 3, 4);`,
		map[string]int{`st\.global\.v4`: 1, `st\.global`: 1, `ld\.global`: 0}},
	{"constant element of local memory",
		`local float4 t[4]; t[3].zw = (float2)(1, 2); t[2].x = q[0]; q[1] = t[3].y; q[2] = t[0].z;`,
		map[string]int{`st\.shared\.(f32|u32|b32)`: 3, `st\.shared`: 3, `ld\.shared`: 2}},
	{"complete vector", `p[3] = p[2];`, map[string]int{`ld\.global\.v4`: 1, `st\.global\.v4`: 1}},
	{"complete vector, one component used", `float4 v = p[2]; q[0] = v.x;`,
		map[string]int{`ld\.global`: 1}},
	{"component of three", `f[3].y = q[0];`,
		map[string]int{`st\.global\.(f32|u32|b32)`: 1, `ld\.global`: 1}},
	{"read of a component of three", `q[0] = f[3].z;`,
		map[string]int{`ld\.global\.f32`: 1, `ld\.global`: 1}},
	{"swizzle of three", `f[3].zx = f[2].xy;`, map[string]int{`st\.global`: 2, `ld\.global`: 2}},
	{"local memory", `local float4 t[4]; t[i].z = q[0]; q[1] = t[i + 1].z;`,
		map[string]int{`st\.shared\.(f32|u32|b32)`: 1, `st\.shared`: 1, `ld\.shared`: 1}},
	// No access is removed, and none is atomic (OpenCL 2.0, 3.3.4).
	{"volatile", `volatile global float4 *v = p; v[1].x = 1; v[1].x = 2; v[2].y; q[0] = v[2].y;`,
		map[string]int{`st\.global\.(f32|u32|b32)`: 3, `ld\.global\.f32`: 2, `volatile`: 0}},
	{"dead stores", `p[3].y = 1; p[3].y = 2;`, map[string]int{`st\.global`: 2}},
	{"unused read", `float x = p[3].y;`, map[string]int{`ld\.global`: 1}},
	{"a local vector is not memory", `float4 v = (float4)(q[0]); v.x = q[1]; v.zw = v.xy; p[0] = v;`,
		map[string]int{`ld\.global`: 2, `st\.global\.v4`: 1, `(ld|st)\.(u32|f32|local)`: 0}},
	{"16 components", `global float16 *w = (global float16 *)p; w[1].sf = 1; q[0] = w[2].sa;`,
		map[string]int{`st\.global`: 2, `ld\.global`: 1}},
	{"array element of a struct",
		`struct S { int a; float2 b; }; global struct S *s = (global struct S *)p; s[2].b.y = 1;`,
		map[string]int{`st\.global`: 1, `ld\.global`: 0}},
	{"atomics", `atomic_add((global int *)q, 1); atomic_inc((global int *)q);`,
		map[string]int{`atom\.global\.add`: 2}},
	{"barrier", `barrier(CLK_LOCAL_MEM_FENCE);`,
		map[string]int{`\.pragma "heddle\.order shared"`: 1, `bar\.sync`: 1}},
	{"barrier with both flags", `barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);`,
		map[string]int{`\.pragma`: 0, `bar\.sync`: 1}},
	{"fence", `atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_release, memory_scope_device);`,
		map[string]int{`\.pragma "heddle\.order global"`: 1, `fence\.release\.gpu`: 1, `fence`: 1}},
	{"explicit atomic", `atomic_fetch_add_explicit((global atomic_int *)q, 1, memory_order_acquire, memory_scope_work_group);`,
		map[string]int{`\.pragma "heddle\.order global"`: 1, `atom\.acquire\.cta\.global\.add`: 1,
			`atom`: 1}},
	{"sequentially consistent atomic", `atomic_fetch_add((global atomic_int *)q, 1);`,
		map[string]int{`\.pragma`: 0, `atom\.acq_rel\.gpu\.global\.add`: 1, `atom`: 1}},
}

func TestOpenCLAccesses(t *testing.T) {
	var src strings.Builder
	for i, c := range componentCases {
		fmt.Fprintf(
			&src, "kernel void k%d(global float4 *p, global float3 *f, global float *q, int i) { %s }\n", i,
			c.body)
	}
	path := writeSource(t, "k.cl", src.String())
	eachCompiler(t, func(t *testing.T, compiler string) {
		r, err := File(t.Context(), path, Options{Compiler: compiler, CacheDir: testCache})
		if err != nil {
			t.Fatal(err)
		}
		bodies := strings.Split(string(r.PTX), ".visible .entry ")[1:]
		for i, c := range componentCases {
			for pattern, want := range c.want {
				if got := count([]byte(bodies[i]), pattern); got != want {
					t.Errorf("%s: %d instructions %s, want %d\n%s", c.name, got, pattern, want, bodies[i])
				}
			}
		}
	})
}

// TestBuiltinNames checks which definitions a text needs.
func TestBuiltinNames(t *testing.T) {
	for _, c := range []struct{ text, want, unsupported string }{
		{"kernel void k() { x = sin(y) + max(1, 2); }", "sin max", ""},
		{"float sin(float x) { return x; } kernel void k() { sin(cos(1)); }", "cos", ""},
		{"float sin(float x); kernel void k() { sin(1); }", "sin", ""},
		{"__attribute__((overloadable)) float dot(int a) __attribute__((pure)) { return a; }", "", ""},
		{"constant int length = 3, mix[2] = {1, 2}; typedef int step; kernel void k() { length; mix; step; exp(1); }", "exp", ""},
		{"kernel void k() { \"sin\"; 'c'; \"a\\\"cos(\"; tan(1); }", "tan", ""},
		{"kernel void k() { convert_int4_sat_rte(as_float(x)); convert_int5(x); }",
			"convert_int4_sat_rte as_float", ""},
		{"kernel void k() { enqueue_kernel(); read_pipe(); }", "", "enqueue_kernel read_pipe"},
		{"int read_pipe(int x) { return x; } kernel void k() { read_pipe(1); }", "", ""},
		{"kernel void k() { \"unterminated\n sin(1); }", "sin", ""},
		{"kernel void k() { )))}}} ;;; min(", "min", ""},
	} {
		names, unsupported := clNames(c.text)
		if got := strings.Join(names, " "); got != c.want ||
			strings.Join(unsupported, " ") != c.unsupported {
			t.Errorf("%s: %q, %q; want %q, %q", c.text, got, unsupported, c.want, c.unsupported)
		}
	}
}

// FuzzBuiltinNames checks that no text makes the scan fail.
func FuzzBuiltinNames(f *testing.F) {
	f.Add("kernel void k() { \"\\")
	f.Add("'")
	f.Add("float sin(float) = {")
	f.Fuzz(func(t *testing.T, text string) { clNames(text) })
}

// A kernel of OpenCL C that does not compile costs itself, as in CUDA C++. Where one declaration of
// the text defines several kernels, or a header is missing, the file is rejected.
func TestOpenCLOmitted(t *testing.T) {
	const good = "kernel void good(global int *p) { p[get_global_id(0)] = 1; }\n"
	cases := []struct{ name, src, want string }{
		{"body", good + "kernel void bad(global int *p) { p[0] = missing(1); }\n",
			"bad: undeclared identifier 'missing'"},
		{"function", "int f(int x) { return missing(x); }\n" + good +
			"__kernel void bad(global int *p) { p[0] = f(1); }\n", "bad: it needs f, which does not compile"},
		{"signature", good + "kernel void bad(global REAL *p) { p[0] = 1; }\n", "bad: unknown type name"},
		{"pipe", good + "kernel void bad(read_only pipe int in, global int *p) { int v; if (!read_pipe(in, &v)) *p = v; }\n",
			"bad: read_pipe: heddle does not support pipes"},
		{"enqueues", "kernel void bad(queue_t q, global int *p) { enqueue_kernel(q, 0, ndrange_1D(1), ^{ *p = 1; }); }\n" + good,
			"bad: enqueue_kernel: heddle does not support kernels that enqueue kernels"},
		{"kernels of macros", "#define K(N, X) kernel void N(global int *p) { p[0] = X; }\n" +
			"K(one, 1)\nK(two, missing(1))\nK(three, 3)\n" + good, ""},
		{"missing header", "#include \"missing.h\"\n" + good, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r, err := File(t.Context(), writeSource(t, "k.cl", c.src), Options{CacheDir: testCache})
			if c.want == "" {
				if err == nil {
					t.Errorf("kernels %v, omitted %v, want an error", r.Kernels, r.Omitted)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			name, reason, _ := strings.Cut(c.want, ": ")
			if len(r.Kernels) != 1 || len(r.Omitted) != 1 || r.Omitted[0].Name != name ||
				!strings.Contains(r.Omitted[0].Reason, reason) {
				t.Errorf("kernels %v, omitted %v, want %s", r.Kernels, r.Omitted, c.want)
			}
		})
	}
}
