package launch

import (
	"fmt"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// withParams builds a kernel with these parameters: p is a pointer, i an int, and l a long, each
// followed by its name.
func withParams(words string, sregs ...ir.Sreg) *ir.Func {
	k := kernel(sregs...)
	k.Params, k.Demangled = nil, "k"
	for _, w := range strings.Fields(words) {
		v := &ir.Var{Name: w[1:], Source: w[1:], Space: event.Param, Type: isa.U64, Size: 8}
		switch w[0] {
		case 'p':
			v.Pointer = true
		case 'i':
			v.Type, v.Size = isa.U32, 4
		}
		k.Params = append(k.Params, v)
	}
	return k
}

// The values of unknowns are guesses, but what follows from them fits together: the tests state
// the relations of the host code, and that the launch is small, has several blocks, and is one that a
// device accepts.
func TestChoose(t *testing.T) {
	tests := []struct {
		name, params, src string
		sregs             []ir.Sreg
		want              func(v map[string]int64) bool
	}{
		{"ceil of one dimension", "po in", "void f(int *o, int n) { k<<<(n + 255) / 256, 256>>>(o, n); }",
			nil, func(v map[string]int64) bool {
				return v["grid.x"] == (v["n"]+255)/256 && v["grid.x"] >= 2 && v["grid.x"] <= 4 &&
					v["n"]%256 == 0
			}},
		{"two dimensions and planes", "po iw ih ipitch iplane",
			"void f(int *o, int w, int h, int p, int n) { dim3 b(16, 16), g((w + 15) / 16, (h + 15) / 16, n);\nk<<<g, b>>>(o, w, h, p, p * h); }",
			[]ir.Sreg{ir.CtaidZ, ir.TidY}, func(v map[string]int64) bool {
				return v["grid.x"] == (v["w"]+15)/16 && v["grid.y"] == (v["h"]+15)/16 &&
					v["plane"] == v["pitch"]*v["h"] && v["pitch"] >= v["w"] && v["w"] != v["h"]
			}},
		{"extent from the launch", "po iw ih ipitch",
			"void f(int *o, int w, int h) { dim3 b(w / 128, h / 4), t(16, 4); k<<<b, t>>>(o, w, h, w); }",
			[]ir.Sreg{ir.CtaidY, ir.TidY}, func(v map[string]int64) bool {
				return v["grid.x"]*128 == v["w"] && v["grid.y"]*4 == v["h"] && v["pitch"] == v["w"]
			}},
		{"product of three", "po iB iT iC",
			"void f(int *o, int B, int T, int C) { k<<<(B * T * C + 255) / 256, 256>>>(o, B, T, C); }",
			nil, func(v map[string]int64) bool {
				n := v["B"] * v["T"] * v["C"]
				return v["grid.x"] == (n+255)/256 && n <= 1024 && v["B"] > 0 && v["T"] > 0 && v["C"] > 0
			}},
		{"square", "po iupper is", "void f(int *o, int n) { int s = (n + 31) / 32; k<<<s * s, 1024>>>(o, s * 32, s); }",
			nil, func(v map[string]int64) bool {
				return v["grid.x"] == v["s"]*v["s"] && v["upper"] == 32*v["s"] && v["s"] == 2
			}},
		{"shared memory of arguments", "px in_sections izi_width",
			"void f(float *x, int a, int b) { k<<<8, 64, (a + a * b) * sizeof(float)>>>(x, a, b); }", nil,
			func(v map[string]int64) bool {
				a, b := v["n_sections"], v["zi_width"]
				return v["shared"] == 4*(a+a*b) && v["shared"] <= 48<<10 && a >= 64 && b >= 1
			}},
		{"shared memory alone", "px", "void f(float *x, int n) { k<<<4, 64, n * sizeof(double)>>>(x); }",
			nil, func(v map[string]int64) bool { return v["shared"] == 48<<10 }},
		{"opt-in", "px",
			"void f(float *x, int n) { int b = 4 * n; cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, b); k<<<4, 64, b>>>(x); }",
			nil, func(v map[string]int64) bool { return v["shared"] == 227<<10 }},
		{"unknown block", "px in", "void f(float *x, int n, int t) { k<<<(n + t - 1) / t, t>>>(x, n); }", nil,
			func(v map[string]int64) bool {
				return v["block.x"]%32 == 0 && v["block.x"] <= 256 && v["grid.x"] >= 2 &&
					v["grid.x"] == (v["n"]+v["block.x"]-1)/v["block.x"]
			}},
		{"offsets stay zero", "px in ioffset",
			"void f(float *x, int n, int o) { k<<<(n + o + 63) / 64, 64>>>(x, n, o); }", nil,
			func(v map[string]int64) bool { return v["offset"] == 0 && v["grid.x"]*64 == v["n"] }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := withParams(tt.params, append(tt.sregs, ir.CtaidX)...)
			c := resolve(t, k, Request{}, ScanCUDA(cuda(t, tt.src), nil))
			if v := valuesOf(c); !tt.want(v) {
				t.Errorf("%s", c.Describe())
			}
			if b := c.Geometry.Blocks(); b < 2 || b > 64 {
				t.Errorf("%d blocks", b)
			}
		})
	}
}

// valuesOf returns the shape and the integer arguments of a launch.
func valuesOf(c *Config) map[string]int64 {
	g := c.Geometry
	v := map[string]int64{"grid.x": int64(g.Grid.X), "grid.y": int64(g.Grid.Y),
		"grid.z": int64(g.Grid.Z), "block.x": int64(g.Block.X), "shared": int64(c.DynShared)}
	for _, a := range c.Args {
		n := int64(0)
		for i, b := range a.Bits {
			n |= int64(b) << (8 * i)
		}
		v[a.Name] = n
	}
	return v
}

const ceilLaunch = "void f(int *o, int n) {\n k<<<(n + 255) / 256, 256>>>(o, n); }"

// What follows from a guess says so, with the guess; what a flag decides is no guess.
func TestRelationOrigins(t *testing.T) {
	facts := ScanCUDA(cuda(t, ceilLaunch), nil)
	k := withParams("po in", ir.CtaidX)
	c := resolve(t, k, Request{}, facts)
	if want := "grid 4 (host code: (n + 255) / 256 with n = 1024 guessed), block 256 (host code), " +
		"o: zeros (guessed), n = 1024 (host code: n guessed)"; c.Describe() != want {
		t.Errorf("got  %s\nwant %s", c.Describe(), want)
	}
	if o := c.Origins["grid"]; o != FromRelation || !o.Guessed() {
		t.Errorf("the grid has origin %v", o)
	}
	if len(c.Unknowns) != 1 || c.Unknowns[0].Name != "n" || c.Unknowns[0].Value != 1024 {
		t.Errorf("unknowns: %v", c.Unknowns)
	}
	c = resolve(t, k, request(t, "n=1000"), facts)
	if want := "grid 4 (host code), block 256 (host code), o: zeros (guessed), n = 1000 (flag)"; strings.
		ReplaceAll(c.Describe(), "comment", "flag") != want {
		t.Errorf("got  %s\nwant %s", c.Describe(), want)
	}
	c = resolve(t, k, Request{Unknowns: map[string]int64{"n": 300}}, facts)
	if v := valuesOf(c); v["grid.x"] != 2 || v["n"] != 300 || c.Origins["grid"] != FromRelation {
		t.Errorf("n = 300: %s", c.Describe())
	}
	// A grid from a flag leaves n open, but n still fits the grid.
	c = resolve(t, k, request(t, "grid=3"), facts)
	if v := valuesOf(c); (v["n"]+255)/256 != 3 || c.Origins["arg n"] != FromRelation {
		t.Errorf("grid 3: %s", c.Describe())
	}
}

// The flags of a launch reproduce it without the guesses.
func TestRelationFlags(t *testing.T) {
	facts := ScanCUDA(cuda(t,
		"void f(int *o, int n) {\n k<<<(n + 255) / 256, 256, n * 4>>>(o + 1, o, n); }"), nil)
	k := withParams("pa pb in", ir.CtaidX)
	c := resolve(t, k, Request{}, facts)
	want := fmt.Sprintf("--grid %d --block 256 --shared %d --arg a=alias:b+4 --arg n=%d",
		c.Geometry.Grid.X, c.DynShared, valuesOf(c)["n"])
	if got := c.Flags(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestTemplateLaunch(t *testing.T) {
	facts := ScanCUDA(cuda(t, `template <int T> void go(int *o, int n) { k<T, float><<<n / T, T>>>(o, n); }
void f(int *o) { k<32, int><<<2, 32>>>(o, 64); }`), nil)
	k := withParams("po in", ir.CtaidX)
	k.Demangled = "void k<128, float>(int*, int)"
	all, errs := Launches(k, Request{}, facts)
	if len(errs) > 0 || len(all.Configs) != 1 || all.Configs[0].Geometry.Block.X != 128 ||
		all.Configs[0].Origins["block"] != FromHost {
		t.Errorf("%v %v", all, errs)
	}
}

// Pointers of the host code: which arguments share memory, where they point, and what is there.
func TestHostBuffers(t *testing.T) {
	tests := []struct{ name, src, want string }{
		{"the same twice", "void f(int *d) { k<<<4, 64>>>(d, d, 64); }",
			"a: zeros (guessed), b: the buffer of a (host code)"},
		{"one after the other", "void f(int *d) { k<<<4, 64>>>(d + 1, d, 64); }",
			"a: the buffer of b from byte 4 (host code), b: zeros (guessed)"},
		{"before the start that is known", "void f(int *d) { k<<<4, 64>>>(d - 1, d, 64); }",
			"a: zeros (guessed), b: the buffer of a from byte 4 (host code)"},
		{"interior", "void f(int *d, int *e) { k<<<4, 64>>>(d + 4, e, 64); }",
			"a: zeros from byte 16 (host code: d + 4; contents guessed), b: zeros (guessed)"},
		{"interior, at a place that is not known", "void f(int *d, int *e) { k<<<4, 64>>>(&d[pad(e)], e, 64); }",
			"a: zeros from byte 1024 (host code: &d[pad(e)]; contents guessed), b: zeros (guessed)"},
		{"size", "int main() { int *d, *e; cudaMalloc(&d, 256); cudaMalloc(&e, 1024); k<<<4, 64>>>(d, e, 64); }",
			"a: 256 bytes of zeros (host code; contents guessed), " +
				"b: 1024 bytes of zeros (host code; contents guessed)"},
		// n may be smaller than the guess, so that the kernel stays within the allocation.
		{"size, but a guessed number", "void f(int n) { int *d, *e; cudaMalloc(&d, 256); k<<<4, 64>>>(d, e, n); }",
			"a: zeros (guessed), b: zeros (guessed)"},
		{"beyond the end", "int main() { int *d; cudaMalloc(&d, 256); k<<<4, 64>>>(d, d + 100, 64); }",
			"a: zeros (host code: 256 bytes; contents guessed), b: the buffer of a from byte 400 (host code)"},
		{"null", "void f() { k<<<4, 64>>>(nullptr, 0, 64); }", "a: zeros (guessed), b: zeros (guessed)"},
		{"memset", "int main() { int *d, *e; cudaMalloc(&d, 256); cudaMemset(d, 1, 256); k<<<4, 64>>>(d, e, 64); }",
			"a: 256 bytes of words of 0x1010101 (host code), b: zeros (guessed)"},
		{"zeros", "int main() { int *d, *e; cudaMalloc(&d, 256); cudaMemset(d, 0, 256); k<<<4, 64>>>(d, e, 64); }",
			"a: 256 bytes of zeros (host code), b: zeros (guessed)"},
		{"array", "int main() { int h[] = {1, 2}, *d, *e; cudaMalloc(&d, 8); cudaMemcpy(d, h, 8, cudaMemcpyHostToDevice); k<<<4, 64>>>(d, e, 64); }",
			"a: 8 bytes of given bytes (host code), b: zeros (guessed)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			k := withParams("pa pb in", ir.CtaidX)
			c := resolve(t, k, Request{}, ScanCUDA(cuda(t, tt.src), nil))
			_, got, _ := strings.Cut(c.Describe(), "block 64 (host code), ")
			if got, _, _ = strings.Cut(got, ", n = "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Contents that are tried do not separate buffers that the host code shares.
func TestTriedContentsStayShared(t *testing.T) {
	facts := ScanCUDA(cuda(t, "void f(int *d) { k<<<4, 64>>>(d, d + 1, 64); }"), nil)
	req := Request{}
	for _, p := range []string{"a", "b"} {
		req.Guesses = append(req.Guesses, ArgSpec{Param: p, Offset: -1, Kind: ArgBuffer, Fill: FillRandom})
	}
	c := resolve(t, withParams("pa pb in", ir.CtaidX), req, facts)
	if c.Args[0].Buffer != c.Args[1].Buffer || c.Args[1].Offset != 4 ||
		c.Args[0].Buffer.Fill != FillRandom {
		t.Errorf("%s", c.Describe())
	}
}

// Variables of the device that the host sets.
func TestHostSymbols(t *testing.T) {
	facts := ScanCUDA(cuda(t, `__device__ float *table; __constant__ int size; __constant__ int c[2];
void f(float *o, float *t) { int n = 64; const int h[] = {3, 4};
cudaMemcpyToSymbol(table, &t, sizeof t); cudaMemcpyToSymbol(size, &n, sizeof(int)); cudaMemcpyToSymbol(c, h, sizeof(h));
float *p; cudaGetSymbolAddress((void **)&p, c); k<<<4, 64>>>(o, p, 64); }`), nil)
	c := resolve(t, withParams("pa pb in", ir.CtaidX), Request{}, facts)
	if a := c.Symbols["table"]; a.Buffer == nil || a.Buffer.Size != 0 || c.Origins["symbol table"] !=
		FromRelation {
		t.Errorf("table: %+v", a)
	}
	if a := c.Symbols["size"]; string(a.Bits) != "\x40\x00\x00\x00" {
		t.Errorf("size: %+v", a)
	}
	if a := c.Symbols["c"]; string(a.Bits) != "\x03\x00\x00\x00\x04\x00\x00\x00" {
		t.Errorf("c: %+v", a)
	}
	if c.Args[1].Symbol != "c" {
		t.Errorf("the address of c: %+v", c.Args[1])
	}
}

func TestRelation(t *testing.T) {
	facts := ScanCUDA(cuda(t, ceilLaunch), nil)
	k := withParams("po in", ir.CtaidX)
	r := facts.Relation(k, resolve(t, k, Request{}, facts))
	if r.Grid[0].String() != "(n + 255) / 256" || r.Params[0] != nil || r.Params[1].String() != "n" ||
		strings.Join(r.Unknowns, " ") != "n" {
		t.Errorf("%+v", r)
	}
	r = facts.Relation(k, resolve(t, k, request(t, "grid=7"), facts))
	if r.Grid[0] != nil || r.Params[1] == nil {
		t.Errorf("with a given grid: %+v", r)
	}
}
