package isa

import (
	"strings"
	"testing"
)

// Forms of mma and mma.sp, by the syntax of PTX ISA 9.7.14.5.14 and 9.7.14.6.3 and the restrictions
// of its text. A message names what the ISA has.
func TestMMAForms(t *testing.T) {
	for text, want := range map[string]string{
		"mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16":                                  "",
		"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32":                               "",
		"mma.sync.aligned.m16n8k16.row.col.f16.e4m3.e5m2.f16":                              "",
		"mma.sync.aligned.m16n8k8.row.col.rp.f64.f64.f64.f64":                              "",
		"mma.sync.aligned.m16n8k64.row.col.satfinite.s32.u4.s4.s32":                        "",
		"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc":                        "",
		"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f16.e2m1.e5m2.f16":                 "",
		"mma.sp.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32":                           "",
		"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.u4.u4.s32":            "",
		"mma.m16n8k16.row.col.f32.f16.f16.f32":                                             ".sync and .aligned are missing",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f32":                                    "expected the types of D, A, B and C",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32":                               "elements of .f16 and .bf16 cannot be multiplied",
		"mma.sync.aligned.m16n8k32.row.col.s32.s8.s4.s32":                                  "elements of .s8 and .s4 cannot be multiplied",
		"mma.sync.aligned.m16n8k16.row.col.f32.u16.u16.f32":                                "elements of A are of .f16, .bf16, .tf32",
		"mma.sync.aligned.m16n8k32.row.col.f32.e2m1.e2m1.f32":                              "elements of .e2m1 need one of .kind::f8f6f4, .kind::mxf8f6f4, .kind::mxf4, .kind::mxf4nvf4",
		"mma.sync.aligned.m16n8k32.row.col.kind::f16.f32.f16.f16.f32":                      "there is no .kind::f16",
		"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.f16.f16.f32":                   "elements of A are of .e4m3, .e5m2, .e3m2, .e2m3, .e2m1, not .f16",
		"mma.sync.aligned.m16n8k16.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32":                 "the shape for elements of .e4m3 is .m16n8k32",
		"mma.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32":                                "the shape for elements of .f16 is .m8n8k4, .m16n8k8, .m16n8k16",
		"mma.sp.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32":                              "the shape for elements of .f16 is .m16n8k16, .m16n8k32 (PTX ISA 9.7.14.6.3)",
		"mma.sp.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64":                              "no sparse form for elements of .f64",
		"mma.sp.sync.aligned.m16n8k64.row.col.f16.e4m3.e5m2.f16":                           "C and D are of .f32",
		"mma.sp.sync.aligned.m16n8k64.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32":              "needs .sp::ordered_metadata",
		"mma.sync.aligned.m16n8k16.row.col.f16.bf16.bf16.f16":                              "C and D are of .f32 for elements of .bf16",
		"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f16":                                "C and D have the same type",
		"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f32":                                  "D is of .f32 if C is",
		"mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32":                      ".satfinite is for integers",
		"mma.sync.aligned.m16n8k16.row.col.rn.f32.f16.f16.f32":                             "a rounding is for .f64",
		"mma.sync.aligned.m16n8k8.row.col.rna.f64.f64.f64.f64":                             "modifier .rna is not one of mma",
		"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32":                                 "elements of .b1 need .and.popc or .xor.popc",
		"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32.and.popc":                         ".and is for elements of .b1",
		"mma.sync.aligned.m16n8k16.col.col.f32.f16.f16.f32":                                "the layouts of this shape are .row.col",
		"mma.sync.aligned.m16n8k16.f32.f16.f16.f32":                                        "expected two layouts",
		"mma.sync.aligned.m16n8k16.row.col.trap.f32.f16.f16.f32":                           "modifier .trap is not one of mma",
		"mma.sync.aligned.m16n8k32.row.col.block_scale.f32.e4m3.e4m3.f32.ue8m0":            ".block_scale and what belongs to it need",
		"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e4m3.f32.ue8m0":           ".block_scale and what belongs to it need",
		"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.f32.e4m3.e4m3.f32":               ".kind::mxf8f6f4 needs .block_scale",
		"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32":       "the type of scale factors is missing",
		"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e2m1.f32.ue4m3": "scale factors of .kind::mxf4 are not of .ue4m3",
		"mma.sync.aligned.m16n8k64.row.col.kind::mxf4.block_scale.f32.e2m1.e4m3.f32.ue8m0": "elements of .e2m1 and .e4m3 cannot be multiplied",
		"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.f32.e2m1.e2m1.f32.ue8m0": ".kind::mxf4nvf4 needs a size of " +
			".scale_vec",
		"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::2X.f32.e2m1.e2m1.f32.ue4m3": "there is .scale_vec::4X",
		"mma.sync.aligned.m16n8k64.row.col.kind::mxf4nvf4.block_scale.scale_vec::1X.f32.e2m1.e2m1.f32.ue8m0": "there is .scale_vec::2X or ::4X",
		"mma.sync.aligned.m16n8k32.row.col.kind::mxf8f6f4.block_scale.f16.e2m1.e2m1.f16.ue8m0":               "C and D are of .f32",
	} {
		w := strings.Split(text, ".")
		d, err := Decode(w[0], w[1:])
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		f, err := d.MMA()
		switch {
		case want == "" && err != nil:
			t.Errorf("%s: %v", text, err)
		case want == "" && (f.M == 0 || f.A == "" || f.Sparse != strings.Contains(text, ".sp")):
			t.Errorf("%s: %+v", text, f)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), "PTX ISA 9.7.14.")):
			t.Errorf("%s: %v, want %q", text, err, want)
		}
	}
}
