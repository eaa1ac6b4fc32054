package slice

import "testing"

// TestParameterByAddress: a load by a generic address reads a parameter if the address is that of
// the parameter plus a constant. One of two addresses of which one is such may be of the parameter,
// so that the trace executes the load. Any other address may be one of global memory, whose contents
// a trace does not know.
func TestParameterByAddress(t *testing.T) {
	const address = "\tmov.b64 %d0, map;\n\tcvta.param.u64 %d1, %d0;\n"
	for _, c := range []struct {
		text string
		want kind
	}{
		{address + "\tld.u32 %x0, [%d1+8];\n", constant},
		{address + "\tadd.s64 %d2, %d1, 8;\n\tadd.s64 %d3, 8, %d2;\n\tmov.b64 %d4, %d3;\n" +
			"\tld.u32 %x0, [%d4+-4];\n", constant},
		// an index that is no constant
		{address + "\tmov.u32 %x1, %tid.x;\n\tcvt.u64.u32 %d2, %x1;\n\tadd.s64 %d3, %d1, %d2;\n" +
			"\tld.u32 %x0, [%d3];\n", input},
		// one of two addresses
		{address + "\tld.param.u64 %d2, [wide];\n\tselp.b64 %d3, %d1, %d2, %p0;\n" +
			"\tld.u32 %x0, [%d3];\n", constant},
		{address + "\tld.param.u64 %d2, [wide];\n\tselp.b64 %d3, %d2, %d1, %p0;\n" +
			"\tld.u32 %x0, [%d3+4];\n", constant},
		{address + "\tld.param.u64 %d2, [wide];\n\tselp.b64 %d3, %d1, %d2, %p0;\n" +
			"\tld.relaxed.gpu.u32 %x0, [%d3];\n", input},
		{"\tld.param.u64 %d2, [wide];\n\tadd.s64 %d1, %d2, 8;\n\tselp.b64 %d3, %d1, %d2, %p0;\n" +
			"\tld.u32 %x0, [%d3];\n", input},
		{address + "\tld.param.u64 %d2, [wide];\n\t@%p0 mov.b64 %d1, %d2;\n" +
			"\tld.u32 %x0, [%d1];\n", input},
		{address + "\t@%p0 mov.b64 %d3, %d1;\n\tld.u32 %x0, [%d3];\n", input},
		// the low half of the address
		{address + "\tcvt.u32.u64 %x1, %d1;\n\tcvt.u64.u32 %d3, %x1;\n\tld.u32 %x0, [%d3];\n", input},
		// what the parameter points to
		{"\tld.param.u64 %d0, [wide];\n\tld.u32 %x0, [%d0];\n", input},
		{"\tmov.b64 %d0, map;\n\tcvta.param.u64 %d1, %d0;\n\tld.u64 %d2, [%d1];\n\tld.u32 %x0, [%d2];\n",
			input},
		// others may write in between
		{address + "\tld.relaxed.gpu.u32 %x0, [%d1];\n", input},
	} {
		s, k := roundsModule(t, "", c.text+"\tadd.u32 %x0, %x0, 1;\n\tret;\n")
		list := k.Blocks[0].Instrs
		if got := s.funcs[k].kindOf(list[len(list)-3]); got != c.want {
			t.Errorf("%s: kind %d, want %d", c.text, got, c.want)
		}
	}
}
