package lower

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

// TestAddressBits: size_t, ptrdiff_t and pointers have the size of the device's addresses (OpenCL C
// 3.0, table of 6.3.1), so expressions with them have the values that arithmetic of that width gives.
func TestAddressBits(t *testing.T) {
	cases := []struct {
		expr string
		of   map[int]uint64 // the value by the bits of addresses
	}{
		{expr: "sizeof(size_t)", of: map[int]uint64{32: 4, 64: 8}},
		{expr: "sizeof(ptrdiff_t)", of: map[int]uint64{32: 4, 64: 8}},
		{expr: "sizeof(uintptr_t)", of: map[int]uint64{32: 4, 64: 8}},
		{expr: "sizeof(__global int *)", of: map[int]uint64{32: 4, 64: 8}},
		{expr: "sizeof(long)", of: map[int]uint64{32: 8, 64: 8}},
		{expr: "(size_t)-1", of: map[int]uint64{32: 1<<32 - 1, 64: 1<<64 - 1}},
		{expr: "(size_t)0xffffffff + 1", of: map[int]uint64{32: 0, 64: 1 << 32}},
		{expr: "(size_t)1 << 31 << 1", of: map[int]uint64{32: 0, 64: 1 << 32}},
		{expr: "(ulong)(ptrdiff_t)0x80000000u", of: map[int]uint64{32: 0xffffffff80000000, 64: 0x80000000}},
	}
	for _, bits := range []int{32, 64} {
		var src strings.Builder
		for i, c := range cases {
			fmt.Fprintf(&src, "kernel void k%d(global ulong *p) { p[0] = %s; }\n", i, c.expr)
		}
		r, err := File(t.Context(), writeSource(t, "k.cl", src.String()),
			Options{CacheDir: testCache, AddressBits: bits})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range cases {
			_, body, _ := strings.Cut(string(r.PTX), fmt.Sprintf(".entry k%d(", i))
			body, _, _ = strings.Cut(body, "\n}")
			value := regexp.MustCompile(fmt.Sprintf(` (%d|%d|0x%x);`, c.of[bits], int64(c.of[bits]), c.of[bits]))
			if !value.MatchString(body) || !strings.Contains(body, ".param .u64") {
				t.Errorf("%d bits: %s is not %#x:\n%s", bits, c.expr, c.of[bits], body)
			}
		}
	}
	// CUDA has pointers of 64 bits.
	r, err := File(t.Context(), writeSource(t, "k.cu", "union U { unsigned long n; int *p; };\n"+
		"__global__ void k(unsigned long n) { U u; u.n = n; *u.p = sizeof(u); }\n"),
		Options{CacheDir: testCache, AddressBits: 32})
	if err != nil || len(r.Omitted) > 0 || !strings.Contains(string(r.PTX), " 8;") {
		t.Errorf("CUDA: %v, %v", r, err)
	}
	if _, err := File(t.Context(), writeSource(t, "k.cl", "kernel void k() {}"),
		Options{CacheDir: testCache, AddressBits: 16}); err == nil {
		t.Error("16 bits are accepted")
	}
}

// TestNarrowAddresses: with 32 bits, the kernels are left out for which it can make a difference that
// PTX has 64 bits. Each case is a kernel f that an expected reason leaves out, or none.
func TestNarrowAddresses(t *testing.T) {
	const good = "kernel void good(global int *a) { a[get_global_id(0)] = 1; }\n"
	const (
		memory  = "pointers in memory"
		integer = "the conversion of an integer to a pointer"
		structS = "struct S { global int *p; int n, m; }; "
	)
	for name, c := range map[string]struct{ src, want string }{
		"index": {"kernel void f(global int *a) { a[get_global_id(0) - 1] = 1; }", ""},
		"array of pointers": {"kernel void f(global int *a, global int *b) { global int *p[2]; p[0] = a; p[1] = b; " +
			"p[0][get_global_id(0)] = 1; p[1][get_global_id(0)] = 1; }", ""},
		"selected pointer": {"kernel void f(global int *a, global int *b) { global int *p[2]; p[0] = a; p[1] = b; " +
			"p[get_global_id(0) & 1][get_global_id(0)] = 1; }", memory},
		"events": {"kernel void f(global int *a, local int *l) { event_t e[2]; e[0] = async_work_group_copy(l, a, 64, 0); " +
			"e[1] = async_work_group_copy(l + 64, a + 64, 64, 0); wait_group_events(1, e); wait_group_events(1, e + 1); }", ""},
		"structure":             {structS + "kernel void f(global int *a) { struct S s; s.p = a; s.n = 1; s.p[get_global_id(0)] = s.n; }", ""},
		"initialized structure": {structS + "kernel void f(global int *a) { struct S s = {0}; s.p = a; s.p[get_global_id(0)] = s.n; }", ""},
		"structure and bytes": {structS + "kernel void f(global int *a, global uchar *b) { struct S s; s.p = a; s.n = 4; " +
			"if (b[get_global_id(0)]) s.p[get_global_id(0)] = s.n; }", ""},
		"structure by value": {structS + "void g(struct S s) { s.p[get_global_id(0)] = s.n; } " +
			"kernel void f(global int *a) { struct S s; s.p = a; s.n = 1; g(s); }", ""},
		"copy": {structS + "kernel void f(global int *a) { struct S s, t; s.p = a; s.n = 1; t = s; t.p[get_global_id(0)] = t.n; }", ""},
		"copy with an index": {"struct S { global int *p; int n[8]; }; kernel void f(global int *a) { struct S s, t; s.p = a; " +
			"s.n[0] = 1; t = s; t.p[get_global_id(0)] = t.n[get_global_id(0) & 7]; }", memory},
		"structure without pointers": {"struct S { int n[8]; }; kernel void f(global int *a) { struct S s, t; s.n[0] = 1; " +
			"t = s; a[get_global_id(0)] = t.n[get_global_id(0) & 7]; }", ""},
		"structure in global memory": {structS + "kernel void f(global struct S *a) { a[get_global_id(0)].n = 1; }", memory},
		"words of a structure": {structS + "kernel void f(global int *a, int i) { struct S s; s.p = a; s.n = 7; s.m = 9; " +
			"if (((int *)&s)[i] == 9) a[0] = get_global_id(0); }", memory},
		"words in a function": {structS + "__attribute__((noinline)) int g(private char *p) { return *(private int *)(p + 8); } " +
			"kernel void f(global int *a) { struct S s; s.p = a; s.n = 7; s.m = 9; if (g((private char *)&s) == 9) a[0] = 1; }", memory},
		"integer":  {"kernel void f(global int *a, uint n) { *(global int *)(uintptr_t)n = 1; }", integer},
		"sum":      {"kernel void f(global int *a) { *(global int *)((uintptr_t)a + 4 * get_global_id(0)) = 1; }", integer},
		"null":     {"kernel void f(global int *a) { if (a != (global int *)0) a[get_global_id(0)] = 1; }", ""},
		"address":  {"kernel void f(global int *a) { a[get_global_id(0)] = (uintptr_t)a & 15; }", ""},
		"distance": {"kernel void f(global int *a) { global int *p = a + get_global_id(0); a[p - a] = 1; }", ""},
		"union": {"union U { uintptr_t n; global int *p; }; kernel void f(global int *a) { union U u; u.n = get_global_id(0); " +
			"*u.p = 1; }", integer},
		"union of numbers": {"union U { uint n; float x; }; kernel void f(global float *a) { union U u; u.n = get_global_id(0); " +
			"a[get_global_id(0)] = u.x; }", ""},
		"overwritten": {"kernel void f(global int *a) { global int *p = a; *(private uint *)&p = get_global_id(0); *p = 1; }", integer},
		"overwritten by a pointer": {"kernel void f(global int *a, global int *b) { global int *p = a; uint *q = (uint *)&p; " +
			"*q = (uint)b + 4 * get_global_id(0); *p = 1; }", integer},
		"function": {"global int *g(uintptr_t n) { return (global int *)n; } " +
			"kernel void f(global int *a, uint n) { *g(n) = 1; }", integer},
		"constant address": {"global int v[64]; kernel void f(global int *a) { *(global int *)((uintptr_t)v + 4) = 1; }", integer},
		"pointers in global memory": {"kernel void f(global int *a) { global int *global *q = (global int *global *)a; " +
			"q[get_global_id(0)][0] = 1; }", memory},
		"pointers in local memory": {"kernel void f(local uint *l, global int *a) { size_t t = get_local_id(0); " +
			"((global int *local *)l)[2 * t] = a; l[4 * t + 2] = 1; }", memory},
		"pointers in generic memory": {"kernel void f(global uint *g, global int *a) { size_t t = get_global_id(0); uint *q = g; " +
			"((global int **)q)[2 * t] = a; g[4 * t + 2] = 1; }", memory},
		"pointer variable in local memory": {"kernel void f(global float *a) { local uint n; global float *local row; " +
			"if (get_local_id(0) == 0) { n = 64; row = a + get_group_id(0) * 64; } barrier(CLK_LOCAL_MEM_FENCE); " +
			"if (get_local_id(0) < n) row[get_local_id(0)] = 1; }", memory},
		"number in a pointer variable": {"kernel void f(global int *a) { global int *local p; " +
			"if (get_local_id(0) == 0) *(local uint *)&p = 3; barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] = *(local uint *)&p; }", memory},
		"aligned pointer": {"kernel void f(global int *a) { *__builtin_align_down(a + get_global_id(0), 16) = 1; }",
			"__builtin_align_up"},
		"images": {"constant sampler_t s = CLK_FILTER_LINEAR | CLK_ADDRESS_CLAMP; " +
			"kernel void f(read_only image2d_t i, write_only image2d_t o, sampler_t t) { int2 c = (int2)(get_global_id(0), " +
			"get_global_id(1)); write_imagef(o, c, read_imagef(i, s, c) + read_imagef(i, t, convert_float2(c))); }", ""},
		"generic": {"kernel void f(global int *a) { local int l[64]; int *p = get_global_id(0) & 1 ? (int *)a : (int *)l; " +
			"p[get_local_id(0)] = 1; local int *q = to_local(p); if (q) *q = 1; }", ""},
		"atomics": {"kernel void f(global int *a, volatile global atomic_int *b) { atomic_add(a, 1); " +
			"atomic_fetch_add_explicit(b, 1, memory_order_relaxed); }", ""},
		"printf": {"kernel void f(global int *a) { printf(\"%d %p\", a[0], a); }", ""},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := File(t.Context(), writeSource(t, "k.cl", good+c.src+"\n"),
				Options{CacheDir: testCache, AddressBits: 32})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, o := range r.Omitted {
				got += o.Name + ": " + o.Reason
			}
			if want := "f: with --address-bits 32, heddle does not support " + c.want; c.want == "" && got != "" ||
				c.want != "" && !strings.HasPrefix(got, want) || len(r.Kernels)+len(r.Omitted) != 2 {
				t.Errorf("%d kernels, omitted %q, want %q", len(r.Kernels), got, c.want)
			}
		})
	}
}
