package ptx

import (
	"bytes"
	"fmt"
	"io"
	"testing"
)

// generated returns a module like a compiler's, of about n bytes: kernels with declarations, line
// marks, arithmetic, loads, stores, branches and calls, without debug sections.
func generated(n int) []byte {
	var b bytes.Buffer
	b.WriteString(".version 8.0\n.target sm_80\n.address_size 64\n.file 1 \"bench.cu\"\n\n")
	for k := 0; b.Len() < n; k++ {
		fmt.Fprintf(
			&b, ".visible .entry _Z6kernelPfS_i_%d(\n\t.param .u64 _Z6kernelPfS_i_%d_param_0,\n\t.param .u32 _Z6kernelPfS_i_%d_param_1\n)\n{\n", k, k, k)
		b.WriteString(
			"\t.reg .pred \t%p<4>;\n\t.reg .f32 \t%f<400>;\n\t.reg .b32 \t%r<900>;\n\t.reg .b64 \t%rd<900>;\n\n")
		for i := range 100 {
			fmt.Fprintf(&b, "\t.loc\t1 %d %d                          // bench.cu:%d:%d\n", i+10, i%40, i+10,
				i%40)
			fmt.Fprintf(&b, "$L__BB%d_%d:                               // %%for.body\n", k, i)
			fmt.Fprintf(&b, "\tld.param.u64 \t%%rd%d, [_Z6kernelPfS_i_%d_param_0];\n", i, k)
			fmt.Fprintf(&b, "\tmov.u32 \t%%r%d, %%ctaid.x;\n\tmad.lo.s32 \t%%r%d, %%r%d, %%r%d, %%r%d;\n", i,
				i+1, i, i+2, i+3)
			fmt.Fprintf(&b, "\tmul.wide.s32 \t%%rd%d, %%r%d, 4;\n\tadd.s64 \t%%rd%d, %%rd%d, %%rd%d;\n", i+1,
				i, i+2, i, i+1)
			fmt.Fprintf(
				&b, "\tld.global.f32 \t%%f%d, [%%rd%d+%d];\n\tfma.rn.f32 \t%%f%d, %%f%d, %%f%d, 0f3F800000;\n",
				i, i, 4*i, i+1, i, i+2)
			fmt.Fprintf(
				&b, "\tst.global.v2.f32 \t[%%rd%d], {%%f%d, %%f%d};\n\tsetp.lt.s32 \t%%p1, %%r%d, %%r%d;\n", i,
				i, i+1, i, i+1)
			fmt.Fprintf(&b, "\t@%%p1 bra \t$L__BB%d_%d;\n\tbar.sync \t0;\n", k, i)
		}
		b.WriteString("\tret;\n}\n\n")
	}
	return b.Bytes()
}

func BenchmarkParse(b *testing.B) {
	f := newFile(b, "bench.ptx", generated(8<<20))
	b.SetBytes(int64(len(f.Content)))
	b.ReportAllocs()
	for b.Loop() {
		if _, errs := Parse(f); len(errs) > 0 {
			b.Fatal(errorList(errs))
		}
	}
}

// BenchmarkScan is the part of BenchmarkParse that finds tokens.
func BenchmarkScan(b *testing.B) {
	f := newFile(b, "bench.ptx", generated(8<<20))
	b.SetBytes(int64(len(f.Content)))
	for b.Loop() {
		var s scanner
		s.init(f)
		for s.next(); s.kind != tEOF; s.next() {
		}
	}
}

func BenchmarkPrint(b *testing.B) {
	text := generated(8 << 20)
	f := mustParse(b, "bench.ptx", text)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if err := Print(io.Discard, f); err != nil {
			b.Fatal(err)
		}
	}
}
