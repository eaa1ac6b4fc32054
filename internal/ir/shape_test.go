package ir

import (
	"reflect"
	"testing"
)

// Row-major order of C: of s[24][25] with 4 bytes each, byte 4*(2*25+16) is in s[2][16].
func TestElement(t *testing.T) {
	for _, c := range []struct {
		shape     Shape
		off, size uint64
		want      string // empty: no element
	}{
		{Shape{4, []int{24, 25}}, 4 * (2*25 + 16), 4, "s[2][16]"},
		{Shape{4, []int{24, 25}}, 4*24*25 - 4, 4, "s[23][24]"},
		{Shape{4, []int{24, 25}}, 4 * 24 * 25, 4, "s[24][0]"}, // after the end
		{Shape{4, []int{0}}, 400, 4, "s[100]"},
		{Shape{16, []int{0}}, 20, 4, "s[1], bytes 4-7"},
		{Shape{16, []int{0}}, 20, 1, "s[1], byte 4"},
		{Shape{16, []int{0}}, 12, 8, ""}, // in two elements
		{Shape{1, []int{64}}, 4, 4, ""},
		{Shape{4, []int{0, 16}}, 4 * 33, 4, "s[2][1]"},
		{Shape{}, 4, 4, ""},
		{Shape{4, nil}, 0, 4, "s"}, // no array
		{Shape{4, nil}, 2, 1, "s, byte 2"},
		{Shape{4, nil}, 4, 4, ""},
	} {
		got, ok := c.shape.Element("s", c.off, c.size)
		if got != c.want || ok != (c.want != "") {
			t.Errorf("bytes %d+%d of %v: got %q, want %q", c.off, c.size, c.shape, got, c.want)
		}
	}
}

func TestParamShapes(t *testing.T) {
	one := func(n int) Shape { return Shape{n, []int{0}} }
	for _, c := range []struct {
		name string
		n    int
		want []Shape
	}{
		{"reduce(int const*, int*, int)", 3, []Shape{one(4), one(4), {}}},
		{"void k<float, 3>(float*, A<int, 2>*, double2 const volatile*)", 3, []Shape{one(4), {}, one(16)}},
		{"k(float (*) [16], char**, unsigned long long* restrict)", 3,
			[]Shape{{4, []int{0, 16}}, one(8), one(8)}},
		{"k(float3*, void*, bool*, __half*)", 4, []Shape{one(12), {}, one(1), one(2)}},
		{"k(void (*)(int), int*)", 2, []Shape{{}, one(4)}},
		{"k(int*)", 2, nil}, // another function
		{"k", 1, nil},
	} {
		if got := ParamShapes(c.name, c.n); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}
