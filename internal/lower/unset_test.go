package lower_test

import (
	"os"
	"path/filepath"
	"testing"

	"heddle/internal/ir"
	"heddle/internal/lower"
	"heddle/internal/testing/kernels"
)

// TestUnsetVariables: a variable has a value that nothing is known of where a way leads to a read without a write, and only there:
// where every way writes to it, no trace of it is left.
func TestUnsetVariables(t *testing.T) {
	tests := []struct {
		name, body string
		unset      int
	}{
		{"both ways write", "int x; if (n) x = 1; else x = 2; a[x] = 1;", 0},
		{"written where it is read", "int x; if (n) x = 1; if (n > 5) { x = 7; a[x] = 1; }", 0},
		{"in each iteration", "for (int i = 0; i < n; i++) { int x; if (i) x = i; else x = n; a[x] = 1; }", 0},
		{"one way writes", "int x; if (n) x = 1; a[x] = 1;", 1},
		{"nobody writes", "int x; a[x] = 1;", 1},
		{"a float", "float x; if (n) x = 1; a[n] = x;", 1},
		{"a double", "double x; if (n) x = 1; a[n] = x;", 1},
		{"a pointer", "int *x; if (n) x = a; *x = 1;", 1},
		{"a bool", "bool x; if (n) x = true; if (x) a[n] = 1;", 1},
		{"a char", "char x; if (n) x = 3; a[x] = 1;", 1},
		{"a short", "short x; if (n) x = 3; a[x] = 1;", 1},
		{"a long", "long x; if (n) x = 3; a[x] = 1;", 1},
		{"members, one of them", "struct { int x, y; } s; s.x = 1; if (n) s.y = 2; a[s.x + s.y] = 1;", 1},
		{"an array", "int x[2]; if (n) x[0] = 1; x[1] = 2; a[x[0]] = x[1];", 1},
		{"an array that is all written", "int x[2]; x[0] = n; x[1] = 2; a[x[0]] = x[1];", 0},
		{"in some iterations", "for (int i = 0; i < n; i++) { int x; if (i) x = i; a[x] = 1; }", 1},
	}
	for _, test := range tests {
		path := filepath.Join(t.TempDir(), "unset.cu")
		if err := os.WriteFile(path, []byte("__global__ void k(int *a, int n) { "+test.body+" }\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		m, _ := kernels.File(t, path, lower.Options{})
		f := m.Funcs[0]
		if n := unwritten(f); n != test.unset {
			t.Errorf("%s: %d registers that some way reads without a write, want %d", test.name, n, test.unset)
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
