package lower

// clRows are the math, common, integer and relational functions of OpenCL C 3.0, 6.15.2 to 6.15.4
// and 6.15.6. __heddle_m_NAME are the functions of heddle/math_f64.h and math_f32.h. native_ and
// half_ functions are mapped to the ordinary ones, since the specification leaves their error open.
var clRows = []clRow{
	{"acos asin atan cosh sinh tanh acosh asinh atanh cbrt ceil cos erf erfc exp exp2 exp10 expm1 " +
		"floor lgamma log log2 log10 log1p " +
		"logb rint round rsqrt sin sqrt tan tgamma trunc fabs cospi sinpi", clFloats, "TT",
		"__heddle_m_NAME$(a)"},
	{"acospi", clFloats, "TT", "__heddle_m_acos$(a) * (TYPE)0.318309886183790671538"},
	{"asinpi", clFloats, "TT", "__heddle_m_asin$(a) * (TYPE)0.318309886183790671538"},
	{"atanpi", clFloats, "TT", "__heddle_m_atan$(a) * (TYPE)0.318309886183790671538"},
	{"tanpi", clFloats, "TT", "__heddle_m_sinpi$(a) / __heddle_m_cospi$(a)"},
	{"atan2 copysign fdim fmod hypot nextafter pow remainder", clFloats, "TTT",
		"__heddle_m_NAME$(a, b)"},
	{"fmax fmin", clFloats, "TTT TTs", "__heddle_m_NAME$(a, b)"},
	{"atan2pi", clFloats, "TTT", "__heddle_m_atan2$(a, b) * (TYPE)0.318309886183790671538"},
	{"powr", clFloats, "TTT", "a < 0 ? (TYPE)NAN : (TYPE)__heddle_m_pow$(a, b)"},
	{"pown", clFloats, "TTI", "__heddle_m_pow$(a, (TYPE)b)"},
	{"rootn", clFloats, "TTI", "a < 0 && (b & 1) ? (TYPE)-__heddle_m_pow$(-a, (TYPE)1 / (TYPE)b) : " +
		"(TYPE)__heddle_m_pow$(a, (TYPE)1 / (TYPE)b)"},
	{"fma mad", clFloats, "TTTT", "__heddle_m_fma$(a, b, c)"},
	{"ldexp", clFloats, "TTI TTi", "__heddle_m_ldexp$(a, b)"},
	{"ilogb", clFloats, "IT", "a != a ? 0x7fffffff : __heddle_m_ilogb$(a)"},
	{"nan", clFloats, "TU", "(TYPE)NAN"},
	{"maxmag", clFloats, "TTT", "__heddle_m_fabs$(a) > __heddle_m_fabs$(b) ? a : " +
		"__heddle_m_fabs$(b) > __heddle_m_fabs$(a) ? b : (TYPE)__heddle_m_fmax$(a, b)"},
	{"minmag", clFloats, "TTT", "__heddle_m_fabs$(a) < __heddle_m_fabs$(b) ? a : " +
		"__heddle_m_fabs$(b) < __heddle_m_fabs$(a) ? b : (TYPE)__heddle_m_fmin$(a, b)"},
	{"sincos", clFloats, "TTP", "(b = (TYPE)__heddle_m_cos$(a), (TYPE)__heddle_m_sin$(a))"},
	{"modf", clFloats, "TTP", "(b = (TYPE)__heddle_m_trunc$(a), (TYPE)__heddle_m_copysign$(a - b == " +
		"a - b ? a - b : (TYPE)0, a))"},
	{"fract", clFloats[:1], "TTP",
		"(b = __heddle_m_floorf(a), __heddle_m_fminf(a - b, 0x1.fffffep-1f))"},
	{"fract", clFloats[1:2], "TTP",
		"(b = __heddle_m_floor(a), __heddle_m_fmin(a - b, 0x1.fffffffffffffp-1))"},
	{"fract", clFloats[2:], "TTP",
		"(b = (half)__heddle_m_floorf(a), (half)__heddle_m_fminf(a - b, 0x1.ffcp-1f))"},
	{"frexp", clFloats, "TTJ", "__heddle_m_frexp$(a, &b)"},
	{"remquo", clFloats, "TTTJ", "__heddle_m_remquo$(a, b, &c)"},
	{"lgamma_r", clFloats, "TTJ",
		"(b = a < 0 && __heddle_m_fmod$(__heddle_m_floor$(a), 2) != 0 ? -1 : 1, __heddle_m_lgamma$(a))"},
	{"native_cos native_exp native_exp2 native_exp10 native_log native_log2 native_log10 " +
		"native_rsqrt native_sin native_sqrt native_tan",
		clFloats[:2], "TT", "__heddle_m_SHORT$(a)"},
	{"half_cos half_exp half_exp2 half_exp10 half_log half_log2 half_log10 half_rsqrt half_sin " +
		"half_sqrt half_tan",
		clFloats[:1], "TT", "__heddle_m_SHORT$(a)"},
	{"native_powr half_powr", clFloats[:1], "TTT", "a < 0 ? NAN : __heddle_m_powf(a, b)"},
	{"native_divide half_divide", clFloats[:1], "TTT", "a / b"},
	{"native_recip half_recip", clFloats[:1], "TT", "1.0f / a"},

	// 6.15.4, common functions
	{"degrees", clFloats, "TT", "a * (TYPE)57.295779513082320876798"},
	{"radians", clFloats, "TT", "a * (TYPE)0.017453292519943295769237"},
	{"mix", clFloats, "TTTT TTTs", "a + (b - a) * c"},
	{"step", clFloats, "TTT TsT", "b < a ? (TYPE)0 : (TYPE)1"},
	{"smoothstep", clFloats, "TTTT TssT", "({ TYPE t = (c - a) / (b - a); t = t > 0 ? t < 1 ? t : " +
		"(TYPE)1 : (TYPE)0; t * t * (3 - 2 * t); })"},
	{"sign", clFloats, "TT", "a > 0 ? (TYPE)1 : a < 0 ? (TYPE)-1 : a != a ? (TYPE)0 : a"},
	{"max", clAll, "TTT TTs", "a < b ? b : a"},
	{"min", clAll, "TTT TTs", "b < a ? b : a"},
	{"clamp", clInts, "TTTT TTss", "a < b ? b : a > c ? c : a"},
	{"clamp", clFloats, "TTTT TTss", "__heddle_m_fmin$(__heddle_m_fmax$(a, b), c)"},

	// 6.15.3, integer functions. Narrow types are promoted to int, which holds sums and products.
	{"abs", clInts, "UT", "a < 0 ? (UNSIGNED)0 - (UNSIGNED)a : (UNSIGNED)a"},
	{"abs_diff", clInts, "UTT", "a > b ? (UNSIGNED)a - (UNSIGNED)b : (UNSIGNED)b - (UNSIGNED)a"},
	{"add_sat", clInts, "TTT", "({ TYPE r; __builtin_add_overflow(a, b, &r) ? (b < 0 ? LOWEST : " +
		"HIGHEST) : r; })"},
	{"sub_sat", clInts, "TTT", "({ TYPE r; __builtin_sub_overflow(a, b, &r) ? (b > 0 && LOWEST == 0 " +
		"? LOWEST : b < 0 ? HIGHEST : LOWEST) : r; })"},
	{"hadd", clInts, "TTT", "(a >> 1) + (b >> 1) + (a & b & 1)"},
	{"rhadd", clInts, "TTT", "(a >> 1) + (b >> 1) + ((a | b) & 1)"},
	{"clz", clInts, "TT", "a == 0 ? BITS : __builtin_clzl((UNSIGNED)a) - (64 - BITS)"},
	{"ctz", clInts, "TT", "a == 0 ? BITS : __builtin_ctzl((UNSIGNED)a)"},
	{"popcount", clInts, "TT", "__builtin_popcountl((UNSIGNED)a)"},
	{"rotate", clInts, "TTT", "(UNSIGNED)((UNSIGNED)a << ((UNSIGNED)b & (BITS - 1)) | (UNSIGNED)a " +
		">> ((BITS - ((UNSIGNED)b & (BITS - 1))) & (BITS - 1)))"},
	{"mul_hi", clInts[:6], "TTT", "(TYPE)(((WIDE)a * (WIDE)b) >> BITS)"},
	{"mul_hi", clInts[6:7], "TTT", "__heddle_m___mul64hi(a, b)"},
	{"mul_hi", clInts[7:], "TTT", "__heddle_m___umul64hi(a, b)"},
	{"mad_hi", clInts, "TTTT", "mul_hi(a, b) + c"},
	{"mad_sat", clInts[:6], "TTTT", "({ LONG r = (LONG)a * (LONG)b + (LONG)c; r < (LONG)LOWEST ? " +
		"LOWEST : r > (LONG)HIGHEST ? HIGHEST : (TYPE)r; })"},
	// The 128-bit sum in two halves: it fits if the high half is the sign extension of the low half.
	{"mad_sat", clInts[6:7], "TTTT", "({ ulong l = (ulong)a * (ulong)b, s = l + (ulong)c; long h = " +
		"mul_hi(a, b) + (c < 0 ? -1 : 0) + (s < l); " +
		"h == ((long)s >> 63) ? (long)s : h < 0 ? LOWEST : HIGHEST; })"},
	{"mad_sat", clInts[7:], "TTTT",
		"({ ulong l = a * b, s = l + c; mul_hi(a, b) + (s < l) == 0 ? s : HIGHEST; })"},
	{"mul24", clInts[4:6], "TTT", "((TYPE)((UNSIGNED)a << 8) >> 8) * ((TYPE)((UNSIGNED)b << 8) >> 8)"},
	{"mad24", clInts[4:6], "TTTT", "mul24(a, b) + c"},
	{"upsample", clInts[:6], "WTU", "(WIDE)((WIDE)a << BITS | (WIDE)b)"},

	// 6.15.6, relational functions
	{"isequal", clFloats, "RTT", "a == b"},
	{"isnotequal", clFloats, "RTT", "a != b"},
	{"isgreater", clFloats, "RTT", "a > b"},
	{"isgreaterequal", clFloats, "RTT", "a >= b"},
	{"isless", clFloats, "RTT", "a < b"},
	{"islessequal", clFloats, "RTT", "a <= b"},
	{"islessgreater", clFloats, "RTT", "a < b || a > b"},
	{"isordered", clFloats, "RTT", "a == a && b == b"},
	{"isunordered", clFloats, "RTT", "a != a || b != b"},
	{"isnan", clFloats, "RT", "a != a"},
	{"isinf", clFloats, "RT", "__heddle_m_fabs$(a) == INFINITY"},
	{"isfinite", clFloats, "RT", "__heddle_m_fabs$(a) < INFINITY"},
	{"isnormal", clFloats[:1], "RT",
		"__heddle_m_fabsf(a) < INFINITY && __heddle_m_fabsf(a) >= FLT_MIN"},
	{"isnormal", clFloats[1:2], "RT",
		"__heddle_m_fabs(a) < INFINITY && __heddle_m_fabs(a) >= DBL_MIN"},
	{"isnormal", clFloats[2:], "RT",
		"__heddle_m_fabsf(a) < INFINITY && __heddle_m_fabsf(a) >= HALF_MIN"},
	{"signbit", clFloats[:1], "RT", "__builtin_astype(a, int) < 0"},
	{"signbit", clFloats[1:2], "RT", "__builtin_astype(a, long) < 0"},
	{"signbit", clFloats[2:], "RT", "__builtin_astype(a, short) < 0"},
	{"bitselect", clInts, "TTTT", "(a & ~c) | (b & c)"},
	{"bitselect", clFloats[:1], "TTTT", "__builtin_astype((__builtin_astype(a, uint) & " +
		"~__builtin_astype(c, uint)) | (__builtin_astype(b, uint) & __builtin_astype(c, uint)), float)"},
	{"bitselect", clFloats[1:2], "TTTT", "__builtin_astype((__builtin_astype(a, ulong) & " +
		"~__builtin_astype(c, ulong)) | (__builtin_astype(b, ulong) & __builtin_astype(c, ulong)), " +
		"double)"},
	{"bitselect", clFloats[2:], "TTTT", "__builtin_astype((ushort)((__builtin_astype(a, ushort) & " +
		"~__builtin_astype(c, ushort)) | (__builtin_astype(b, ushort) & __builtin_astype(c, ushort))), " +
		"half)"},
}
