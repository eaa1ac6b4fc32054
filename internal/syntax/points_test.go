package syntax_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/source"
	"heddle/internal/syntax"
	"heddle/internal/testing/long"
)

// read returns the unit of a file.
func read(t testing.TB, set *source.Set, in lower.Input, opt lower.Options) *syntax.Unit {
	t.Helper()
	var u *syntax.Unit
	err := lower.AST(t.Context(), in, opt, func(tree *lower.Tree) (err error) {
		u, err = syntax.Read(set, tree, tree.OpenCL, tree.User)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// marked returns the options with the marks of a unit.
func marked(u *syntax.Unit, opt lower.Options) lower.Options {
	for _, fm := range u.Marks() {
		m := lower.Marked{Name: fm.File.Name, Content: fm.File.Content}
		for _, k := range fm.Marks {
			m.Marks = append(m.Marks, lower.Mark(k))
		}
		opt.Marked = append(opt.Marked, m)
	}
	return opt
}

// compile returns the IR of a file.
func compile(t testing.TB, set *source.Set, in lower.Input, opt lower.Options) *ir.Module {
	t.Helper()
	res, err := lower.Lower(t.Context(), in, opt)
	if err != nil {
		if refused, ok := err.(*lower.CompileError); ok {
			t.Log(refused.Output)
		}
		t.Fatal(err)
	}
	file, err := set.Add("kernels.ptx", res[0].PTX)
	if err != nil {
		t.Fatal(err)
	}
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	m, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	return m
}

// none removes the points.
func none(m *ir.Module) (*ir.Module, error) {
	return ir.Placed(m, func(int) (ir.Sync, event.Orders) { return ir.AsIs, event.OrdersAll })
}

// TestMarksChangeNothing compiles kernels with and without marks. After removing the points, both
// must have the same accesses, barriers, calls and branches at the same places of the source, in
// equivalent control flow, so that a result for the marked kernel holds for the user's kernel.
func TestMarksChangeNothing(t *testing.T) {
	n := 0
	for i, path := range sources(t) {
		if !long.All() && i%32 != 0 {
			continue
		}
		t.Run(path, func(t *testing.T) {
			set := source.NewSet()
			in := lower.Input{Name: path}
			u := read(t, set, in, lower.Options{})
			plain, with := compile(t, set, in, lower.Options{}),
				compile(t, set, in, marked(u, lower.Options{}))
			if len(plain.Funcs) != len(with.Funcs) {
				t.Fatalf("%d functions without marks, %d with them", len(plain.Funcs), len(with.Funcs))
			}
			placed, err := none(with)
			if err != nil {
				t.Fatal(err)
			}
			for _, err := range ir.CheckModule(placed) {
				t.Error(err)
			}
			for i, f := range plain.Funcs {
				if f.Blocks == nil {
					continue
				}
				n++
				if what := compareFuncs(f, placed.Funcs[i]); what != "" {
					t.Errorf("%s: %s\nwithout marks:\n%s\nwith marks:\n%s", f.Demangled, what, skeleton(f),
						skeleton(placed.Funcs[i]))
				}
			}
		})
	}
	if n < 15 {
		t.Errorf("only %d functions were compared", n)
	}
}

// sources returns the kernels of the suites and the examples.
func sources(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, dir := range []string{"../../examples", "../../testdata"} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if ext := filepath.Ext(path); err == nil && (ext == ".cu" || ext == ".cl") {
				out = append(out, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(out)
	return out
}

// part is a block of the skeleton of a function: its visible instructions and its successors.
type part struct {
	does []string
	to   []int
}

// skeletonOf returns the control flow of a function without empty blocks, with the visible
// instructions.
func skeletonOf(f *ir.Func) []part {
	parts := make([]part, len(f.Blocks))
	for i, b := range f.Blocks {
		p := &parts[i]
		for _, in := range b.Instrs {
			if s := visible(f, in); s != "" {
				p.does = append(p.does, s)
			}
		}
		for _, s := range b.Succs {
			p.to = append(p.to, int(s))
		}
	}
	for passOn(parts) || merge(parts) {
	}
	return parts
}

// passOn redirects edges around an empty block, and reports whether there was one.
func passOn(parts []part) bool {
	dropUnreached(parts)
	for i := range parts {
		p := &parts[i]
		for k, s := range p.to {
			if q := parts[s]; s != i && len(q.does) == 0 && len(q.to) == 1 && q.to[0] != s {
				p.to[k] = q.to[0]
				return true
			}
		}
		if len(p.to) == 2 && p.to[0] == p.to[1] {
			p.to = p.to[:1]
			return true
		}
	}
	return false
}

// merge merges a block with its only successor if that has no other predecessor.
func merge(parts []part) bool {
	preds := make([]int, len(parts))
	preds[0]++
	for _, p := range parts {
		for _, s := range p.to {
			preds[s]++
		}
	}
	for i, p := range parts {
		if len(p.to) != 1 {
			continue
		}
		if s := p.to[0]; s != i && preds[s] == 1 {
			parts[i] = part{append(slices.Clone(p.does), parts[s].does...), parts[s].to}
			parts[s] = part{}
			return true
		}
	}
	return false
}

// dropUnreached empties the blocks that no path enters.
func dropUnreached(parts []part) {
	seen := make([]bool, len(parts))
	for work := []int{0}; len(work) > 0; {
		at := work[len(work)-1]
		work = work[:len(work)-1]
		if !seen[at] {
			seen[at] = true
			work = append(work, parts[at].to...)
		}
	}
	for i := range parts {
		if !seen[i] {
			parts[i] = part{}
		}
	}
}

var signRE = regexp.MustCompile(`\.[su](\d+)`)

// visible returns the parts of an instruction that must agree: its opcode and its source position.
func visible(f *ir.Func, in *ir.Instr) string {
	op := in.Op()
	switch {
	case op == "bra" || op == "brx.idx" || op == "ld" && strings.Contains(in.Text(), "param") ||
		op == "st" && strings.Contains(in.Text(), "param"):
		return ""
	case op == "ret" || op == "exit":
		return op
	case in.Row.Effect == 0 && op != "call" && op != "trap":
		return ""
	}
	// A load may extend its value, or leave that to the next instruction.
	s := signRE.ReplaceAllString(in.Text(), ".b$1")
	for fr := in.Loc; fr != nil; fr = fr.Parent {
		s += " " + f.Module.Files.Format(fr.Pos)
	}
	return s
}

func skeleton(f *ir.Func) string {
	var b strings.Builder
	for i, p := range skeletonOf(f) {
		if len(p.does)+len(p.to) > 0 {
			fmt.Fprintf(&b, "%d: %v -> %v\n", i, p.does, p.to)
		}
	}
	return b.String()
}

// compareFuncs matches the skeletons block by block from the entry on. The compiler may invert a
// condition, so the successors of a branch may be exchanged, but each block has exactly one
// counterpart.
func compareFuncs(f, g *ir.Func) string {
	a, b := skeletonOf(f), skeletonOf(g)
	if !match(a, b, map[int]int{}, map[int]int{}, [][2]int{{0, 0}}) {
		return "not the same"
	}
	return ""
}

func match(a, b []part, to, from map[int]int, work [][2]int) bool {
	for len(work) > 0 {
		x, y := work[0][0], work[0][1]
		work = work[1:]
		if at, ok := to[x]; ok {
			if at != y {
				return false
			}
			continue
		}
		if _, ok := from[y]; ok || !slices.Equal(a[x].does, b[y].does) || len(a[x].to) != len(b[y].to) {
			return false
		}
		to[x], from[y] = y, x
		switch p, q := a[x].to, b[y].to; len(p) {
		case 2:
			straight := append([][2]int{{p[0], q[0]}, {p[1], q[1]}}, work...)
			if match(a, b, clone(to), clone(from), straight) {
				return true
			}
			work = append([][2]int{{p[0], q[1]}, {p[1], q[0]}}, work...)
		default:
			for i := range p {
				work = append(work, [2]int{p[i], q[i]})
			}
		}
	}
	return true
}

func clone(m map[int]int) map[int]int {
	out := make(map[int]int, len(m))
	for k, v := range m {
		out[k] = v
	}
	return out
}
