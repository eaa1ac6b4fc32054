package lower_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/lower"
	"heddle/internal/testing/kernels"
)

// TestUnsetVariables checks that a variable has an arbitrary value where a path leads to a read
// without a write, and that nothing is added where every path writes to it.
func TestUnsetVariables(t *testing.T) {
	tests := []struct {
		name, body string
		unset      int
	}{
		{"both ways write", "int x; if (n) x = 1; else x = 2; a[x] = 1;", 0},
		{"written where it is read", "int x; if (n) x = 1; if (n > 5) { x = 7; a[x] = 1; }", 0},
		{"in each iteration", "for (int i = 0; i < n; i++) { int x; if (i) x = i; else x = n; a[x] = 1; }", 0},
		{"one way writes", "int x; if (n) x = 1; a[x] = 1;", 1},
		{"no write", "int x; a[x] = 1;", 1},
		{"a float", "float x; if (n) x = 1; a[n] = x;", 1},
		{"a double", "double x; if (n) x = 1; a[n] = x;", 1},
		{"a pointer", "int *x; if (n) x = a; *x = 1;", 1},
		{"a bool", "bool x; if (n) x = true; if (x) a[n] = 1;", 1},
		{"a char", "char x; if (n) x = 3; a[x] = 1;", 1},
		{"a short", "short x; if (n) x = 3; a[x] = 1;", 1},
		{"a long", "long x; if (n) x = 3; a[x] = 1;", 1},
		{"128 bits", "__int128 x; if (n) x = 3; a[(long)x] = 1;", 2},
		{"members, one of them", "struct { int x, y; } s; s.x = 1; if (n) s.y = 2; a[s.x + s.y] = 1;", 1},
		{"an array", "int x[2]; if (n) x[0] = 1; x[1] = 2; a[x[0]] = x[1];", 1},
		{"an array that is all written", "int x[2]; x[0] = n; x[1] = 2; a[x[0]] = x[1];", 0},
		{"members of an array, copied",
			"struct S { int x[2]; } s; if (n) s.x[1] = 1; S r = s; a[r.x[1]] = 1;", 1},
		{"an array that a function fills",
			"int x[2]; auto fill = [](int (&x)[2], int n) { if (n) x[1] = n; }; fill(x, n); a[x[1]] = 1;",
			1},
		{"a long array", "int x[1000]; if (n) x[700] = 1; a[x[700]] = 1;", 1},
		{"an array that stays in memory",
			"int x[100]; for (int i = 0; i < n; i++) x[i] = i; a[x[n]] = 1;", 0},
		{"a goto passes it by", "if (n) goto l; int x; x = 1; l: a[x] = 1;", 1},
		{"a goto that passes by no read", "if (n) goto l; int x; x = 1; a[x] = 1; l: a[n] = 1;", 0},
		{"a label of a switch passes it by", "switch (n) { int x; case 0: x = 3; case 1: a[x] = 1; }", 1},
		{"a result that one way gives", "auto f = [](int n) -> int { if (n) return 1; }; a[f(n)] = 1;",
			1},
		{"a result that both ways give",
			"auto f = [](int n) -> int { if (n) return 1; return 2; }; a[f(n)] = 1;", 0},
		{"what a function returns", "struct S { int x, y; }; auto f = [](int n) { S s; if (n) s.y = 1; return s; }; a[f(n).y] = 1;", 1},
		{"what a function returns, in a struct with an array",
			"struct S { int x[3]; }; auto f = [](int n) { S s; s.x[0] = s.x[1] = 2; if (n) s.x[2] = 1; return s; }; a[f(n).x[2]] = 1;", 1},
		{"in some iterations", "for (int i = 0; i < n; i++) { int x; if (i) x = i; a[x] = 1; }", 1},
	}
	var text strings.Builder
	for i, test := range tests {
		fmt.Fprintf(&text, "extern \"C\" __global__ void k%d(int *a, int n) { %s }\n", i, test.body)
	}
	path := filepath.Join(t.TempDir(), "unset.cu")
	if err := os.WriteFile(path, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	m, _ := kernels.File(t, path, lower.Options{})
	for i, test := range tests {
		at := slices.IndexFunc(m.Funcs, func(f *ir.Func) bool { return f.Name == fmt.Sprintf("k%d", i) })
		if n := unwritten(m.Funcs[at]); n != test.unset {
			t.Errorf("%s: %d registers that some way reads without a write, want %d", test.name, n,
				test.unset)
		}
	}
}

// unwritten counts the registers that are live at the start of a function.
func unwritten(f *ir.Func) int {
	in := make([]map[ir.RegID]bool, len(f.Blocks))
	each := func(ops []ir.Operand, address bool, visit func(ir.RegID)) {
		for _, o := range ops {
			for _, e := range append([]ir.Operand{o}, o.Elems...) {
				if (e.Kind == ir.Register || address && e.Kind == ir.Mem) && e.Reg != ir.NoReg {
					visit(e.Reg)
				}
			}
		}
	}
	for changed := true; changed; {
		changed = false
		for i, b := range f.Blocks {
			live := map[ir.RegID]bool{}
			for _, s := range b.Succs {
				for r := range in[s] {
					live[r] = true
				}
			}
			for j := len(b.Instrs) - 1; j >= 0; j-- {
				x := b.Instrs[j]
				if x.Guard == ir.NoReg {
					each(x.Dst, false, func(r ir.RegID) { delete(live, r) })
				} else {
					live[x.Guard] = true
				}
				each(x.Src, true, func(r ir.RegID) { live[r] = true })
			}
			changed = changed || len(live) != len(in[i])
			in[i] = live
		}
	}
	return len(in[0])
}
