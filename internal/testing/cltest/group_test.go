package cltest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"heddle/internal/lower"
)

// groupOps are the operations of work-group functions (OpenCL C 3.0, 6.15.16, and
// cl_khr_work_group_uniform_arithmetic). of combines two values; identity is what an exclusive scan
// has for the first work-item, as the specification states it.
var groupOps = []struct {
	name     string
	identity int64
	of       func(a, b int64) int64
}{
	{"add", 0, func(a, b int64) int64 { return a + b }},
	{"min", math.MaxInt32, func(a, b int64) int64 { return min(a, b) }},
	{"max", math.MinInt32, func(a, b int64) int64 { return max(a, b) }},
	{"mul", 1, func(a, b int64) int64 { return a * b }},
	{"and", -1, func(a, b int64) int64 { return a & b }},
	{"or", 0, func(a, b int64) int64 { return a | b }},
	{"xor", 0, func(a, b int64) int64 { return a ^ b }},
	{"logical_and", 1, func(a, b int64) int64 { return truth(a != 0 && b != 0) }},
	{"logical_or", 0, func(a, b int64) int64 { return truth(a != 0 || b != 0) }},
	{"logical_xor", 0, func(a, b int64) int64 { return truth((a != 0) != (b != 0)) }},
}

func truth(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// groupValue is the value of a work-item: of both signs, with equal ones, and odd as often as even.
func groupValue(i int) int64 { return int64(int32(uint32(i)*2654435761)) >> (i % 20) }

// TestWorkGroup compares reductions and scans of int with a loop, in groups with and without a
// partial sub-group.
func TestWorkGroup(t *testing.T) {
	var text strings.Builder
	text.WriteString("kernel void k(global int *out, global const int *in) {\n" +
		"  int i = get_local_id(0), n = get_local_size(0), v = in[i];\n")
	for k, op := range groupOps {
		for j, f := range []string{"reduce", "scan_inclusive", "scan_exclusive"} {
			fmt.Fprintf(&text, "  out[%d * n + i] = work_group_%s_%s(v);\n", 3*k+j, f, op.name)
		}
	}
	text.WriteString("}\n")
	m := compile(t, text.String(), lower.Options{})
	for _, n := range []int{1, 20, 32, 100, 256} {
		in := make([]int32, n)
		for i := range in {
			in[i] = int32(groupValue(i))
		}
		got := make([]int32, 3*len(groupOps)*n)
		decode(t, run(t, m, "k", n, map[string][]byte{"in": encode(in)}, "out", 4*len(got)), got)
		for k, op := range groupOps {
			logical := strings.HasPrefix(op.name, "logical_")
			sum := op.identity
			for i, v := range in {
				if logical {
					v = int32(truth(v != 0))
				}
				if exclusive := got[(3*k+2)*n+i]; exclusive != int32(sum) {
					t.Errorf("%d work-items, exclusive %s, %d: %d, want %d", n, op.name, i, exclusive, int32(sum))
				}
				sum = int64(int32(op.of(sum, int64(v))))
				if inclusive := got[(3*k+1)*n+i]; inclusive != int32(sum) {
					t.Errorf("%d work-items, inclusive %s, %d: %d, want %d", n, op.name, i, inclusive, int32(sum))
				}
			}
			for i := range in {
				if reduced := got[3*k*n+i]; reduced != int32(sum) {
					t.Errorf("%d work-items, reduce %s, %d: %d, want %d", n, op.name, i, reduced, int32(sum))
				}
			}
		}
	}
}

// TestWorkGroupTypes runs the functions for the other types, in 72 work-items of three sub-groups.
// The values are i - 9, so that the minimum is -9, the maximum 62 and the sum 1908.
func TestWorkGroupTypes(t *testing.T) {
	for _, c := range []struct {
		typ  string
		low  float64 // what an exclusive maximum has for the first work-item
		high float64
	}{
		{"long", -0x1p63, 0x1p63}, // the highest is rounded to double
		{"float", math.Inf(-1), math.Inf(1)},
		{"double", math.Inf(-1), math.Inf(1)},
		{"half", math.Inf(-1), math.Inf(1)},
	} {
		m := compile(t, strings.ReplaceAll(`
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
kernel void k(global double *out) {
  int i = get_local_id(0);
  T v = (T)(i - 9);
  out[i * 8 + 0] = work_group_reduce_add(v);
  out[i * 8 + 1] = work_group_reduce_min(v);
  out[i * 8 + 2] = work_group_reduce_max(v);
  out[i * 8 + 3] = work_group_broadcast(v, 41);
  out[i * 8 + 4] = work_group_scan_inclusive_add(v);
  out[i * 8 + 5] = work_group_scan_exclusive_add(v);
  out[i * 8 + 6] = work_group_scan_exclusive_max(v);
  out[i * 8 + 7] = work_group_scan_exclusive_min(v);
}`, "T", c.typ), lower.Options{})
		got := make([]float64, 72*8)
		decode(t, run(t, m, "k", 72, nil, "out", 8*len(got)), got)
		for i := range 72 {
			f := float64(i)
			want := [8]float64{1908, -9, 62, 32, (f+1)*f/2 - 9*(f+1), f*(f-1)/2 - 9*f, f - 10, -9}
			if i == 0 {
				want[6], want[7] = c.low, c.high
			}
			for k, w := range want {
				if got[i*8+k] != w {
					t.Errorf("%s, work-item %d, value %d: %v, want %v", c.typ, i, k, got[i*8+k], w)
				}
			}
		}
	}
	// Unsigned values above the largest signed one, and a broadcast in two and three dimensions.
	m := compile(t, `kernel void k(global ulong *out) {
  int i = get_local_id(0);
  uint u = i == 3 ? 0xfffffff0u : 7u;
  ulong v = i == 70 ? 0xfffffffffffffff0ul : 0x8000000000000007ul;
  out[i * 6 + 0] = work_group_reduce_max(u);
  out[i * 6 + 1] = work_group_reduce_min(u);
  out[i * 6 + 2] = work_group_reduce_max(v);
  out[i * 6 + 3] = work_group_reduce_min(v);
  out[i * 6 + 4] = work_group_broadcast(v, 70, 0);
  out[i * 6 + 5] = work_group_broadcast(u, 3, 0, 0);
}`, lower.Options{})
	got := make([]uint64, 72*6)
	decode(t, run(t, m, "k", 72, nil, "out", 8*len(got)), got)
	want := [6]uint64{0xfffffff0, 7, 0xfffffffffffffff0, 0x8000000000000007, 0xfffffffffffffff0, 0xfffffff0}
	for i := range 72 {
		if [6]uint64(got[i*6:]) != want {
			t.Errorf("work-item %d: %x, want %x", i, got[i*6:i*6+6], want)
		}
	}
}
