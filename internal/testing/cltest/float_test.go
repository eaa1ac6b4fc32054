package cltest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"heddle/internal/lower"
)

// mathFunctions are the functions with their references. tol is the allowed relative error for
// float, and tol64 that for double.
var mathFunctions = []struct {
	name   string
	args   int
	lo, hi float64 // of the arguments
	tol    float64
	ref    func(a, b, c float64) float64
}{
	{"acos", 1, -1, 1, 1e-6, func(a, b, c float64) float64 { return math.Acos(a) }},
	{"acosh", 1, 1, 50, 1e-6, func(a, b, c float64) float64 { return math.Acosh(a) }},
	{"acospi", 1, -1, 1, 1e-6, func(a, b, c float64) float64 { return math.Acos(a) / math.Pi }},
	{"asin", 1, -1, 1, 1e-6, func(a, b, c float64) float64 { return math.Asin(a) }},
	{"asinh", 1, -50, 50, 1e-6, func(a, b, c float64) float64 { return math.Asinh(a) }},
	{"asinpi", 1, -1, 1, 1e-6, func(a, b, c float64) float64 { return math.Asin(a) / math.Pi }},
	{"atan", 1, -50, 50, 1e-6, func(a, b, c float64) float64 { return math.Atan(a) }},
	{"atan2", 2, -5, 5, 1e-6, func(a, b, c float64) float64 { return math.Atan2(a, b) }},
	{"atanh", 1, -0.9, 0.9, 1e-6, func(a, b, c float64) float64 { return math.Atanh(a) }},
	{"atanpi", 1, -50, 50, 1e-6, func(a, b, c float64) float64 { return math.Atan(a) / math.Pi }},
	{"atan2pi", 2, -5, 5, 1e-6, func(a, b, c float64) float64 { return math.Atan2(a, b) / math.Pi }},
	{"cbrt", 1, -50, 50, 1e-6, func(a, b, c float64) float64 { return math.Cbrt(a) }},
	{"ceil", 1, -5, 5, 0, func(a, b, c float64) float64 { return math.Ceil(a) }},
	{"copysign", 2, -5, 5, 0, func(a, b, c float64) float64 { return math.Copysign(a, b) }},
	{"cos", 1, -1, 1, 1e-5, func(a, b, c float64) float64 { return math.Cos(a) }},
	{"cosh", 1, -5, 5, 1e-6, func(a, b, c float64) float64 { return math.Cosh(a) }},
	{"cospi", 1, -0.4, 0.4, 1e-5, func(a, b, c float64) float64 { return math.Cos(math.Pi * a) }},
	{"degrees", 1, -5, 5, 1e-6, func(a, b, c float64) float64 { return a * 180 / math.Pi }},
	{"erf", 1, -3, 3, 1e-6, func(a, b, c float64) float64 { return math.Erf(a) }},
	{"erfc", 1, -3, 3, 1e-6, func(a, b, c float64) float64 { return math.Erfc(a) }},
	{"exp", 1, -20, 20, 1e-5, func(a, b, c float64) float64 { return math.Exp(a) }},
	{"exp10", 1, -5, 5, 1e-5, func(a, b, c float64) float64 { return math.Pow(10, a) }},
	{"exp2", 1, -20, 20, 1e-5, func(a, b, c float64) float64 { return math.Exp2(a) }},
	{"expm1", 1, -2, 2, 1e-6, func(a, b, c float64) float64 { return math.Expm1(a) }},
	{"fabs", 1, -5, 5, 0, func(a, b, c float64) float64 { return math.Abs(a) }},
	{"fdim", 2, -5, 5, 1e-6, func(a, b, c float64) float64 { return math.Dim(a, b) }},
	{"floor", 1, -5, 5, 0, func(a, b, c float64) float64 { return math.Floor(a) }},
	{"fma", 3, -5, 5, 1e-5, func(a, b, c float64) float64 { return math.FMA(a, b, c) }},
	{"fmax", 2, -5, 5, 0, func(a, b, c float64) float64 { return math.Max(a, b) }},
	{"fmin", 2, -5, 5, 0, func(a, b, c float64) float64 { return math.Min(a, b) }},
	{"fmod", 2, 1, 50, 1e-5, func(a, b, c float64) float64 { return math.Mod(a, b) }},
	{"hypot", 2, -5, 5, 1e-6, func(a, b, c float64) float64 { return math.Hypot(a, b) }},
	{"log", 1, 2, 50, 1e-5, func(a, b, c float64) float64 { return math.Log(a) }},
	{"log10", 1, 2, 50, 1e-5, func(a, b, c float64) float64 { return math.Log10(a) }},
	{"log1p", 1, -0.5, 5, 1e-6, func(a, b, c float64) float64 { return math.Log1p(a) }},
	{"log2", 1, 2, 50, 1e-5, func(a, b, c float64) float64 { return math.Log2(a) }},
	{"logb", 1, 0.1, 50, 0, func(a, b, c float64) float64 { return math.Logb(a) }},
	{"mad", 3, 1, 5, 1e-6, func(a, b, c float64) float64 { return a*b + c }},
	{"max", 2, -5, 5, 0, func(a, b, c float64) float64 { return math.Max(a, b) }},
	{"maxmag", 2, -5, 5, 0, func(a, b, c float64) float64 {
		if math.Abs(a) > math.Abs(b) {
			return a
		}
		return b
	}},
	{"min", 2, -5, 5, 0, func(a, b, c float64) float64 { return math.Min(a, b) }},
	{"minmag", 2, -5, 5, 0, func(a, b, c float64) float64 {
		if math.Abs(a) < math.Abs(b) {
			return a
		}
		return b
	}},
	{"mix", 3, 0, 1, 1e-5, func(a, b, c float64) float64 { return a + (b-a)*c }},
	{"pow", 2, 0.5, 5, 1e-6, func(a, b, c float64) float64 { return math.Pow(a, b) }},
	{"powr", 2, 0.5, 5, 1e-6, func(a, b, c float64) float64 { return math.Pow(a, b) }},
	{"radians", 1, -500, 500, 1e-6, func(a, b, c float64) float64 { return a * math.Pi / 180 }},
	{"remainder", 2, 1, 50, 1e-5, func(a, b, c float64) float64 { return math.Remainder(a, b) }},
	{"rint", 1, -5, 5, 0, func(a, b, c float64) float64 { return math.RoundToEven(a) }},
	{"round", 1, -5, 5, 0, func(a, b, c float64) float64 { return math.Round(a) }},
	{"rsqrt", 1, 0.1, 50, 1e-5, func(a, b, c float64) float64 { return 1 / math.Sqrt(a) }},
	{"sign", 1, -5, 5, 0, func(a, b, c float64) float64 { return math.Copysign(1, a) }},
	{"sin", 1, 0.1, 3, 1e-5, func(a, b, c float64) float64 { return math.Sin(a) }},
	{"sinh", 1, -5, 5, 1e-6, func(a, b, c float64) float64 { return math.Sinh(a) }},
	{"sinpi", 1, 0.1, 0.9, 1e-5, func(a, b, c float64) float64 { return math.Sin(math.Pi * a) }},
	{"smoothstep", 3, 0, 1, 1e-5, func(a, b, c float64) float64 {
		t := math.Min(math.Max((c-a)/(b-a), 0), 1)
		return t * t * (3 - 2*t)
	}},
	{"sqrt", 1, 0, 50, 1e-6, func(a, b, c float64) float64 { return math.Sqrt(a) }},
	{"step", 2, -5, 5, 0, func(a, b, c float64) float64 {
		if b < a {
			return 0
		}
		return 1
	}},
	{"tan", 1, -1, 1, 1e-5, func(a, b, c float64) float64 { return math.Tan(a) }},
	{"tanh", 1, -5, 5, 1e-6, func(a, b, c float64) float64 { return math.Tanh(a) }},
	{"tanpi", 1, -0.4, 0.4, 1e-5, func(a, b, c float64) float64 { return math.Tan(math.Pi * a) }},
	{"tgamma", 1, 0.5, 10, 1e-5, func(a, b, c float64) float64 { return math.Gamma(a) }},
	{"lgamma", 1, 3, 50, 1e-5, func(a, b, c float64) float64 { v, _ := math.Lgamma(a); return v }},
	{"trunc", 1, -5, 5, 0, func(a, b, c float64) float64 { return math.Trunc(a) }},
	{"native_sin", 1, 0.1, 3, 1e-5, func(a, b, c float64) float64 { return math.Sin(a) }},
	{"native_recip", 1, 0.1, 3, 1e-6, func(a, b, c float64) float64 { return 1 / a }},
	{"half_exp", 1, -3, 3, 1e-5, func(a, b, c float64) float64 { return math.Exp(a) }},
}

const tol64 = 1e-11

// TestMathFunctions compares each function for float and double, scalars and vectors of three.
func TestMathFunctions(t *testing.T) {
	const n = 96
	var text strings.Builder
	types := func(name string) []string {
		if strings.HasPrefix(name, "native_") || strings.HasPrefix(name, "half_") {
			return []string{"float"}
		}
		return []string{"float", "double"}
	}
	for _, f := range mathFunctions {
		for _, typ := range types(f.name) {
			args := strings.Join([]string{"a[i]", "b[i]", "c[i]"}[:f.args], ", ")
			vecs := strings.Join([]string{"vload3(i, a)", "vload3(i, b)", "vload3(i, c)"}[:f.args], ", ")
			fmt.Fprintf(
				&text, "kernel void %s_%s(global const %s *a, global const %s *b, global const %s *c, global %s *out) {\n"+
					"  size_t i = get_global_id(0);\n  out[i] = %s(%s);\n  if (i < %d) vstore3(%s(%s), i, out + %d);\n}\n",
				f.name, typ, typ, typ, typ, typ, f.name, args, n/3, f.name, vecs, n)
		}
	}
	m := compile(t, text.String(), lower.Options{})
	for _, f := range mathFunctions {
		var in [3][]float64
		for i := range n {
			for k := range in {
				x := f.lo + (f.hi-f.lo)*math.Mod(float64(i*(7+6*k)+k)*0.61803398875/7, 1)
				in[k] = append(in[k], math.Round(x*4096)/4096) // exact in float too
			}
			if f.name == "smoothstep" {
				in[0][i], in[1][i] = in[0][i]/4, 0.5+in[1][i]/2
			}
		}
		for _, typ := range types(f.name) {
			tol := f.tol
			got := make([]float64, 2*n)
			if typ == "float" {
				got32 := make([]float32, 2*n)
				decode(t, run(t, m, f.name+"_float", n,
					map[string][]byte{"a": encode(narrow(in[0])), "b": encode(narrow(in[1])),
						"c": encode(narrow(in[2]))}, "out", 8*n), got32)
				for i, v := range got32 {
					got[i] = float64(v)
				}
			} else {
				tol = min(tol, tol64)
				decode(t, run(t, m, f.name+"_double", n,
					map[string][]byte{"a": encode(in[0]), "b": encode(in[1]), "c": encode(in[2])}, "out", 16*n),
					got)
			}
			for i, v := range got {
				k := i % n
				want := f.ref(in[0][k], in[1][k], in[2][k])
				if diff := math.Abs(v - want); !(diff <= tol*math.Max(math.Abs(want), 0.05)) {
					t.Errorf("%s %s(%v, %v, %v) = %v, want %v (vector: %v)", typ, f.name, in[0][k], in[1][k],
						in[2][k], v, want, i >= n)
					break
				}
			}
		}
	}
}

func narrow(x []float64) []float32 {
	out := make([]float32, len(x))
	for i, v := range x {
		out[i] = float32(v)
	}
	return out
}

// TestRelational compares the functions of 6.15.6 on all pairs of corners: scalars give 1 for true,
// vectors -1.
func TestRelational(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	corners := []float64{0, math.Copysign(0, -1), 1, -1, 2.5, inf, -inf, nan, 1e-45, 1e30}
	functions := []struct {
		name string
		args int
		ref  func(a, b float64) bool
	}{
		{"isequal", 2, func(a, b float64) bool { return a == b }},
		{"isnotequal", 2, func(a, b float64) bool { return a != b }},
		{"isgreater", 2, func(a, b float64) bool { return a > b }},
		{"isgreaterequal", 2, func(a, b float64) bool { return a >= b }},
		{"isless", 2, func(a, b float64) bool { return a < b }},
		{"islessequal", 2, func(a, b float64) bool { return a <= b }},
		{"islessgreater", 2, func(a, b float64) bool { return a < b || a > b }},
		{"isordered", 2, func(a, b float64) bool { return a == a && b == b }},
		{"isunordered", 2, func(a, b float64) bool { return a != a || b != b }},
		{"isfinite", 1, func(a, b float64) bool { return !math.IsNaN(a) && !math.IsInf(a, 0) }},
		{"isinf", 1, func(a, b float64) bool { return math.IsInf(a, 0) }},
		{"isnan", 1, func(a, b float64) bool { return math.IsNaN(a) }},
		{"isnormal", 1, func(a, b float64) bool {
			return math.Abs(a) >= 0x1p-126 && !math.IsInf(a, 0) && !math.IsNaN(a) // of float
		}},
		{"signbit", 1, func(a, b float64) bool { return math.Signbit(a) }},
	}
	var text strings.Builder
	for _, f := range functions {
		fmt.Fprintf(
			&text, "kernel void k_%s(global const float *a, global const float *b, global int *out) {\n  size_t i = get_global_id(0);\n"+
				"  out[2 * i] = %s(%s);\n  out[2 * i + 1] = %s(%s).y;\n}\n", f.name, f.name,
			[]string{"", "a[i]", "a[i], b[i]"}[f.args],
			f.name, []string{"", "(float2)(1.0f, a[i])",
				"(float2)(1.0f, a[i]), (float2)(1.0f, b[i])"}[f.args])
	}
	m := compile(t, text.String(), lower.Options{})
	var a, b []float64
	for _, x := range corners {
		for _, y := range corners {
			a, b = append(a, float64(float32(x))), append(b, float64(float32(y)))
		}
	}
	for _, f := range functions {
		got := make([]int32, 2*len(a))
		decode(t, run(t, m, "k_"+f.name, len(a),
			map[string][]byte{"a": encode(narrow(a)), "b": encode(narrow(b))}, "out", 8*len(a)), got)
		for i := range a {
			want := int32(0)
			if f.ref(a[i], b[i]) {
				want = 1
			}
			if got[2*i] != want || got[2*i+1] != -want {
				t.Errorf("%s(%v, %v) = %d, for vectors %d; want %d and %d", f.name, a[i], b[i], got[2*i],
					got[2*i+1], want, -want)
				break
			}
		}
	}
}
