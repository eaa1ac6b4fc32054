package cltest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/launch"
	"heddle/internal/lower"
)

// values are expressions for one work-item, with their values by the named sections of OpenCL C
// 3.0.
var values = []struct {
	expr string
	want float64
}{
	// 6.15.6: any and all look at the most significant bit; select at it for vectors, at zero for
	// scalars.
	{"any((int4)(0, 1, 2, 3))", 0},
	{"any((int4)(0, 1, -2, 3))", 1},
	{"all((char2)(-1, -128))", 1},
	{"all((long3)(-1, -1, 1))", 0},
	{"select(10, 20, 4)", 20},
	{"select(10.0f, 20.0f, 0u)", 10},
	{"select((int2)(1, 2), (int2)(3, 4), (int2)(1, -1)).x", 1},
	{"select((int2)(1, 2), (int2)(3, 4), (uint2)(1, 0x80000000u)).y", 4},
	{"bitselect(1.0f, -1.0f, as_float(0x80000000))", -1},
	// 6.15.5
	{"dot((float4)(1, 2, 3, 4), (float4)(5, 6, 7, 8))", 70},
	{"dot(3.0f, 4.0f)", 12},
	{"cross((float3)(1, 2, 3), (float3)(4, 5, 6)).y", 6},
	{"cross((float4)(1, 2, 3, 9), (float4)(4, 5, 6, 9)).w", 0},
	{"length((float2)(3, 4))", 5},
	{"distance((double2)(1, 1), (double2)(4, 5))", 5},
	{"normalize((float2)(3, 4)).y", 0.8},
	{"fast_length((float2)(3, 4))", 5},
	// 6.15.14: only the low bits of a mask element count
	{"shuffle((int4)(10, 11, 12, 13), (uint2)(3, 4)).x", 13},
	{"shuffle((int4)(10, 11, 12, 13), (uint2)(3, 4)).y", 10},
	{"shuffle2((char2)(1, 2), (char2)(3, 4), (uchar4)(3, 2, 1, 4)).s0", 4},
	{"shuffle2((char2)(1, 2), (char2)(3, 4), (uchar4)(3, 2, 1, 4)).s3", 1},
	// 6.15.3
	{"upsample((char)-1, (uchar)0xfe)", -2},
	{"upsample((uint2)(1, 2), (uint2)(3, 4)).y", 0x200000004},
	{"mul24(-3, 5)", -15},
	{"mad24(3u, 5u, 7u)", 22},
	{"max((float2)(1, 5), 3.0f).x", 3},
	{"clamp((int2)(-5, 50), 0, 10).y", 10},
	{"min((uchar)200, (uchar)100)", 100},
	// 6.15.2 with more than one result
	{"sincos(0.5f, &f) * 0 + f", 0.87758256},
	{"modf(-2.75f, &f)", -0.75},
	{"(modf(-2.75f, &f), f)", -2},
	{"modf(-INFINITY, &f)", math.Copysign(0, -1)},
	{"fract(-0.25f, &f)", 0.75},
	{"(fract(2.5f, &f), f)", 2},
	{"frexp(6.0f, &n)", 0.75},
	{"(frexp(6.0f, &n), n)", 3},
	{"remquo(7.0f, 2.0f, &n)", -1},
	{"(frexp((float2)(6.0f, 1.0f), &n2), n2.y)", 1},
	{"ldexp(0.75f, 3)", 6},
	{"ldexp((float2)(1, 3), 2).y", 12},
	{"ilogb(10.0f)", 3},
	{"pown(-2.0f, 3)", -8},
	{"rootn(-27.0f, 3)", -3},
	{"nextafter(1.0f, 2.0f) - 1.0f", 1.1920928955078125e-07},
	{"isnan(nan(5u))", 1},
	{"step(2.0f, (float2)(1, 3)).y", 1},
	// 6.4.4, 6.4.3
	{"as_int(1.0f)", 0x3f800000},
	{"as_float4((int4)(0x40000000)).z", 2},
	{"as_uchar4(0x04030201).w", 4},
	{"convert_int(2.9f)", 2},
	{"convert_uchar_sat(-3)", 0},
	{"convert_float2((int2)(7, 8)).y", 8},
	{"convert_half(1.5f)", 1.5},
	{"convert_int_rte(convert_half(2.5f))", 2},
	// 6.15.7
	{"vload4(1, data).y", 5},
	{"(vstore2((int2)(70, 71), 3, data), data[7])", 71},
	{"(vstore_half(1.5f, 2, (global half *)data), vload_half(2, (global half *)data))", 1.5},
	{"(vstore_half_rtz(1.9999f, 2, (global half *)data), vload_half(2, (global half *)data))",
		1.9990234375},
	{"(vstorea_half3((float3)(1, 2, 3), 1, (global half *)data), vloada_half3(1, (global half *)data).z)", 3},
	{"vec_step(int3)", 4},
	// 6.15.12
	{"atomic_add(data + 20, 5) + data[20] * 100", 2520},
	{"(atomic_sub(data + 21, 1), data[21])", 20},
	{"atomic_cmpxchg(data + 22, 22, 7) + data[22] * 100", 722},
	{"(atomic_max(data + 23, 99), atomic_min(data + 23, 98), atomic_inc(data + 23), atomic_dec(data + 23), data[23])", 98},
	{"(atomic_xchg((global float *)data + 24, 2.5f), ((global float *)data)[24])", 2.5},
	{"(atom_or(data + 25, 64), atom_and(data + 25, ~1), atomic_xor(data + 25, 2), data[25])", 90},
	{"(atomic_store(at, 5), atomic_fetch_add(at, 3), atomic_load(at))", 8},
	{"atomic_exchange_explicit(at, 9, memory_order_relaxed) + atomic_fetch_sub_explicit(at, 1, memory_order_acq_rel, memory_scope_work_group)", 17},
	{"atomic_compare_exchange_strong(at, &n, 1) + 10 * (n == 8)", 10},
	{"(atomic_flag_clear((global atomic_flag *)data), atomic_flag_test_and_set((global atomic_flag *)data), data[0])", 1},
	// 6.15.1, one group of 32 work-items
	{"get_global_size(0) + get_local_size(1) * 100 + get_num_groups(2) * 1000 + get_work_dim() * 10000", 11132},
	{"get_local_size(3) + get_global_id(3) + get_global_offset(0)", 1},
	{"get_sub_group_size() + get_num_sub_groups() * 100", 132},
	// 6.15.10
	{"(to_global(&data[3]) == &data[3]) + 10 * (to_local(data) == 0) + 100 * get_fence(data) + 1000 * get_fence(&tile)", 1211},
	// 6.15.15: an image is as large as the launch
	{"(write_imagef(im, (int2)(3, 0), (float4)(1, 2, 3, 4)), get_image_width(im))", 32},
	{"(write_imageh(im, (int2)(4, 0), (half4)(1, 2, 3, 4)), get_image_height(im))", 1},
	{"printf(\"%d %v4f\\n\", 3, (float4)(1.0f))", 0},
}

// TestValues evaluates all of them in one kernel, in OpenCL C 2.0.
func TestValues(t *testing.T) {
	var text strings.Builder
	text.WriteString(
		"kernel void k(global double *out, global int *data, write_only image2d_t im) {\n  float f; int n; int2 n2; n = 123; local int tile;\n" +
			"  global atomic_int *at = (global atomic_int *)(data + 60);\n  if (get_global_id(0) != 0) return;\n  for (int i = 0; i < 64; i++) data[i] = i;\n")
	for i, v := range values {
		fmt.Fprintf(&text, "  out[%d] = (double)(%s);\n", i, v.expr)
	}
	text.WriteString("}\n")
	m := compile(t, text.String(), lower.Options{})
	got := make([]float64, len(values))
	decode(t, run(t, m, "k", 32, nil, "out", 8*len(values)), got)
	for i, v := range values {
		if got[i] != v.want && !(math.Abs(got[i]-v.want) < 1e-6) {
			t.Errorf("%s = %v, want %v", v.expr, got[i], v.want)
		}
	}
}

// TestSubGroups runs the sub-group functions for 32 work-items with the values 1 to 32.
func TestSubGroups(t *testing.T) {
	m := compile(t, `kernel void k(global int *out) {
  int i = get_local_id(0), v = i + 1;
  out[i * 8 + 0] = sub_group_reduce_add(v);
  out[i * 8 + 1] = sub_group_scan_inclusive_add(v);
  out[i * 8 + 2] = sub_group_scan_exclusive_add(v);
  out[i * 8 + 3] = sub_group_broadcast(v, 5);
  out[i * 8 + 4] = sub_group_reduce_max(v) * 100 + sub_group_reduce_min(v);
  out[i * 8 + 5] = sub_group_any(i == 7) * 10 + sub_group_all(i == 7);
  out[i * 8 + 6] = work_group_any(i == 7) * 10 + work_group_all(i < 32);
  out[i * 8 + 7] = get_sub_group_local_id();
}`, lower.Options{})
	got := make([]int32, 32*8)
	decode(t, run(t, m, "k", 32, nil, "out", 32*32), got)
	for i := range int32(32) {
		v := i + 1
		want := [8]int32{528, v * (v + 1) / 2, v * (v - 1) / 2, 6, 3201, 10, 11, i}
		for k, w := range want {
			if got[i*8+int32(k)] != w {
				t.Errorf("work-item %d, value %d: %d, want %d", i, k, got[i*8+int32(k)], w)
			}
		}
	}
}

// TestSubGroupMasks runs the functions of cl_khr_subgroup_ballot, _rotate and cl_intel_subgroups for
// 32 work-items, of which every third is in the mask.
func TestSubGroupMasks(t *testing.T) {
	m := compile(t, `kernel void k(global int *out) {
  int i = get_local_id(0);
  uint4 b = sub_group_ballot(i % 3 == 0);
  out[i * 8 + 0] = b.x;
  out[i * 8 + 1] = sub_group_ballot_bit_count(b) * 100 + sub_group_inverse_ballot(b);
  out[i * 8 + 2] = sub_group_ballot_inclusive_scan(b) * 100 + sub_group_ballot_exclusive_scan(b);
  out[i * 8 + 3] = sub_group_ballot_find_lsb(b) + sub_group_ballot_find_msb(b) * 100 + b.y;
  out[i * 8 + 4] = sub_group_rotate(i, 5) * 100 + sub_group_elect();
  out[i * 8 + 5] = intel_sub_group_shuffle_down(i, i + 100, 3);
  out[i * 8 + 6] = intel_sub_group_shuffle_up(i + 100, i, 3);
  out[i * 8 + 7] = get_sub_group_lt_mask().x ^ get_sub_group_ge_mask().x ^ get_sub_group_eq_mask().x;
}`, lower.Options{})
	got := make([]int32, 32*8)
	decode(t, run(t, m, "k", 32, nil, "out", 32*32), got)
	for i := range int32(32) {
		in, elected := int32(0), int32(0)
		if i%3 == 0 {
			in = 1
		}
		if i == 0 {
			elected = 1
		}
		down, up := i+3, i-3
		if down > 31 {
			down = down%32 + 100
		}
		if up < 0 {
			up += 132
		}
		before := (i + 2) / 3
		want := [8]int32{0x49249249, 1100 + in, (before+in)*100 + before, 3000, (i+5)%32*100 + elected,
			down, up, ^(1 << i)}
		for k, w := range want {
			if got[i*8+int32(k)] != w {
				t.Errorf("work-item %d, value %d: %d, want %d", i, k, got[i*8+int32(k)], w)
			}
		}
	}
}

// TestAsyncCopy copies in both directions, with and without a stride.
func TestAsyncCopy(t *testing.T) {
	m := compile(t, `kernel void k(global int *out, global int *data) {
  local int tile[64];
  data[get_local_id(0)] = get_local_id(0) * 3;
  barrier(CLK_GLOBAL_MEM_FENCE);
  event_t e = async_work_group_copy(tile, data, 32, 0);
  e = async_work_group_strided_copy(tile + 32, data, 8, 4, e);
  wait_group_events(1, &e);
  e = async_work_group_copy(out, tile, 40, 0);
  wait_group_events(1, &e);
}`, lower.Options{})
	got := make([]int32, 40)
	decode(t, run(t, m, "k", 32, nil, "out", 160), got)
	for i, v := range got {
		want := int32(i * 3)
		if i >= 32 {
			want = int32((i - 32) * 12)
		}
		if v != want {
			t.Errorf("element %d is %d, want %d", i, v, want)
		}
	}
}

// TestStandards checks functions that only some versions of OpenCL C accept.
func TestStandards(t *testing.T) {
	for _, text := range []string{
		// names that 2.0 took
		"kernel void k(global int *out) { int pipe = 3; *out = pipe; }",
		// 2.0
		"global int counter = 2; kernel void k(global int *out) { *out = counter + 1; }",
		// 2.0: generic
		"int f(int *p) { return *p; } kernel void k(global int *out) { local int x; x = 3; *out = f(&x); }",
		"float min3(float a) { return a; } float length(float x) { return 3 + x; } kernel void k(global int *out) { *out = (int)length(min3(0)); }",
		"constant int length = 3; typedef int mix; constant float step[1] = {1}, dot = 2; kernel void k(global int *out) { mix i = length; *out = i; }",
		"inline int f(int x) { " + strings.Repeat("x = x * 3 + (x >> 2) + 1; ", 300) +
			"return 3; } kernel void k(global int *out) { *out = f(*out); }",
		"kernel void f(global int *p) { *p = 3; } kernel void k(global int *out) { f(out); }",
	} {
		m := compile(t, text, lower.Options{})
		got := make([]int32, 1)
		decode(t, run(t, m, "k", 1, nil, "out", 4), got)
		if got[0] != 3 {
			t.Errorf("%s: %d", text, got[0])
		}
	}
}

// TestPrintf checks the vector formats of section 6.15.13.
func TestPrintf(t *testing.T) {
	m := compile(t, `kernel void k(void) {
  float4 v = (float4)(1.0f, 2.5f, -3.0f, 0.0f);
  printf("%d %s|", 7, "x");
  printf("%v4f|%5.1v4hlf|", v, v);
  printf("%v3hhd %v2hx %v2ld %v8hhu|", (char3)(1, -1, 3), (short2)(255, 16), (long2)(-5, 1L << 40), (uchar8)(200));
  printf("%f %e %%|", 1.5f, 2.0);
  printf("%d\n", sizeof(long));
}`, lower.Options{})
	var got strings.Builder
	k := m.Kernel("k")
	cfg, errs := launch.Resolve(k, launch.Request{Block: &event.Dim3{X: 1, Y: 1, Z: 1}}, nil)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	machine, err := emu.New(k, cfg)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := machine.Run(t.Context(),
		emu.Options{Printf: func(_ event.Thread, text string) { got.WriteString(text) }},
		nil); err != nil {
		t.Fatal(err)
	}
	want := "7 x|1.000000,2.500000,-3.000000,0.000000|  1.0,  2.5, -3.0,  0.0|1,-1,3 ff,10 -5,1099511627776 200,200,200,200,200,200,200,200|1.500000 2.000000e+00 %|8\n"
	if got.String() != want {
		t.Errorf("got  %q\nwant %q", got.String(), want)
	}
}
