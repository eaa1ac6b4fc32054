package launch

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/source"
)

// kernel builds k(float *in, float *out, int n, float alpha, S s), where S has 24 bytes with a
// pointer at 8, a float at 0 and an int at 16.
func kernel(sregs ...ir.Sreg) *ir.Func {
	param := func(name string, t isa.Type, size, off int) *ir.Var {
		return &ir.Var{Name: "k_param_" + name, Source: name, Space: event.Param, Type: t, Size: size,
			Offset: off}
	}
	in, out := param("in", isa.U64, 8, 0), param("out", isa.U64, 8, 8)
	in.Pointer, out.Pointer = true, true
	s := param("s", isa.B8, 24, 24)
	s.PtrFields = []int{8}
	k := &ir.Func{
		Module: &ir.Module{}, Name: "_Z1kPfS_if1S", Demangled: "k(float*, float*, int, float, S)",
		Kernel: true,
		Params: []*ir.Var{in, out, param("n", isa.U32, 4, 16), param("alpha", isa.F32, 4, 20), s},
	}
	load := &isa.Row{Opcode: "ld", Category: isa.Memory, Effect: isa.Reads}
	b := &ir.Block{}
	ld := func(t isa.Type, off uint64) {
		b.Instrs = append(b.Instrs, &ir.Instr{
			Desc: isa.Desc{Row: load, Space: event.Param, Type: t, Vec: 1},
			Src:  []ir.Operand{{Kind: ir.Mem, Var: s, Reg: ir.NoReg, Val: off}},
		})
	}
	ld(isa.F32, 0)
	ld(isa.U64, 8)
	ld(isa.U32, 16)
	mov := &isa.Row{Opcode: "mov"}
	for _, r := range sregs {
		b.Instrs = append(b.Instrs, &ir.Instr{Desc: isa.Desc{Row: mov},
			Src: []ir.Operand{{Kind: ir.Special, Sreg: r, Reg: ir.NoReg}}})
	}
	k.Blocks = []*ir.Block{b}
	return k
}

// request reads flags as the command line does: without "--".
func request(t *testing.T, words ...string) Request {
	t.Helper()
	var p Pragma
	for _, w := range words {
		if err := p.word(w, source.Span{}, ""); err != nil {
			t.Fatal(err)
		}
	}
	return p.Request
}

func resolve(t *testing.T, k *ir.Func, req Request, facts *SourceFacts) *Config {
	t.Helper()
	c, errs := Resolve(k, req, facts)
	if len(errs) > 0 {
		t.Fatal(errs)
	}
	if len(c.Args) != len(k.Params) {
		t.Fatalf("%d arguments for %d parameters", len(c.Args), len(k.Params))
	}
	for i, a := range c.Args {
		if a.Buffer == nil && len(a.Bits) != k.Params[i].Size {
			t.Errorf("argument %s has %d bytes", a.Name, len(a.Bits))
		}
	}
	return c
}

// withAtomic adds an atomic through a generic address to a kernel.
func withAtomic(scope event.Scope) func(*ir.Func) {
	atom := &isa.Row{Opcode: "atom", Category: isa.Memory, Effect: isa.ReadsWrites}
	return func(k *ir.Func) {
		b := k.Blocks[0]
		b.Instrs = append(b.Instrs, &ir.Instr{
			Desc: isa.Desc{Row: atom, Space: event.Generic, Type: isa.U64, Vec: 1, Scope: scope},
			Src:  []ir.Operand{{Kind: ir.Mem, Reg: 0}},
		})
	}
}

// withPairs adds an instruction for a pair of blocks to a kernel.
func withPairs(k *ir.Func) {
	b := k.Blocks[0]
	b.Instrs = append(b.Instrs, &ir.Instr{Desc: isa.Desc{
		Row:  &isa.Row{Opcode: "tcgen05.relinquish_alloc_permit", Category: isa.Matrix},
		Mods: []string{"tcgen05", "relinquish_alloc_permit", "cta_group::2"},
	}})
}

func TestDefaults(t *testing.T) {
	tests := []struct {
		name  string
		sregs []ir.Sreg
		ptx   func(*ir.Func)
		want  string
	}{
		{"1-D", []ir.Sreg{ir.TidX, ir.CtaidX}, nil, "grid 4 (guessed), block 64 (guessed)"},
		{"one block", []ir.Sreg{ir.TidX}, nil,
			"grid 1 (guessed: the kernel never reads blockIdx), block 64 (guessed)"},
		{"atomics of the block", []ir.Sreg{ir.TidX}, withAtomic(event.CTA),
			"grid 1 (guessed: the kernel never reads blockIdx), block 64 (guessed)"},
		{"atomics of the device", []ir.Sreg{ir.TidX}, withAtomic(event.GPU),
			"grid 4 (guessed), block 64 (guessed)"},
		{"2-D", []ir.Sreg{ir.TidX, ir.TidY, ir.CtaidY}, nil, "grid 2,2 (guessed), block 16,16 (guessed)"},
		{"3-D", []ir.Sreg{ir.TidX, ir.TidZ, ir.CtaidZ}, nil,
			"grid 2,2,2 (guessed), block 8,8,4 (guessed)"},
		// threads in x would all do the same, and race
		{"only y", []ir.Sreg{ir.TidY, ir.CtaidX}, nil, "grid 4 (guessed), block 1,64 (guessed)"},
		{"lanes are threads in x", []ir.Sreg{ir.TidY, ir.LaneID, ir.CtaidX}, nil,
			"grid 4 (guessed), block 16,16 (guessed)"},
		{"y and z", []ir.Sreg{ir.TidY, ir.TidZ, ir.CtaidX}, nil,
			"grid 4 (guessed), block 1,8,8 (guessed)"},
		{"maxntid", []ir.Sreg{ir.CtaidX}, func(k *ir.Func) { k.MaxNTID = event.Dim3{X: 256, Y: 1, Z: 1} },
			"grid 4 (guessed), block 256 (PTX)"},
		{"maxntid, 2-D", []ir.Sreg{ir.TidY, ir.CtaidX},
			func(k *ir.Func) { k.MaxNTID = event.Dim3{X: 512, Y: 1, Z: 1} },
			"grid 4 (guessed), block 16,32 (PTX)"},
		{"maxntid, 3-D", []ir.Sreg{ir.TidZ, ir.CtaidX},
			func(k *ir.Func) { k.MaxNTID = event.Dim3{X: 256, Y: 1, Z: 1} },
			"grid 4 (guessed), block 16,8,2 (PTX)"},
		{"reqntid", []ir.Sreg{ir.CtaidX}, func(k *ir.Func) { k.ReqNTID = event.Dim3{X: 32, Y: 4, Z: 1} },
			"grid 4 (guessed), block 32,4 (PTX)"},
		{"cluster", []ir.Sreg{ir.CtaidX},
			func(k *ir.Func) { k.ReqCluster = event.Dim3{X: 8, Y: 1, Z: 1} },
			"grid 8 (guessed: rounded up to a multiple of the cluster), block 64 (guessed), cluster 8 (PTX)"},
		{"pairs of blocks", []ir.Sreg{ir.TidX}, withPairs,
			"grid 2 (guessed: rounded up to a multiple of the cluster), block 64 (guessed), cluster 2 " +
				"(guessed: the kernel is for pairs of blocks, .cta_group::2)"},
		{"pairs of blocks of a cluster", []ir.Sreg{ir.TidX},
			func(k *ir.Func) { withPairs(k); k.ReqCluster = event.Dim3{X: 4, Y: 1, Z: 1} },
			"grid 4 (guessed: rounded up to a multiple of the cluster), block 64 (guessed), " +
				"cluster 4 (PTX)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := kernel(tt.sregs...)
			if tt.ptx != nil {
				tt.ptx(k)
			}
			got, _, _ := strings.Cut(resolve(t, k, Request{}, nil).Describe(), ", in:")
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// A kernel whose blocks distinguish themselves by an atomic ticket needs several blocks, although
// it never reads blockIdx.
func TestDefaultGridWithTickets(t *testing.T) {
	k := kernel()
	row := &isa.Row{Opcode: "atom", Effect: isa.ReadsWrites}
	k.Blocks[0].Instrs = append(k.Blocks[0].Instrs,
		&ir.Instr{Desc: isa.Desc{Row: row, Space: event.Global}})
	if g := resolve(t, k, Request{}, nil).Geometry.Grid; g.X != 4 {
		t.Errorf("grid %v", g)
	}
}

func TestDefaultArgs(t *testing.T) {
	c := resolve(t, kernel(ir.CtaidX), Request{}, nil)
	want := "in: zeros (guessed), out: zeros (guessed), n = 256 (guessed: the number of threads in x), " +
		"alpha = 1 (guessed: 1 for a float), s: struct with buffers at +8 zeros (guessed: each field by its type)"
	if got := c.Describe(); !strings.HasSuffix(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if c.Args[0].Buffer == c.Args[1].Buffer || c.Args[0].Buffer.Size != 0 {
		t.Error("the pointers do not have separate unbounded buffers")
	}
	// the field at 8 is overridden by its buffer
	bits := []byte{0, 0, 0x80, 0x3f, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	if d := cmp.Diff(bits, c.Args[4].Bits); d != "" {
		t.Errorf("struct: %s", d)
	}
	if got := c.Flags(); got != "--grid 4 --block 64" {
		t.Errorf("flags: %s", got)
	}
}

func TestGuessInteger(t *testing.T) {
	g := event.Geometry{Grid: event.Dim3{X: 4, Y: 2, Z: 1}, Block: event.Dim3{X: 16, Y: 8, Z: 1}}
	tests := []struct {
		name  string
		bytes int
		want  uint64
	}{{"n", 4, 64}, {"", 8, 64}, {"height", 4, 16}, {"N_ROWS", 4, 64}, {"nrows", 4, 16},
		{"depth", 4, 64}, {"offset", 8, 0}, {"iters", 4, 4}, {"flag", 1, 1}, {"k", 2, 64}}
	for _, tt := range tests {
		if got, _ := guessInteger(tt.name, g, tt.bytes); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
	g.Grid.X = 1 << 30
	if got, _ := guessInteger("n", g, 4); got != 1<<31-1 {
		t.Errorf("a guess of %d does not fit in an int", got)
	}
}

// The precedence is flag, pragma, host code, PTX, default, for each fact separately.
func TestPrecedence(t *testing.T) {
	src := `
// heddle: block=128 n=5
// heddle: n=6
__global__ void k(float *in, float *out, int n, float alpha, S s) {}
int main() { k<<<7, 64, 256>>>(in, out, 9, 2.5f, s); }`
	facts := ScanCUDA(cuda(t, src), nil)
	k := kernel(ir.CtaidX)
	k.MaxNTID = event.Dim3{X: 512, Y: 1, Z: 1}
	c := resolve(t, k, request(t, "grid=3", "in=random:64"), facts)
	want := "grid 3 (flag), block 128 (comment), shared 256 (host code), in: 64 bytes of random bytes (flag), " +
		"out: zeros (guessed), n = 6 (comment), alpha = 2.5 (host code), s: struct with buffers at +8 zeros (guessed: each field by its type)"
	if got := c.Describe(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if got, want := c.Flags(), "--grid 3 --block 128 --shared 256 --arg in=random:64 --arg n=6 --arg alpha=2.5"; got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// What heddle tries gives way to what somebody gave: a number of a counterexample to a flag only,
// since a proof is for all others; contents to everything that says what they are.
func TestTriedInputs(t *testing.T) {
	const src = `
// heddle: out=iota n=6 s+8=zero
__global__ void k(float *in, float *out, int n, float alpha, S s) {}
int main() { k<<<7, 64>>>(in, out, 9, 2.5f, s); }`
	facts := ScanCUDA(cuda(t, src), nil)
	for _, tt := range []struct {
		flags, counterexample, guesses []string
		want                           string
	}{
		{nil, []string{"in=hex:01...", "out=hex:01...", "n=3", "s+8=hex:02...", "s+16=u32:5"}, nil,
			"in: 1 given bytes and zeros (counterexample), out: 0, 1, 2, ... (comment), " +
				"n = 3 (counterexample)"},
		{[]string{"n=8", "in=zero"}, []string{"n=3", "in=hex:01..."}, nil,
			"in: zeros (flag), out: 0, 1, 2, ... (comment), n = 8 (flag)"},
		{nil, nil, []string{"in=random", "out=random", "n=4"},
			"in: random bytes (guessed), out: 0, 1, 2, ... (comment), n = 6 (comment)"},
		// nobody said what is unknown
		{[]string{"in=unknown"}, []string{"in=hex:01..."}, nil,
			"in: 1 given bytes and zeros (counterexample), out: 0, 1, 2, ... (comment), n = 6 (comment)"},
		{nil, []string{"in=hex:01..."}, []string{"in=iota"}, "in: 1 given bytes and zeros (counterexample)"},
	} {
		req := request(t, tt.flags...)
		req.Counterexample = request(t, tt.counterexample...).Args
		req.Guesses = request(t, tt.guesses...).Args
		c := resolve(t, kernel(ir.CtaidX), req, facts)
		if got := c.Describe(); !strings.Contains(got, tt.want) {
			t.Errorf("%v %v %v:\ngot  %s\nwant %s", tt.flags, tt.counterexample, tt.guesses, got, tt.want)
		}
		again := resolve(t, kernel(ir.CtaidX), request(t, flagWords(c)...), facts)
		if d := cmp.Diff(c.Args, again.Args, cmpopts.IgnoreFields(Part{}, "Origin")); d != "" {
			t.Errorf("%s does not reproduce the launch: %s", c.Flags(), d)
		}
	}
}

// flagWords are the words of Flags, as a comment has them.
func flagWords(c *Config) []string {
	var words []string
	for _, f := range strings.Split(c.Flags(), "--")[1:] {
		key, val, _ := strings.Cut(strings.TrimSpace(f), " ")
		val = strings.ReplaceAll(strings.TrimSuffix(strings.TrimPrefix(val, "'"), "'"), `'\''`, "'")
		if key != "arg" {
			val = key + "=" + val
		}
		words = append(words, val)
	}
	return words
}

// Running with Flags reproduces the launch.
func TestFlagsRoundTrip(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a file's.bin")
	if err := os.WriteFile(file, make([]byte, 64), 0o600); err != nil {
		t.Fatal(err)
	}
	k := kernel(ir.CtaidX)
	req := request(t, "grid=2,3", "block=8,8", "shared=1K", "in=random@5:4K", "out=alias:in", "n=-3",
		"alpha=0.5",
		"s+8=iota", "s+16=u32:7")
	req.Args = append(req.Args, ArgSpec{Param: "in", Offset: -1, Kind: ArgFile, Text: file, Size: 32})
	first := resolve(t, k, req, nil)
	second := resolve(t, k, request(t, flagWords(first)...), nil)
	if d := cmp.Diff(first.Geometry, second.Geometry); d != "" || first.DynShared != second.DynShared {
		t.Errorf("geometry: %s", d)
	}
	if d := cmp.Diff(first.Args, second.Args); d != "" {
		t.Errorf("arguments: %s", d)
	}
	if second.Args[0].Buffer != second.Args[1].Buffer {
		t.Error("the arguments do not alias")
	}
}

// WithNumber sets one argument: the report has the reason, and the flags reproduce the value.
func TestWithNumber(t *testing.T) {
	first := resolve(t, kernel(ir.CtaidX), request(t, "grid=2", "block=8", "in=zero:4K", "alpha=0.5",
		"n=unknown"), nil)
	i := slices.IndexFunc(first.Args, func(a Arg) bool { return a.Name == "n" })
	got := first.WithNumber(i, 24, "an example").WithNumber(i, 7, "an example")
	if text := got.Describe(); !strings.Contains(text, "n = 7 (an example)") {
		t.Errorf("describes %s", text)
	}
	if !got.Origins["arg n"].Guessed() || !first.Args[i].Unknown {
		t.Errorf("n is %v, and %v before", got.Origins["arg n"], first.Args[i])
	}
	want := []string{"in=zero:4096", "n=7", "alpha=0.5"} // as the kernel has them
	var words []string
	for _, a := range got.Given() {
		words = append(words, a.String())
	}
	if d := cmp.Diff(want, words); d != "" {
		t.Error(d)
	}
}

// A pointer into a buffer: an alias counts from where the other parameter points, and the report
// names the parameter that the buffer was made for, in whichever order they come.
func TestInteriorPointers(t *testing.T) {
	k := kernel(ir.CtaidX)
	for _, tt := range []struct {
		words         []string
		in, out       uint64
		shows, origin string
	}{
		{[]string{"out=alias:in+8", "in=zero:64+16"}, 16, 24,
			"in: 64 bytes of zeros from byte 16", "out: the buffer of in from byte 24"},
		{[]string{"in=alias:out+4"}, 4, 0,
			"in: the buffer of out from byte 4 (flag)", "out: zeros (guessed)"},
		{[]string{"in=alias:out", "out=random+64"}, 64, 64,
			"in: the buffer of out from byte 64 (flag)", "out: random bytes from byte 64 (flag)"},
	} {
		c := resolve(t, k, request(t, tt.words...), nil)
		if c.Args[0].Buffer != c.Args[1].Buffer || c.Args[0].Offset != tt.in ||
			c.Args[1].Offset != tt.out {
			t.Errorf("%v: in +%d, out +%d", tt.words, c.Args[0].Offset, c.Args[1].Offset)
		}
		if got := c.Describe(); !strings.Contains(got, tt.shows) || !strings.Contains(got, tt.origin) {
			t.Errorf("%v: %s", tt.words, got)
		}
	}
	c := resolve(t, k, request(t, "s+8=alias:in+4"), nil)
	if f := c.Args[4].Fields[0]; f.Buffer != c.Args[0].Buffer || f.At != 4 {
		t.Errorf("field: %+v", f)
	}
	if got := c.Flags(); !strings.Contains(got, "--arg s+8=alias:in+4") {
		t.Errorf("flags: %s", got)
	}
}

// Every form of contents, as a flag, gives the same launch again.
func TestContentsRoundTrip(t *testing.T) {
	k := kernel(ir.CtaidX)
	for _, form := range []string{"iota", "u64:iota:64+8", "small:7", "small:7,3:64", "u8:perm:7",
		"csr:7,20", "oneof@3:1,2", "s16:csr:7,20,5", "ints:1,-2", "ints:1,2...+4", "struct:8{0=iota,4=small:9,1}",
		"struct:16{8=f64:0.5}:160+16", "value:3"} {
		first := resolve(t, k, request(t, "in="+form, "s+8="+form), nil)
		_, arg, _ := strings.Cut(first.Flags(), "--arg ")
		arg, field, _ := strings.Cut(arg, " --arg ")
		second := resolve(t, k, request(t, strings.Trim(arg, "'"), strings.Trim(field, "'")), nil)
		if d := cmp.Diff(first.Args, second.Args); d != "" {
			t.Errorf("%s, again %s and %s: %s", form, arg, field, d)
		}
		if a, b := first.Describe(), second.Describe(); a != b {
			t.Errorf("%s: %s\n%s", form, a, b)
		}
	}
}

func TestArgs(t *testing.T) {
	k := kernel(ir.CtaidX)
	c := resolve(t, k, request(t, "2=0x10", "k_param_alpha=1", "in=null", "out=unknown:64",
		"s=hex:"+strings.Repeat("ab", 24)), nil)
	want := []Arg{
		{Name: "in", Bits: make([]byte, 8)},
		{Name: "out", Buffer: &Buffer{Name: "out", Size: 64, Fill: FillUnknown}},
		{Name: "n", Bits: []byte{16, 0, 0, 0}},
		{Name: "alpha", Bits: []byte{0, 0, 0x80, 0x3f}, Float: true},
		{Name: "s", Bits: []byte(strings.Repeat("\xab", 24)), Parts: []Part{{0, 24, FromFlag}}},
	}
	if d := cmp.Diff(want, c.Args); d != "" {
		t.Error(d)
	}
	c = resolve(t, k, request(t, "in=hex:0102", "out=hex:0304..."), nil)
	for i, b := range []*Buffer{{Name: "in", Size: 2, Fill: FillFile, Data: []byte{1, 2}},
		{Name: "out", Fill: FillFile, Data: []byte{3, 4}}} {
		if d := cmp.Diff(b, c.Args[i].Buffer); d != "" {
			t.Error(d)
		}
	}
	c = resolve(t, k, request(t, "s=zero", "n=unknown", "s+8=alias:out", "s+0=2.5"), nil)
	if len(c.Args[4].Fields) != 1 || c.Args[4].Fields[0].Buffer != c.Args[1].Buffer {
		t.Errorf("struct: %+v", c.Args[4])
	}
	if !c.Args[2].Unknown || c.Args[4].Bits[2] != 0x20 || c.Args[4].Bits[3] != 0x40 {
		t.Errorf("n: %+v, s: %x", c.Args[2], c.Args[4].Bits)
	}
	if c = resolve(t, k, request(t, "s+8=null"), nil); len(c.Args[4].Fields) != 0 {
		t.Errorf("a null field keeps its buffer: %+v", c.Args[4])
	}
}

func TestResolveErrors(t *testing.T) {
	short := filepath.Join(t.TempDir(), "short.bin")
	if err := os.WriteFile(short, make([]byte, 3), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		words string
		want  string
	}{
		{"block=2048", "block 2048 (flag) has 2048 threads; a block has at most 1024"},
		{"block=65536,65536", "4294967296 threads"},
		{"block=1,1,65", "z dimension of 65"},
		{"block=512", ".maxntid (__launch_bounds__) of kernel k(float*, float*, int, float, S) allows at most 256"},
		{"grid=1,65536", "grid 1,65536 (flag) is too large"},
		{"grid=2147483648", "too large"},
		{"grid=2147483647,65535,1 block=64", "more than 2^32 warps"},
		{"cluster=3 grid=4", "grid 4 (flag) is not a multiple of the cluster 3"},
		{"cluster=32 grid=32", "at most 16"},
		{"shared=228K", "a block has at most 232448 bytes on any GPU"},
		{"m=4", `kernel k(float*, float*, int, float, S) has no parameter "m"; its parameters are 0 in (pointer), 1 out (pointer), 2 n (u32), 3 alpha (f32), 4 s (struct of 24 bytes)`},
		{"5=4", `no parameter "5"`},
		{"n=4294967296", "argument n: 4294967296 is out of range for 32 bits"},
		{"n=1.5", "1.5\" is not an integer; the parameter has type .u32"},
		{"n=random", "its type is u32, not a pointer"},
		{"alpha=1e99", "out of range for a 32-bit float"},
		{"in=7", "the parameter is a pointer, and 7 is a number"},
		{"in=alias:n", "n has no buffer to share"},
		{"in=alias:out out=alias:in", "the aliases form a cycle through"},
		{"in=alias:zz", `no parameter "zz"`},
		{"n=alias:in", "only a pointer can be an alias"},
		{"n=unknown+4", "only a pointer can point into a buffer (+4)"},
		{"in=zero:64+65", "it points to byte 65 of in, which has 64 bytes"},
		{"in=zero:64+60 out=alias:in+8", "it points to byte 68 of in, which has 64 bytes"},
		{"s=7", "struct of 24 bytes"},
		{"s=hex:00", "found 1 bytes; the parameter has 24 bytes"},
		{"n=hex:00000000...", "only a pointer can have an unbounded buffer"},
		{"s+17=random", "runs past"},
		{"s+22=u32:1", "run past"},
		{"s+4=1", "type of the field is not known"},
		{"n+0=1", "not a struct"},
		{"in=file:" + short + ":4", "has 3 bytes, fewer than the requested 4"},
		{"n=file:" + short, "found 3 bytes; the parameter has 4 bytes"},
		{"in=file:/nonexistent/x", "no such file"},
		{"in=file:/dev/null", "not a regular file"},
		{"in=random:2048G", "too large; the limit is"},
	}
	for _, tt := range tests {
		k := kernel(ir.CtaidX)
		k.MaxNTID = event.Dim3{X: 256, Y: 1, Z: 1}
		c, errs := Resolve(k, request(t, strings.Fields(tt.words)...), nil)
		if c != nil || len(errs) == 0 || !strings.Contains(errs[0].Msg, tt.want) {
			t.Errorf("%s: %v, %v\nwant %s", tt.words, c, errs, tt.want)
		}
	}
}

func TestRequiredShape(t *testing.T) {
	k := kernel(ir.CtaidX)
	k.ReqNTID = event.Dim3{X: 32, Y: 1, Z: 1}
	if _, errs := Resolve(k, request(t, "block=64"), nil); len(errs) != 1 ||
		!strings.Contains(errs[0].Msg, "contradicts .reqntid 32") {
		t.Error(errs)
	}
	resolve(t, k, request(t, "block=32"), nil)
}

func TestPragmaErrorHasPlace(t *testing.T) {
	set := source.NewSet()
	f, err := set.Add(
		"k.cu", []byte("\n// heddle: block=4096\n// heddle: zz=1\n__global__ void k() {}"))
	if err != nil {
		t.Fatal(err)
	}
	_, errs := Resolve(kernel(), Request{}, ScanCUDA(f, nil))
	if len(errs) != 2 || set.Format(errs[0].Span.Start) != "k.cu:2:1" ||
		set.Format(errs[1].Span.Start) != "k.cu:3:12" {
		t.Errorf("got %+v", errs)
	}
}

func TestDynamicShared(t *testing.T) {
	k := kernel()
	static := &ir.Var{Name: "tile", Space: event.Shared, Size: 1000, Align: 4}
	dyn := &ir.Var{Name: "buf", Space: event.Shared, Unsized: true, Extern: true, Align: 16}
	k.Module.Vars = []*ir.Var{static, dyn}
	use := &ir.Instr{Desc: isa.Desc{Row: &isa.Row{Opcode: "mov"}},
		Src: []ir.Operand{{Kind: ir.VarAddr, Var: static}, {Kind: ir.VarAddr, Var: dyn}}}
	k.Blocks[0].Instrs = append(k.Blocks[0].Instrs, use)
	c := resolve(t, k, Request{}, nil)
	if want := uint32(48<<10-1008) &^ 15; c.DynShared != want || c.Origins["shared"] != Default {
		t.Errorf("shared %d, want %d", c.DynShared, want)
	}
	if c = resolve(t, k, request(t, "shared=64K"), nil); len(c.Notes) != 1 ||
		!strings.Contains(c.Notes[0], "MaxDynamicSharedMemorySize") {
		t.Errorf("notes: %q", c.Notes)
	}
}

func TestHostNotes(t *testing.T) {
	facts := ScanCUDA(cuda(t, "void f() { k<<<g(), 32>>>(); k<<<3, 96>>>(); }"), nil)
	c := resolve(t, kernel(ir.CtaidX), Request{}, facts)
	if c.Geometry.Block.X != 96 || c.Geometry.Grid.X != 3 || len(c.Notes) != 1 {
		t.Errorf("%v %q", c.Geometry, c.Notes)
	}
}

func TestNames(t *testing.T) {
	tests := []struct{ demangled, base string }{
		{"k(float*, int)", "k"}, {"void k<int, 4>(int*)", "k"}, {"ns::k(int)", "k"}, {"k", "k"},
		{"void (anonymous namespace)::a::k<(E)1, f(int)>(int (*)(int))", "k"},
	}
	for _, tt := range tests {
		if got := BaseName(tt.demangled); got != tt.base {
			t.Errorf("BaseName(%q) = %q", tt.demangled, got)
		}
	}
	k := &ir.Func{Name: "_Z3kerIiEvPi", Demangled: "void ns::ker<int, 4>(int*)"}
	for _, name := range []string{k.Name, k.Demangled, "void ns::ker<int, 4>", "ns::ker<int, 4>",
		"ns::ker", "ker"} {
		if !Matches(k, name) {
			t.Errorf("%q does not select %s", name, k.Demangled)
		}
	}
	for _, name := range []string{"", "ke", "kerr", "ker<int>", "other::ker"} {
		if Matches(k, name) {
			t.Errorf("%q selects %s", name, k.Demangled)
		}
	}
}

func TestSameNameInTwoNamespaces(t *testing.T) {
	facts := ScanCUDA(
		cuda(
			t, "namespace a {\n// heddle: grid=2\n__global__ void k() {} }\nnamespace b {\n// heddle: grid=3\n__global__ void k() {} }"), nil)
	k := kernel(ir.CtaidX)
	k.Demangled = "b::k()"
	k.Src = &source.Frame{Pos: source.MakePos(1, 6, 17)}
	if g := resolve(t, k, Request{}, facts).Geometry.Grid; g.X != 3 {
		t.Errorf("grid %v", g)
	}
	if errs := facts.Unmatched([]*ir.Func{k}); len(errs) != 0 {
		t.Errorf("unmatched: %v", errs)
	}
	k.Demangled = "other()"
	if errs := facts.Unmatched([]*ir.Func{k}); len(errs) != 2 {
		t.Errorf("unmatched: %v", errs)
	}
}
