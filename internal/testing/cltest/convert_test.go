package cltest

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"heddle/internal/lower"
)

// roundings are the modes of 6.4.3.2, each with its function to an integral value and its name in
// math/big.
var roundings = map[string]struct {
	integral func(float64) float64
	mode     big.RoundingMode
}{
	"_rte": {math.RoundToEven, big.ToNearestEven},
	"_rtz": {math.Trunc, big.ToZero},
	"_rtp": {math.Ceil, big.ToPositiveInf},
	"_rtn": {math.Floor, big.ToNegativeInf},
}

// TestIntegerConversions expects values modulo the type without _sat, and clamped values with it
// (6.4.3.3).
func TestIntegerConversions(t *testing.T) {
	const n = 64
	var text strings.Builder
	for _, from := range intTypes {
		for _, to := range intTypes {
			fmt.Fprintf(
				&text, "kernel void k_%s_%s(global const %s *a, global %s *out) {\n  size_t i = get_global_id(0);\n  out[i] = convert_%s(a[i]);\n"+
					"  out[%d + i] = convert_%s_sat(a[i]);\n  out[%d + i] = convert_%s2_sat((%s2)(a[i], 0)).x;\n}\n", from.name, to.name, from.name, to.name, to.name, n, to.name, 2*n, to.name, from.name)
		}
	}
	m := compile(t, text.String(), lower.Options{})
	r := rand.New(rand.NewPCG(3, 4))
	for _, from := range intTypes {
		for _, to := range intTypes {
			in := from.samples(r, n)
			got := to.values(run(t, m, "k_"+from.name+"_"+to.name, n, map[string][]byte{"a": from.bytes(in)},
				"out", 3*n*to.bits/8))
			for i, x := range in {
				if want := to.wrap(x); got[i].Cmp(want) != 0 {
					t.Errorf("convert_%s(%s %v) = %v, want %v", to.name, from.name, x, got[i], want)
				}
				if want := to.clamp(x); got[n+i].Cmp(want) != 0 || got[2*n+i].Cmp(want) != 0 {
					t.Errorf("convert_%s_sat(%s %v) = %v, for vectors %v; want %v", to.name, from.name, x,
						got[n+i], got[2*n+i], want)
				}
			}
		}
	}
}

// TestFloatToInteger expects rounding, then clamping with _sat, where NaN gives 0 (6.4.3.3).
func TestFloatToInteger(t *testing.T) {
	in := []float64{0, 0.5, -0.5, 1.5, 2.5, -1.5, -2.5, 0.49999, 126.5, 127.5, 128.5, -128.5, -129,
		255.5, 256, 32767.5, 65535.5, 65536, 1e9,
		2147483648, -2147483648, -2147483904, 4294967296, 9.2e18, 1e19, 1.8e19, 2e19, -1e30, 1e30,
		math.Inf(1), math.Inf(-1), math.NaN()}
	var text strings.Builder
	for _, from := range []string{"float", "double"} {
		for _, to := range intTypes {
			for mode := range roundings {
				fmt.Fprintf(
					&text, "kernel void k_%s_%s%s(global const %s *a, global %s *out) { size_t i = get_global_id(0); out[i] = convert_%s_sat%s(a[i]); }\n",
					from, to.name, mode, from, to.name, to.name, mode)
			}
		}
	}
	m := compile(t, text.String(), lower.Options{})
	for _, from := range []string{"float", "double"} {
		for _, to := range intTypes {
			for mode, round := range roundings {
				arg := encode(in)
				if from == "float" {
					arg = encode(narrow(in))
				}
				got := to.values(run(t, m, "k_"+from+"_"+to.name+mode, len(in), map[string][]byte{"a": arg},
					"out", len(in)*to.bits/8))
				lo, hi := to.limits()
				for i, x := range in {
					if from == "float" {
						x = float64(float32(x))
					}
					want := new(big.Int)
					switch v := round.integral(x); {
					case math.IsInf(v, 1):
						want = hi
					case math.IsInf(v, -1):
						want = lo
					case v == v:
						want, _ = big.NewFloat(v).Int(nil)
						want = to.clamp(want)
					}
					if got[i].Cmp(want) != 0 {
						t.Errorf("convert_%s_sat%s(%s %v) = %v, want %v", to.name, mode, from, x, got[i], want)
					}
				}
			}
		}
	}
}

// TestToFloat expects exact rounding to 24 or 53 bits in every mode.
func TestToFloat(t *testing.T) {
	const n = 64
	var text strings.Builder
	for _, from := range intTypes {
		for mode := range roundings {
			fmt.Fprintf(
				&text, "kernel void k_%s%s(global const %s *a, global float *out, global double *wide) { size_t i = get_global_id(0); out[i] = convert_float%s(a[i]); wide[i] = convert_double%s(a[i]); }\n",
				from.name, mode, from.name, mode, mode)
		}
	}
	for mode := range roundings {
		fmt.Fprintf(
			&text, "kernel void k_double%s(global const double *a, global float *out) { size_t i = get_global_id(0); out[i] = convert_float%s(a[i]); }\n", mode, mode)
	}
	m := compile(t, text.String(), lower.Options{})
	r := rand.New(rand.NewPCG(5, 6))
	for mode, round := range roundings {
		for _, from := range intTypes {
			in := from.samples(r, n)
			got, wide := make([]float32, n), make([]float64, n)
			args := map[string][]byte{"a": from.bytes(in)}
			decode(t, run(t, m, "k_"+from.name+mode, n, args, "out", 4*n), got)
			decode(t, run(t, m, "k_"+from.name+mode, n, args, "wide", 8*n), wide)
			for i, x := range in {
				want32, _ := new(big.Float).SetPrec(24).SetMode(round.mode).SetInt(x).Float64()
				want64, _ := new(big.Float).SetPrec(53).SetMode(round.mode).SetInt(x).Float64()
				if float64(got[i]) != want32 || wide[i] != want64 {
					t.Errorf("convert%s(%s %v) = %v, %v; want %v, %v", mode, from.name, x, got[i], wide[i], want32,
						want64)
				}
			}
		}
		in := make([]float64, n)
		for i := range in {
			in[i] = (r.Float64() - 0.5) * 1e6
		}
		got := make([]float32, n)
		decode(t, run(t, m, "k_double"+mode, n, map[string][]byte{"a": encode(in)}, "out", 4*n), got)
		for i, x := range in {
			want, _ := new(big.Float).SetPrec(24).SetMode(round.mode).SetFloat64(x).Float64()
			if float64(got[i]) != want {
				t.Errorf("convert_float%s(%v) = %v, want %v", mode, x, got[i], want)
			}
		}
	}
}
