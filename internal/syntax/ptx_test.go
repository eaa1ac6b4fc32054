package syntax_test

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/edit"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/lower"
	"heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
	"heddle/internal/testing/kernels"
	"heddle/internal/testing/long"
)

// A store before a loop; a load and a conditional store in the loop; a barrier and a store after
// it. The body of the loop is after the end of the kernel in the text, as compilers often place it.
const flowKernel = `.version 8.3
.target sm_80
.address_size 64
.visible .entry k(.param .u64 a, .param .u32 n)
{
	.reg .u64 %a;
	.reg .u32 %n, %x;
	.reg .pred %p, %q;
	ld.param.u64 %a, [a];
	ld.param.u32 %n, [n];
	st.global.u32 [%a], 1;
$L1:
	setp.ge.u32 %p, %x, %n;
	@!%p bra $L2;
	bar.sync 0; // there
	st.global.u32 [%a], 4;
	ret;
$L2:
	ld.global.u32 %n, [%a];
	setp.eq.u32 %q, %n, 0;
	@%q bra $L3;
	st.global.u32 [%a], 2;
$L3:
	add.u32 %x, %x, 1;
	bra.uni $L1;
}
`

func TestOfPTX(t *testing.T) {
	m := kernels.PTX(t, flowKernel)
	u, pointed := syntax.OfPTX(m)
	for _, err := range ir.CheckModule(pointed) {
		t.Error(err)
	}
	f := u.Funcs[0]
	// The store, the loop with the load and the branch, the barrier, the last store. The start of the
	// loop header is not a place for the first store; the place after the store is.
	const want = "Start Stmt Loop(Start Stmt Cond(Start Stmt ) ) Stmt "
	if got := shapeOf(f); got != want {
		t.Errorf("tree %s, want %s", got, want)
	}
	barriers := 0
	for _, l := range f.Tree.Labels {
		if l.Barrier {
			barriers++
		}
	}
	if barriers != 1 || !f.Kernel || f.Name != "k" {
		t.Errorf("%v: kernel %v, %d barriers", f, f.Kernel, barriers)
	}
	// Every access has its label, in the copy and in the original.
	for _, mod := range []*ir.Module{m, pointed} {
		for _, b := range mod.Funcs[0].Blocks {
			for _, in := range b.Instrs {
				if in.Space != event.Global {
					continue
				}
				g, l, ok := u.Where(in)
				if !ok || g != f || f.Tree.Labels[l].Kind != place.Stmt || f.Nodes[l].Span != in.Span {
					t.Errorf("%s is at label %d", in, l)
				}
			}
		}
	}
	checkAllOn(t, pointed)
	checkEdited(t, u, want)
}

// checkAllOn turns all points into barriers: there is one after each access and at each start.
func checkAllOn(t *testing.T, pointed *ir.Module) {
	t.Helper()
	all, err := ir.Placed(pointed,
		func(int) (ir.Sync, event.Orders) { return ir.BlockSync, event.OrdersAll })
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, b := range all.Funcs[0].Blocks {
		for _, in := range b.Instrs {
			if op := in.Op(); op == "bar" || in.Space == event.Global {
				got = append(got, op)
			}
		}
	}
	// In the order of the text: the start, the first store; the loop header; after the loop; the
	// barrier, the last store; the load; the branch; after the branch.
	if want := strings.Fields("bar st bar bar bar bar st bar ld bar bar st bar bar"); !slices.Equal(got, want) {
		t.Errorf("all on: %v, want %v", got, want)
	}
}

// checkEdited removes the barrier, adds one after the branch in the loop and one after the loop, and
// reads the edited text. Its tree is unchanged.
func checkEdited(t *testing.T, u *syntax.Unit, want string) {
	t.Helper()
	f := u.Funcs[0]
	loop := kidOf(t, f, 0, place.Loop)
	edits, err := u.Edits(map[*syntax.Func]place.Placement{f: {loop: true,
		kidOf(t, f, loop, place.Cond): true}},
		func(*syntax.Func, place.Label) string { return u.Barrier(true, true) })
	if err != nil {
		t.Fatal(err)
	}
	text, err := edit.Apply(edits[0].File, edits[0].Edits)
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(flowKernel, "\tbar.sync 0; // there\n", "\tbar.sync \t0;\n\t// there\n",
		1)
	edited = strings.Replace(edited, "$L3:\n", "$L3:\n\tbar.sync \t0;\n", 1)
	if string(text) != edited {
		t.Errorf("got\n%s\nwant\n%s", text, edited)
	}
	again, _ := syntax.OfPTX(kernels.PTX(t, string(text)))
	if got := shapeOf(again.Funcs[0]); got != want {
		t.Errorf("edited, the tree is %s, want %s", got, want)
	}
}

// TestOfPTXKeepsKernels builds units of the PTX of the suites. The copy with points passes the IR
// checker, each open label has exactly one point, and without the points the copy equals the
// original.
func TestOfPTXKeepsKernels(t *testing.T) {
	for i, path := range append(sources(t), ptxSources(t)...) {
		if !long.All() && i%48 != 0 && filepath.Ext(path) != ".ptx" {
			continue
		}
		m := compile(t, source.NewSet(), lower.Input{Name: path}, lower.Options{})
		u, pointed := syntax.OfPTX(m)
		for _, err := range ir.CheckModule(pointed) {
			t.Errorf("%s: %v", path, err)
		}
		count := make(map[int]int)
		for _, f := range pointed.Funcs {
			for _, b := range f.Blocks {
				for _, in := range b.Instrs {
					if n, ok, _ := in.Point(); ok {
						count[n]++
					}
				}
			}
		}
		for _, f := range u.Funcs {
			for l, n := range f.Tree.Labels {
				want := 1
				if n.Closed {
					want = 0
				}
				if got := count[f.Point(place.Label(l))]; got != want {
					t.Errorf("%s, %v: label %d has %d points, want %d", path, f, l, got, want)
				}
			}
		}
		back, err := none(pointed)
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range m.Funcs {
			if got, want := back.Funcs[i].String(), f.String(); got != want {
				t.Errorf("%s: without points\n%s\nwas\n%s", path, got, want)
			}
		}
	}
}

func ptxSources(t *testing.T) []string {
	t.Helper()
	out, err := filepath.Glob("../../testdata/suite/*/*.ptx")
	if err != nil || len(out) < 10 {
		t.Fatalf("%d PTX files, error %v", len(out), err)
	}
	return out
}

func kidOf(t *testing.T, f *syntax.Func, l place.Label, kind place.Kind) place.Label {
	t.Helper()
	for _, k := range f.Tree.Labels[l].Kids {
		if f.Tree.Labels[k].Kind == kind {
			return k
		}
	}
	t.Fatalf("label %d has none of kind %d", l, kind)
	return place.None
}
