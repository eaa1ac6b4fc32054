package lower

import (
	"fmt"
	"strconv"
)

// Explicit conversions, OpenCL C 3.0, 6.4.3: convert_DESTn[_sat][_MODE]. Without a mode,
// conversions to integers round toward zero, and conversions to floating point round to nearest
// even.

// convert defines the overloads of one name, from every type.
func (g *clGen) convert(name string) {
	m := convertRE.FindStringSubmatch(name)
	n := 1
	if m[2] != "" {
		n, _ = strconv.Atoi(m[2])
	}
	var to clType
	for _, t := range clAll {
		if t.name == m[1] {
			to = t
		}
	}
	scalar := "convert_" + to.name + m[3] + m[4]
	for _, from := range clAll {
		if n == 1 {
			g.function(to.name, name, []string{from.name + " a"}, clConvert(from, to, m[3] != "", m[4]))
			continue
		}
		g.function(to.vec(n), name, []string{from.vec(n) + " a"}, "return "+
			clVector(to.vec(n), n, func(i int) string {
				return scalar + "(" + clComponent("a", n, i) +
					")"
			})+";")
	}
}

// clConvert returns the body of one scalar conversion.
func clConvert(from, to clType, sat bool, mode string) string {
	switch {
	case !from.float && !to.float:
		return clIntToInt(from, to, sat)
	case from.float && !to.float:
		return clFloatToInt(from, to, sat, mode)
	case !from.float:
		return clIntToFloat(from, to, mode)
	}
	return clFloatToFloat(from, to, mode)
}

// clIntToInt wraps around, or clamps with sat.
func clIntToInt(from, to clType, sat bool) string {
	if !sat {
		return fmt.Sprintf("return (%s)a;", to.name)
	}
	body := ""
	if from.signed {
		low := "0"
		if to.signed {
			low = clLimit(to, false)
		}
		body = fmt.Sprintf("if ((long)a < (long)%s) return %s; ", low, low)
	}
	return body + fmt.Sprintf("return a > 0 && (ulong)a > (ulong)%s ? %s : (%s)a;", clLimit(to, true),
		clLimit(to, true), to.name)
}

// clFloatToInt rounds; with sat it also clamps and maps NaN to 0.
func clFloatToInt(from, to clType, sat bool, mode string) string {
	round, wide, suffix := map[string]string{"": "trunc", "_rtz": "trunc", "_rte": "rint",
		"_rtp": "ceil", "_rtn": "floor"}[mode], "float", "f"
	if from.size == 8 {
		wide, suffix = "double", ""
	}
	body := fmt.Sprintf("%s r = __heddle_m_%s%s(a); ", wide, round, suffix)
	if sat { // the bounds are powers of two and therefore exact
		bits := 8 * to.size
		low := "0"
		if to.signed {
			bits--
			low = fmt.Sprintf("-0x1p%d", bits)
		}
		body += fmt.Sprintf("if (r != r) return 0; if (r <= (%s)%s) return %s; if (r >= (%s)0x1p%d) "+
			"return %s; ",
			wide, low, clLimit(to, false), wide, bits, clLimit(to, true))
	}
	return body + fmt.Sprintf("return (%s)r;", to.name)
}

// clRound returns the suffix for a rounding mode in heddle/intrinsics.h and in PTX.
func clRound(mode string) (name, ptx string) {
	switch mode {
	case "_rtz":
		return "rz", "rz"
	case "_rtp":
		return "ru", "rp"
	case "_rtn":
		return "rd", "rm"
	}
	return "rn", "rn"
}

// clIntToFloat rounds once, from the exact integer.
func clIntToFloat(from, to clType, mode string) string {
	name, ptx := clRound(mode)
	long, letter := "ll", "s"
	if !from.signed {
		long, letter = "ull", "u"
	}
	if to.name == "half" {
		return fmt.Sprintf("ushort r; __asm__(\"cvt.%s.f16.%s64 %%0, %%1;\" : \"=h\"(r) : "+
			"\"l\"((ulong)a)); return __builtin_astype(r, half);", ptx, letter)
	}
	return fmt.Sprintf("return __%s2%s_%s(a);", long, to.name, name)
}

// clFloatToFloat rounds if the result has fewer bits.
func clFloatToFloat(from, to clType, mode string) string {
	name, ptx := clRound(mode)
	switch {
	case to.size >= from.size:
		return fmt.Sprintf("return (%s)a;", to.name)
	case to.name == "float":
		return fmt.Sprintf("return __double2float_%s(a);", name)
	case from.name == "float":
		return fmt.Sprintf("ushort r; __asm__(\"cvt.%s.f16.f32 %%0, %%1;\" : \"=h\"(r) : \"f\"(a)); "+
			"return __builtin_astype(r, half);", ptx)
	}
	return fmt.Sprintf("ushort r; __asm__(\"cvt.%s.f16.f64 %%0, %%1;\" : \"=h\"(r) : \"d\"(a)); "+
		"return __builtin_astype(r, half);", ptx)
}
