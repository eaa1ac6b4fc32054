package launch

import (
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/source"
)

// withFrames returns a kernel with one instruction that was inlined from functions with these names.
func withFrames(names ...string) *ir.Func {
	b := &ir.Block{}
	for _, name := range names {
		b.Instrs = append(b.Instrs, &ir.Instr{Loc: &source.Frame{Func: name,
			Parent: &source.Frame{Func: "k(int*)"}}})
	}
	return &ir.Func{Kernel: true, Demangled: "k(int*)", Blocks: []*ir.Block{b}}
}

// The arguments of CUB's templates, by the documentation of each class: the dimension x of the block
// is the second, those of y and z are behind the parameters of the algorithm.
func TestLibraryBlock(t *testing.T) {
	const reduce = "int cub::CUB_200500_SM_800_NS::BlockReduce<int, 128, " +
		"(cub::CUB_200500_SM_800_NS::BlockReduceAlgorithm)2, 1, 1, 0>::Sum(int)"
	for _, tt := range []struct {
		name   string
		frames []string
		want   event.Dim3
		class  string
	}{
		{"none", []string{"foo(int)"}, event.Dim3{}, ""},
		{"one", []string{reduce}, event.Dim3{X: 128, Y: 1, Z: 1}, "cub::BlockReduce"},
		// CUB_WRAPPED_NAMESPACE puts the namespace cub into another one.
		{"in a namespace", []string{"int mine::cub::BlockReduce<int, 96, (mine::cub::A)2, 1, 1>::X()"},
			event.Dim3{X: 96, Y: 1, Z: 1}, "cub::BlockReduce"},
		{"three dimensions", []string{"cub::BlockScan<std::pair<int, float>, 16, (cub::A)2, 8, 4>::X()"},
			event.Dim3{X: 16, Y: 8, Z: 4}, "cub::BlockScan"},
		{"without the defaults", []string{"void cub::BlockLoad<float, 256, 4>::Load()"},
			event.Dim3{X: 256, Y: 1, Z: 1}, "cub::BlockLoad"},
		{"a sort", []string{"void cub::BlockRadixSort<int, 64, 4, cub::NullType, 4, true, " +
			"(cub::B)2, (cudaSharedMemConfig)1, 2, 1, 0>::Sort(int (&) [4])"},
			event.Dim3{X: 64, Y: 2, Z: 1}, "cub::BlockRadixSort"},
		{"the same twice", []string{reduce, reduce + "x"}, event.Dim3{X: 128, Y: 1, Z: 1},
			"cub::BlockReduce"},
		{"they differ", []string{reduce, "cub::BlockScan<int, 64, (cub::A)2, 1, 1>::X()"},
			event.Dim3{}, ""},
		{"classes of a warp and classes inside", []string{"cub::WarpReduce<int, 32>::Sum(int)",
			"cub::BlockReduceWarpReductions<int, 128, 1, 1, 0>::Sum()"}, event.Dim3{}, ""},
		{"no block", []string{"cub::BlockReduce<int, 4096>::Sum()", "cub::BlockReduce<int, T>::Sum()",
			"cub::BlockReduce<int, 128"}, event.Dim3{}, ""},
		{"of others", []string{"mycub::BlockReduce<int, 128>::Sum()"}, event.Dim3{}, ""},
	} {
		d, class, ok := libraryBlock(withFrames(tt.frames...))
		if ok != (tt.class != "") || ok && (d != tt.want || class != tt.class) {
			t.Errorf("%s: %v of %s, %v, want %v of %s", tt.name, d, class, ok, tt.want, tt.class)
		}
	}
}

// The block of the library is what the launch takes where nothing else says one: it is no guess.
func TestLibraryBlockResolved(t *testing.T) {
	k := withFrames("int cub::BlockReduce<int, 96>::Sum(int)")
	cfg, errs := Resolve(k, Request{}, nil)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	if cfg.Geometry.Block.X != 96 || cfg.Origins["block"].Guessed() {
		t.Errorf("block %v (%v)", cfg.Geometry.Block, cfg.Origins["block"])
	}
	if got := cfg.origin("block"); got != " (cub::BlockReduce)" {
		t.Errorf("origin %q", got)
	}
	cfg, _ = Resolve(k, Request{Block: &event.Dim3{X: 32, Y: 1, Z: 1}}, nil)
	if cfg.Geometry.Block.X != 32 || cfg.Origins["block"] != FromFlag {
		t.Errorf("with a flag: block %v (%v)", cfg.Geometry.Block, cfg.Origins["block"])
	}
}
