package syntax_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/edit"
	"heddle/internal/lower"
	"heddle/internal/place"
	"heddle/internal/source"
	"heddle/internal/syntax"
	"heddle/internal/testing/long"
)

// A random function is printed as source, in a random layout, and as the tree that the definitions
// of package place require. The two printers share no code.
type stmt struct {
	kind   string // simple decl block if ifelse while for do switch break continue return
	body   []*stmt
	els    []*stmt   // of ifelse
	cases  [][]*stmt // of switch
	braced [2]bool
}

type drawer struct{ *rand.Rand }

// list generates the statements of a block.
func (d drawer) list(depth int, inLoop, inSwitch bool) []*stmt {
	var out []*stmt
	for range d.IntN(4) {
		out = append(out, d.stmt(depth, inLoop, inSwitch))
	}
	return out
}

func (d drawer) stmt(depth int, inLoop, inSwitch bool) *stmt {
	kinds := []string{"simple", "simple", "simple", "decl"}
	if depth > 0 {
		kinds = append(kinds, "block", "if", "if", "ifelse", "ifelse", "while", "for", "do", "switch")
	}
	if inLoop {
		kinds = append(kinds, "continue", "break")
	}
	if inSwitch {
		kinds = append(kinds, "break")
	}
	if d.IntN(10) == 0 {
		kinds = append(kinds, "return")
	}
	s := &stmt{kind: kinds[d.IntN(len(kinds))]}
	switch s.kind {
	case "block":
		s.body, s.braced[0] = d.list(depth-1, inLoop, inSwitch), true
	case "if":
		s.body, s.braced[0] = d.body(depth, inLoop, inSwitch, false)
	case "ifelse":
		s.body, s.braced[0] = d.body(depth, inLoop, inSwitch, true)
		s.els, s.braced[1] = d.body(depth, inLoop, inSwitch, false)
	case "while", "for", "do":
		s.body, s.braced[0] = d.body(depth, true, false, false)
	case "switch":
		for range 1 + d.IntN(3) {
			s.cases = append(s.cases, append([]*stmt{{kind: "simple"}}, d.list(depth-1, inLoop, true)...))
		}
	}
	return s
}

// body generates a block, or a single statement without braces. Before an else the statement is
// simple, so that the else belongs to the outer if.
func (d drawer) body(depth int, inLoop, inSwitch, simple bool) ([]*stmt, bool) {
	if depth <= 0 || d.IntN(2) == 0 {
		return d.list(depth-1, inLoop, inSwitch), true
	}
	for {
		s := d.stmt(depth-1, inLoop, inSwitch)
		if s.kind == "decl" || s.kind == "block" || simple && s.kind != "simple" {
			continue
		}
		return []*stmt{s}, false
	}
}

// printer prints source.
type printer struct {
	drawer
	strings.Builder
	unit string
	br   string
	vars int
}

func (p *printer) space(level int) {
	switch p.IntN(8) {
	case 0:
		p.WriteString(" ")
	case 1:
		p.WriteString(" /* ; { */ ")
	case 2:
		p.WriteString(" // ' }" + p.br + strings.Repeat(p.unit, level))
	default:
		p.WriteString(p.br + strings.Repeat(p.unit, level))
	}
}

func (p *printer) list(list []*stmt, level int) {
	for _, s := range list {
		p.space(level)
		p.stmt(s, level)
	}
}

func (p *printer) body(list []*stmt, braced bool, level int) {
	if !braced {
		p.space(level + 1)
		p.stmt(list[0], level+1)
		return
	}
	p.WriteString(" {")
	p.list(list, level+1)
	p.space(level)
	p.WriteString("}")
}

func (p *printer) stmt(s *stmt, level int) {
	p.vars++
	switch s.kind {
	case "simple":
		fmt.Fprintf(p, []string{"a[%d] = n;", "SET(a[%d], (n));", "a[%d]++ ;",
			"ONE(a[%d] = n);"}[p.IntN(4)], p.vars)
	case "decl":
		fmt.Fprintf(p, "int v%d = a[1];", p.vars)
	case "break", "continue", "return":
		p.WriteString(s.kind + ";")
	case "block":
		p.body(s.body, true, level)
	case "if":
		p.WriteString("if (a[2])")
		p.body(s.body, s.braced[0], level)
	case "ifelse":
		p.WriteString("if (a[2])")
		p.body(s.body, s.braced[0], level)
		p.space(level)
		p.WriteString("else")
		p.body(s.els, s.braced[1], level)
	case "while":
		p.WriteString("while (a[3])")
		p.body(s.body, s.braced[0], level)
	case "for":
		p.WriteString("for (int i = 0; i < n; i++)")
		p.body(s.body, s.braced[0], level)
	case "do":
		p.WriteString("do")
		p.body(s.body, s.braced[0], level)
		p.WriteString(" while (a[4]);")
	case "switch":
		p.WriteString("switch (n) {")
		for i, c := range s.cases {
			p.space(level)
			fmt.Fprintf(p, "case %d:", i)
			p.list(c, level+1)
		}
		p.space(level)
		p.WriteString("}")
	}
}

// expected prints the tree of a block by the definition of place.Node, and reports whether its end
// is unreachable.
func expected(b *strings.Builder, list []*stmt) (dead bool) {
	b.WriteString("Start ")
	for _, s := range list {
		var sub strings.Builder
		closed := false
		block := func(kind string, body []*stmt) bool {
			sub.WriteString(kind + "(")
			end := expected(&sub, body)
			sub.WriteString(")")
			return end
		}
		flags := func(closed bool) string {
			out := ""
			if closed {
				out += "!"
			}
			if jumps(s, true, true) {
				out += "j"
			}
			return out + " "
		}
		switch s.kind {
		case "simple", "decl":
			sub.WriteString("Stmt")
		case "break", "continue", "return":
			sub.WriteString("Stmt")
			dead, closed = true, true
		case "block":
			end := block("Block", s.body)
			dead = dead || end
		case "if":
			block("Cond", s.body)
		case "ifelse":
			one := block("Cond", s.body)
			sub.WriteString(flags(true))
			two := block("Cond", s.els)
			dead = dead || one && two
		case "for":
			b.WriteString("Stmt! ")
			sub.WriteString("Loop(")
			expected(&sub, s.body)
			sub.WriteString("Stmt! )")
		case "while":
			block("Loop", s.body)
		case "do":
			sub.WriteString("Loop(")
			expected(&sub, s.body)
			sub.WriteString("Stmt! )")
		case "switch":
			for i, c := range s.cases {
				if i > 0 {
					sub.WriteString(flags(true))
				}
				block("Cond", c)
			}
		}
		b.WriteString(sub.String() + flags(closed || dead))
	}
	return dead
}

// jumps reports whether control may leave the statement other than at its end. breaks and continues
// mean that such a statement leaves it.
func jumps(s *stmt, breaks, continues bool) bool {
	switch s.kind {
	case "return":
		return true
	case "break":
		return breaks
	case "continue":
		return continues
	case "while", "for", "do":
		breaks, continues = false, false
	case "switch":
		breaks = false
	}
	for _, list := range append([][]*stmt{s.body, s.els}, s.cases...) {
		for _, k := range list {
			if jumps(k, breaks, continues) {
				return true
			}
		}
	}
	return false
}

var kindNames = [...]string{place.Stmt: "Stmt", place.Start: "Start", place.Block: "Block",
	place.Cond: "Cond", place.Loop: "Loop"}

// shape prints a tree in the form of expected, without its barriers.
func shape(b *strings.Builder, tree *place.Tree, l place.Label) {
	for _, k := range tree.Labels[l].Kids {
		n := tree.Labels[k]
		if n.Barrier {
			continue
		}
		b.WriteString(kindNames[n.Kind])
		if len(n.Kids) > 0 {
			b.WriteString("(")
			shape(b, tree, k)
			b.WriteString(")")
		}
		if n.Closed {
			b.WriteString("!")
		}
		if n.Jump {
			b.WriteString("j")
		}
		b.WriteString(" ")
	}
}

// TestRandomTrees prints random kernels, reads them back, places barriers at random labels, and
// reads the result back.
func TestRandomTrees(t *testing.T) {
	files := 4
	if long.All() {
		files = 60
	}
	for seed := range files {
		randomFile(t, uint64(seed))
	}
}

func randomFile(t *testing.T, seed uint64) {
	t.Helper()
	d := drawer{rand.New(rand.NewPCG(seed, 1))}
	p := &printer{drawer: d, unit: []string{"  ", "\t"}[d.IntN(2)],
		br: []string{"\n", "\r\n"}[d.IntN(2)]}
	fmt.Fprintf(p, "#define SET(x, y) do { (x) = (y); } while (0)%s#define ONE(x) x%s", p.br, p.br)
	var want []string
	for i := range 30 {
		body := d.list(4, false, false)
		fmt.Fprintf(p, "__global__ void k%d(int *a, int n)", i)
		p.body(body, true, 0)
		p.WriteString(p.br)
		var b strings.Builder
		expected(&b, body)
		want = append(want, b.String())
	}
	path := filepath.Join(t.TempDir(), "k.cu")
	write(t, path, p.String())
	u := read(t, source.NewSet(), lower.Input{Name: path}, lower.Options{})
	if len(u.Funcs) != len(want) {
		t.Fatalf("seed %d: %d functions, want %d", seed, len(u.Funcs), len(want))
	}
	placements := make(map[*syntax.Func]place.Placement)
	for i, f := range u.Funcs {
		if got := shapeOf(f); got != want[i] {
			t.Fatalf("seed %d, %v: tree\n%s\nwant\n%s\n%s", seed, f, got, want[i], bodyText(f))
		}
		placements[f] = make(place.Placement)
		for l, n := range f.Tree.Labels {
			if !n.Closed && d.IntN(4) == 0 {
				placements[f][place.Label(l)] = true
			}
		}
	}
	edits, err := u.Edits(placements,
		func(*syntax.Func, place.Label) string { return u.Barrier(true, true) })
	if err != nil {
		t.Fatal(err)
	}
	text, err := edit.Apply(edits[0].File, edits[0].Edits)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(text), "\n") - strings.Count(string(text), p.br); n != 0 {
		t.Errorf("seed %d: %d line breaks of another kind", seed, n)
	}
	write(t, path, string(text))
	again := read(t, source.NewSet(), lower.Input{Name: path}, lower.Options{})
	for i, f := range again.Funcs {
		if got := shapeOf(f); got != want[i] {
			t.Fatalf("seed %d, %v: with barriers the tree is\n%s\nwant\n%s\n%s", seed, f, got, want[i],
				bodyText(f))
		}
		if got, want := placed(f), fmt.Sprint(placements[u.Funcs[i]]); got != want {
			t.Fatalf("seed %d, %v: barriers after %s, want %s\n%s", seed, f, got, want, bodyText(f))
		}
	}
}

func shapeOf(f *syntax.Func) string {
	var b strings.Builder
	shape(&b, &f.Tree, 0)
	return b.String()
}

func bodyText(f *syntax.Func) string {
	start, _ := f.File.Offset(f.Span.Start)
	end, _ := f.File.Offset(f.Span.End)
	return string(f.File.Content[start:end])
}

// placed returns the placement of the barriers of f, in the label numbers of f without barriers.
func placed(f *syntax.Func) string {
	number := make([]place.Label, len(f.Tree.Labels))
	n := place.Label(0)
	for l, node := range f.Tree.Labels {
		number[l] = n
		if !node.Barrier {
			n++
		}
	}
	p := make(place.Placement)
	for _, node := range f.Tree.Labels {
		for i, k := range node.Kids {
			if f.Tree.Labels[k].Barrier {
				p[number[node.Kids[i-1]]] = true
			}
		}
	}
	return fmt.Sprint(p)
}
