package lower

import (
	"fmt"
	"strings"
	"testing"
)

// The functions of the CUDA Math API on half and bfloat16 (chapters "Half Precision Intrinsics" and
// "Bfloat16 Precision Intrinsics"), by their operands: a and b are numbers, v and w pairs, p and q
// point to them, and R is the mode of rounding in a name. H is the type in a name.
var halfNames = []struct{ call, names string }{
	{"a = F(a)", "__habs __hneg hceil hcos hexp hexp10 hexp2 hfloor hlog hlog10 hlog2 hrcp hrint " +
		"hrsqrt hsin hsqrt htrunc htanh htanh_approx"},
	{"a = F(a, b)", "__hadd __hadd_sat __hadd_rn __hsub __hsub_sat __hsub_rn __hmul __hmul_sat " +
		"__hmul_rn __hdiv __hmin __hmax __hmin_nan __hmax_nan"},
	{"a = F(a, b, a)", "__hfma __hfma_sat __hfma_relu"},
	{"v = F(v)", "__habs2 __hneg2 h2ceil h2cos h2exp h2exp10 h2exp2 h2floor h2log h2log10 h2log2 " +
		"h2rcp h2rint h2rsqrt h2sin h2sqrt h2trunc h2tanh h2tanh_approx __hisnan2 __lowhigh2highlow"},
	{"v = F(v, w)", "__hadd2 __hadd2_sat __hadd2_rn __hsub2 __hsub2_sat __hsub2_rn __hmul2 " +
		"__hmul2_sat __hmul2_rn __h2div __hmin2 __hmax2 __hmin2_nan __hmax2_nan " +
		"__heq2 __hne2 __hle2 __hge2 __hlt2 __hgt2 __hequ2 __hneu2 __hleu2 __hgeu2 __hltu2 __hgtu2"},
	{"v = F(v, w, v)", "__hfma2 __hfma2_sat __hfma2_relu __hcmadd"},
	{"*i = F(a, b)", "__heq __hne __hle __hge __hlt __hgt __hequ __hneu __hleu __hgeu __hltu __hgtu"},
	{"*i = F(v, w)", "__hbeq2 __hbne2 __hble2 __hbge2 __hblt2 __hbgt2 __hbequ2 __hbneu2 __hbleu2 " +
		"__hbgeu2 __hbltu2 __hbgtu2 __heq2_mask __hne2_mask __hle2_mask __hge2_mask __hlt2_mask " +
		"__hgt2_mask __hequ2_mask __hneu2_mask __hleu2_mask __hgeu2_mask __hltu2_mask __hgtu2_mask"},
	{"*i = F(a)", "__hisnan __hisinf __H2intR __H2uintR __H2shortR __H2ushortR __H2llR __H2ullR " +
		"__H2char_rz __H2uchar_rz __H_as_short __H_as_ushort"},
	{"a = F(*i)", "__int2HR __uint2HR __short2HR __ushort2HR __ll2HR __ull2HR __float2H __float2HR " +
		"__double2H __short_as_H __ushort_as_H"},
	{"a = F(v)", "__low2H __high2H"},
	{"*i = F(v)", "__low2float __high2float"},
	{"v = F(v)", "__low2H2 __high2H2"},
	{"v = F(v, w)", "__lows2H2 __highs2H2"},
	{"v = F(a)", "__H2H2"},
	{"v = F(a, b)", "__halves2H2 make_H2"},
	{"a = F(p); v = F(q)", "__ldg __ldca __ldcg __ldcs __ldlu __ldcv"},
	{"F(p, a); F(q, v)", "__stwb __stcg __stcs __stwt atomicAdd"},
	{"a = F(~0u, a, 1); v = F(~0u, v, 1, 16)", "__shfl_sync __shfl_up_sync __shfl_down_sync " +
		"__shfl_xor_sync"},
	{"a = F_X; a += F_X", "CUDART_INF CUDART_NAN CUDART_MIN_DENORM CUDART_MAX_NORMAL " +
		"CUDART_NEG_ZERO CUDART_ZERO CUDART_ONE"},
	{"F v; F v; v F; v F", "++ --"},
}

// Each name has a kernel, so that a missing one is the only error.
func TestHalfNames(t *testing.T) {
	for _, c := range []struct{ header, name, scalar, pair, constant string }{
		{"cuda_fp16.h", "half", "half", "half2", "FP16"},
		{"cuda_bf16.h", "bfloat16", "__nv_bfloat16", "__nv_bfloat162", "BF16"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var src strings.Builder
			n := 0
			fmt.Fprintf(&src, "#include <%s>\n", c.header)
			for _, group := range halfNames {
				for _, name := range strings.Fields(group.names) {
					for _, mode := range roundings(name) {
						f := strings.ReplaceAll(strings.TrimSuffix(name, "R")+mode, "H", c.name)
						body := strings.ReplaceAll(strings.ReplaceAll(group.call, "F", f), "_X", "_"+c.constant)
						fmt.Fprintf(&src, "__global__ void k%d(%[2]s *p, %[3]s *q, int *i) { %[2]s a = *p, b = a; "+
							"%[3]s v = *q, w = v; %[4]s; *p = a; *q = v; }\n", n, c.scalar, c.pair, body)
						n++
					}
				}
			}
			r := lowerSource(t, src.String(), Options{Compiler: compilers(t)[0]})
			for _, o := range r.Omitted {
				t.Errorf("%s: %s", o.Demangled, o.Reason)
			}
			if len(r.Kernels) != n {
				t.Errorf("%d kernels compile, want %d", len(r.Kernels), n)
			}
		})
	}
}

// roundings returns the modes that a name has, if R in it stands for them.
func roundings(name string) []string {
	if !strings.HasSuffix(name, "R") {
		return []string{""}
	}
	return []string{"_rn", "_rz", "_rd", "_ru"}
}
