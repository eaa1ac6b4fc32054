package gen

import (
	"fmt"
	"strings"
)

// Warps is the shape of a warp-specialized kernel: producer warps fill buffers in shared memory
// that consumer warps read, with a pair of named barriers for each buffer, as CudaDMA and Singe
// emit them (Weft, PLDI 2015, §5.3).
type Warps struct {
	Producers, Consumers int
	Buffers              int // 1 to 7; each has two barriers
	Words                int // of 4 bytes, of a buffer
	Iterations           int // rounds over all buffers
	// of each consumer thread from a full buffer, each by an instruction of its own
	Reads    int
	Unrolled bool // straight-line code instead of a loop over the rounds
	Broken   bool // consumers say that a buffer is free before they have read it
}

// PTX returns the kernel k of that shape.
func (s Warps) PTX() string {
	var b strings.Builder
	threads := 32 * (s.Producers + s.Consumers)
	fmt.Fprintf(&b,
		".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k(.param .u64 in)\n.reqntid %d, 1, 1\n{\n", threads)
	fmt.Fprintf(&b,
		"\t.reg .pred %%p<4>;\n\t.reg .b32 %%r<16>;\n\t.reg .b64 %%d<4>;\n\t.reg .f32 %%f<4>;\n\t.shared .align 16 .b8 buffer[%d];\n", 4*s.Words*s.Buffers)
	b.WriteString(
		"\tmov.u32 %r1, %tid.x;\n\tmov.u32 %r3, buffer;\n\tld.param.u64 %d1, [in];\n\tcvta.to.global.u64 %d1, %d1;\n")
	fmt.Fprintf(&b,
		"\tmov.f32 %%f2, 0f00000000;\n\tsetp.ge.u32 %%p1, %%r1, %d;\n\t@%%p1 bra consumer;\n",
		32*s.Producers)
	s.side(&b, "producer", s.produce)
	b.WriteString("\tret;\nconsumer:\n")
	fmt.Fprintf(&b, "\tsub.u32 %%r1, %%r1, %d;\n", 32*s.Producers)
	for i := range s.Buffers { // all buffers are free at the start
		fmt.Fprintf(&b, "\tbar.arrive %d, %d;\n", s.empty(i), threads)
	}
	s.side(&b, "consume", s.consume)
	b.WriteString("\tmad.wide.u32 %d2, %r1, 4, %d1;\n\tst.global.f32 [%d2], %f2;\n\tret;\n}\n")
	return b.String()
}

func (s Warps) empty(i int) int { return 1 + 2*i }
func (s Warps) full(i int) int  { return 2 + 2*i }

// side writes the rounds of the producers or of the consumers.
func (s Warps) side(b *strings.Builder, label string,
	round func(b *strings.Builder, i int, last bool)) {
	all := func(last bool) {
		for i := range s.Buffers {
			round(b, i, last)
		}
	}
	if s.Unrolled {
		for n := range s.Iterations {
			all(n == s.Iterations-1)
		}
		return
	}
	fmt.Fprintf(b, "\tmov.u32 %%r2, 0;\n%s_round:\n", label)
	all(false)
	fmt.Fprintf(b, "\tadd.u32 %%r2, %%r2, 1;\n\tsetp.lt.u32 %%p2, %%r2, %d;\n\t@%%p2 bra %s_round;\n",
		s.Iterations, label)
}

// produce fills buffer i when it is free.
func (s Warps) produce(b *strings.Builder, i int, _ bool) {
	threads := 32 * (s.Producers + s.Consumers)
	fmt.Fprintf(b, "\tbar.sync %d, %d;\n", s.empty(i), threads)
	for at := 0; at < s.Words; at += 32 * s.Producers {
		fmt.Fprintf(b, "\tmad.wide.u32 %%d2, %%r1, 4, %%d1;\n\tld.global.f32 %%f1, [%%d2+%d];\n", 4*at)
		fmt.Fprintf(b, "\tmad.lo.u32 %%r4, %%r1, 4, %%r3;\n\tst.shared.f32 [%%r4+%d], %%f1;\n",
			4*(i*s.Words+at))
	}
	fmt.Fprintf(b, "\tbar.arrive %d, %d;\n", s.full(i), threads)
}

// consume reads buffer i when it is full.
func (s Warps) consume(b *strings.Builder, i int, _ bool) {
	threads := 32 * (s.Producers + s.Consumers)
	fmt.Fprintf(b, "\tbar.sync %d, %d;\n", s.full(i), threads)
	free := fmt.Sprintf("\tbar.arrive %d, %d;\n", s.empty(i), threads)
	if s.Broken {
		b.WriteString(free)
	}
	for n := range s.Reads {
		fmt.Fprintf(b, "\tadd.u32 %%r5, %%r1, %d;\n\tand.b32 %%r5, %%r5, %d;\n", 32*n, s.Words-1)
		fmt.Fprintf(b,
			"\tmad.lo.u32 %%r4, %%r5, 4, %%r3;\n\tld.shared.f32 %%f1, [%%r4+%d];\n\tadd.f32 %%f2, %%f2, %%f1;\n", 4*i*s.Words)
	}
	if !s.Broken {
		b.WriteString(free)
	}
}

// Commands is how many commands a block executes: accesses to shared memory and arrivals at
// barriers, by thread.
func (s Warps) Commands() uint64 {
	p, c := uint64(32*s.Producers), uint64(32*s.Consumers)
	stores := uint64((s.Words + 32*s.Producers - 1) / (32 * s.Producers))
	rounds := uint64(s.Buffers * s.Iterations)
	return rounds*(p*(2+stores)+c*uint64(2+s.Reads)) + c*uint64(s.Buffers)
}

// Barriers is how many generations of barriers are completed: the last arrivals at the empty ones
// are not waited for.
func (s Warps) Barriers() uint64 { return uint64(2 * s.Buffers * s.Iterations) }
