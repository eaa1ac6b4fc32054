package driver

import (
	"testing"

	"heddle/internal/ir"
	"heddle/internal/source"
)

// An instruction in a library is at the user's call, of which the stack begins; the innermost place
// and the function that the user calls are named. In a kernel of a library nothing is folded, and
// what a library calls back is the user's.
func TestPlaceInLibrary(t *testing.T) {
	files := source.NewSet()
	own, lib := files.Named("k.cu"), files.Named("/x/cub/block/b.cuh")
	frame := func(f *source.File, line int, fn string, parent *source.Frame) *source.Frame {
		return &source.Frame{Func: fn, Pos: source.MakePos(f.ID, line, 1), Parent: parent,
			Library: f == lib}
	}
	m := &Module{IR: &ir.Module{Files: files, Libraries: []string{"/x/cub/"}}}
	kernel := frame(own, 7, "k(int*)", nil)
	sum := frame(lib, 40, "int cub::CUB_200500_SM_800_NS::BlockReduce<int, 128, "+
		"(cub::CUB_200500_SM_800_NS::A)2>::Sum<cub::Max>(int, int)", kernel)
	inner := frame(lib, 12, "void cub::detail::put<int>(int)", sum)
	callback := frame(own, 3, "Max::operator()(int, int) const", inner)
	for _, tt := range []struct {
		name  string
		in    *ir.Instr
		calls []*ir.Instr
		line  int
		depth int
		note  string
	}{
		{"the user's code", &ir.Instr{Loc: kernel}, nil, 7, 1, ""},
		{"inlined", &ir.Instr{Loc: inner}, nil, 7, 1, "cub::BlockReduce::Sum (cub/block/b.cuh:12)"},
		{"called", &ir.Instr{Loc: frame(lib, 12, "cub::put(int)", nil)}, []*ir.Instr{{Loc: kernel}}, 7, 1,
			"cub::put (cub/block/b.cuh:12)"},
		{"the user's operator", &ir.Instr{Loc: callback}, nil, 3, 4, ""},
		{"a kernel of the library", &ir.Instr{Loc: frame(lib, 9, "cub::K()", nil)}, nil, 9, 1, ""},
	} {
		if at := Place(tt.in, tt.calls...); at.Start.Line() != tt.line {
			t.Errorf("%s: line %d, want %d", tt.name, at.Start.Line(), tt.line)
		}
		if s := Stack(tt.in, tt.calls...); len(s) != tt.depth || s[0].Pos.Line() != tt.line {
			t.Errorf("%s: stack %+v, want %d frames from line %d", tt.name, s, tt.depth, tt.line)
		}
		if got := m.InLibrary(tt.in, tt.calls...); got != tt.note {
			t.Errorf("%s: note %q, want %q", tt.name, got, tt.note)
		}
	}
}

// The names of files in notes: as an #include has them, or as a package of Python does.
func TestLibraryName(t *testing.T) {
	dirs := []string{"/x/cub/", "/env/triton/language/", "/env/triton/experimental/gluon/language/",
		"/env/nvidia_cutlass_dsl/"}
	for name, want := range map[string]string{
		"/x/cub/block/b.cuh":                               "cub/block/b.cuh",
		"/env/triton/language/standard.py":                 "triton/language/standard.py",
		"/env/triton/experimental/gluon/language/_core.py": "triton/experimental/gluon/language/_core.py",
		"/env/nvidia_cutlass_dsl/cutlass/cute/core.py":     "nvidia_cutlass_dsl/cutlass/cute/core.py",
		"/me/k.py": "/me/k.py",
	} {
		if got := libraryName(dirs, name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// What remains of the name of a function: what the user writes.
func TestLibraryFunc(t *testing.T) {
	for name, want := range map[string]string{
		"int cub::CUB_200500_SM_800_NS::BlockReduce<int, 128>::Sum<true>(int, int)": "cub::BlockReduce::Sum",
		"cuda::std::__4::plus<void>::operator()(int, int) const":                    "cuda::std::plus::operator",
		"int cub::_V_300600_SM_800::BlockReduce<int, 128>::Sum<true>(int, int)":     "cub::BlockReduce::Sum",
		"cub::CUB_200500_800_NS::DeviceScan::Sum()":                                 "cub::DeviceScan::Sum",
		"cub::CUB_200805_SM_800::DeviceScan::Sum<int>(int)":                         "cub::DeviceScan::Sum",
		"thrust::THRUST_200500_SM_800_NS::sort":                                     "thrust::sort",
		"":                                                                          "",
	} {
		if got := libraryFunc(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}
