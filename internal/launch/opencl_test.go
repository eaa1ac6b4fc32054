package launch

import (
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/source"
)

// localKernel is kernel() with two more parameters, both __local pointers.
func localKernel() *ir.Func {
	k := kernel(ir.TidX, ir.CtaidX)
	for i, name := range []string{"tile", "sums"} {
		v := *k.Params[0]
		v.Name, v.Source, v.Offset, v.PtrSpace = "k_param_"+name, name, 48+8*i, event.Shared
		k.Params = append(k.Params, &v)
	}
	return k
}

func TestGlobalSize(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{"global=256 local=64", "grid 4 (flag), block 64 (flag)"},
		{"global=16,16 local=8,4", "grid 2,4 (flag), block 8,4 (flag)"},
		{"global=256 block=32", "grid 8 (flag), block 32 (flag)"},
		{"global=96", "grid 2 (flag), block 48 (guessed)"}, // the largest divisor up to 64
		{"global=7", "grid 1 (flag), block 7 (guessed)"},
		{"global=127", "grid 127 (flag), block 1 (guessed)"}, // a prime
	} {
		got, _, _ := strings.Cut(resolve(t, kernel(ir.TidX, ir.CtaidX),
			request(t, strings.Fields(c.words)...), nil).Describe(), ", in:")
		if got != c.want {
			t.Errorf("%s: %s, want %s", c.words, got, c.want)
		}
	}
	for words, want := range map[string]string{
		"global=100 local=64":                       "global size 100 (flag) is not a multiple of the local size 64 (flag) in every dimension",
		"global=64,3 local=32,2":                    "global size 64,3 (flag) is not a multiple of the local size 32,2 (flag) in every dimension",
		"global=64 grid=2":                          "both grid 2 and global size 64 are given (flag); give only one of them",
		"global=64 tile=zero":                       "argument tile: the parameter is a __local pointer, which takes a size and not a buffer; give local:BYTES",
		"global=64 in=local:64":                     "argument in: its type is pointer; local:BYTES is only for a __local pointer",
		"global=64 n=local:64":                      "argument n: its type is u32; local:BYTES is only for a __local pointer",
		"global=64 tile=local:300K":                 "argument tile: 307200 bytes of local memory; a block has at most 232448 bytes on any GPU",
		"global=64 tile=local:200K sums=local:200K": "409600 bytes of shared memory for __local arguments and the kernel's variables; a block has at most 232448 bytes on any GPU",
	} {
		_, errs := Resolve(localKernel(), request(t, strings.Fields(words)...), nil)
		if len(errs) != 1 || errs[0].Msg != want {
			t.Errorf("%s: %v, want %s", words, errs, want)
		}
	}
}

// A pragma's global size overrides a grid in host code, and a flag's grid overrides a pragma's
// global size.
func TestGlobalSizePrecedence(t *testing.T) {
	facts := &SourceFacts{Pragmas: []Pragma{{Kernel: "k",
		Request: request(t, "global=256", "local=32")}}}
	if g := resolve(t, kernel(ir.CtaidX), Request{}, facts).Geometry; g.Grid.X != 8 ||
		g.Block.X != 32 {
		t.Errorf("pragma: %+v", g)
	}
	if g := resolve(t, kernel(ir.CtaidX), request(t, "grid=3"), facts).Geometry; g.Grid.X != 3 ||
		g.Block.X != 32 {
		t.Errorf("flag: %+v", g)
	}
}

// The memory of __local arguments follows the dynamic shared memory, at multiples of 128 bytes, in
// the order of the parameters.
func TestLocalArguments(t *testing.T) {
	c := resolve(t, localKernel(), request(t, "tile=local:100", "sums=local:4", "shared=40"), nil)
	if len(c.Locals) != 2 || c.Locals[0] != (Local{"tile", 128, 100}) ||
		c.Locals[1] != (Local{"sums", 256, 4}) {
		t.Errorf("%+v", c.Locals)
	}
	if c.SharedBytes(0) != 260 || c.Args[5].Bits[0] != 128 || c.Args[6].Bits[1] != 1 {
		t.Errorf("%d bytes, %v, %v", c.SharedBytes(0), c.Args[5].Bits, c.Args[6].Bits)
	}
	if !strings.Contains(c.Describe(), "tile: 100 bytes of local memory (flag)") ||
		!strings.Contains(c.Flags(), "--arg tile=local:100") {
		t.Errorf("%s\n%s", c.Describe(), c.Flags())
	}
	// Arguments without a size get equal shares of 48 KiB.
	c = resolve(t, localKernel(), Request{}, nil)
	if c.Locals[0].Size != 24<<10 || c.Locals[1].At != 24<<10 {
		t.Errorf("%+v", c.Locals)
	}
	// Null is allowed.
	if c = resolve(t, localKernel(), request(t, "tile=null"), nil); len(c.Locals) != 1 ||
		c.Args[5].Bits[0] != 0 {
		t.Errorf("%+v", c.Locals)
	}
}

func TestOpenCLPragmas(t *testing.T) {
	set := source.NewSet()
	f, err := set.Add(
		"k.cl", []byte(
			"// heddle: global=64 local=8 tile=local:1K\nkernel __attribute__((reqd_work_group_size(8, 1, 1)))\nvoid k(local int *tile) {}\n"))
	if err != nil {
		t.Fatal(err)
	}
	facts := Scan(f, nil)
	if len(facts.Errs) > 0 || len(facts.Pragmas) != 1 {
		t.Fatalf("%+v", facts)
	}
	p := facts.Pragmas[0]
	if p.Kernel != "k" || p.Line != 3 || p.Request.Global.X != 64 || p.Request.Block.X != 8 ||
		p.Request.Args[0].String() != "tile=local:1024" {
		t.Errorf("%+v", p)
	}
}
