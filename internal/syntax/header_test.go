package syntax_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/edit"
	"heddle/internal/ir"
	"heddle/internal/lower"
	"heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

// TestHeaderKernel has a kernel in a user's header, and a second kernel that calls a function of
// the header twice. The points of the function are at both calls, positions are those of the
// unmarked headers, and the edit names the header relative to the working directory.
func TestHeaderKernel(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.Mkdir("inc", 0o755); err != nil {
		t.Fatal(err)
	}
	const header = "#pragma once\n__device__ inline void put(int *p, int v) { p[threadIdx.x] = v; " +
		"p[threadIdx.x + 1] = v; }\n" +
		"template <int N> __global__ void tile(int *a) {\n\t__shared__ int s[N];\n\ts[threadIdx.x] = " +
		"a[threadIdx.x];\n\ta[threadIdx.x] = s[N - 1 - threadIdx.x];\n}\n"
	write(t, filepath.Join("inc", "tile.cuh"), header)
	write(t, "main.cu", "#include \"inc/../inc/tile.cuh\"\n#include <cstdio>\n__global__ void k(int "+
		"*a) { put(a, 1); put(a, 2); }\ntemplate __global__ void tile<64>(int *);\n")
	set := source.NewSet()
	in := lower.Input{Name: "main.cu"}
	u := read(t, set, in, lower.Options{})
	var names []string
	for _, f := range u.Files {
		names = append(names, f.Name)
	}
	if got := strings.Join(names, " "); got != "inc/tile.cuh main.cu" {
		t.Fatalf("functions in %s", got)
	}
	m := compile(t, set, in, marked(u, lower.Options{}))
	count := make(map[string]int)
	for _, f := range m.Funcs {
		for _, b := range f.Blocks {
			for _, in := range b.Instrs {
				where, l, ok := locate(u, in)
				switch n, point, _ := in.Point(); {
				case point:
					if f, _, ok := u.Find(n); !ok || f != where {
						t.Errorf("point %d is in %v", n, where)
					}
					count[where.Name]++
				case in.Op() == "st" && in.Space.String() == "global":
					if !ok || where.Tree.Labels[l].Kind != place.Stmt || where.Tree.Labels[l].Closed {
						t.Errorf("a store at %s is in label %d of %v", set.Format(in.Loc.Pos), l, where)
					}
				}
			}
		}
	}
	// put has its start and two statements, and is called twice; k has its start and two calls; tile
	// has its start and three statements.
	if count["put"] != 6 || count["k"] != 3 || count["tile"] != 4 {
		t.Errorf("points %v, want put 6, k 3, tile 4", count)
	}
	checkHeaderEdit(t, u)
}

// checkHeaderEdit inserts a barrier into the kernel of the header.
func checkHeaderEdit(t *testing.T, u *syntax.Unit) {
	t.Helper()
	f := u.Funcs[1]
	edits, err := u.Edits(map[*syntax.Func]place.Placement{f: {f.Tree.Labels[0].Kids[2]: true}},
		func(*syntax.Func, place.Label) string { return u.Barrier(true, false) })
	if err != nil {
		t.Fatal(err)
	}
	diff, err := edit.Diff(edits[0].File, edits[0].Edits)
	if err != nil {
		t.Fatal(err)
	}
	const want = "--- a/inc/tile.cuh\n+++ b/inc/tile.cuh\n@@ -3,5 +3,6 @@\n template <int N> " +
		"__global__ void tile(int *a) {\n \t__shared__ int s[N];\n" +
		" \ts[threadIdx.x] = a[threadIdx.x];\n+\t__syncthreads();\n \ta[threadIdx.x] = s[N - 1 - " +
		"threadIdx.x];\n }\n"
	if diff != want {
		t.Errorf("diff\n%s\nwant\n%s", diff, want)
	}
}

// locate returns the function and the label of the innermost frame of an instruction.
func locate(u *syntax.Unit, in *ir.Instr) (*syntax.Func, place.Label, bool) {
	if in.Loc == nil {
		return nil, place.None, false
	}
	f := u.FuncOf(in.Loc.Pos)
	if f == nil {
		return nil, place.None, false
	}
	l, ok := f.Locate(in.Loc)
	return f, l, ok
}
