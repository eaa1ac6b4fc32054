package fix

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/edit"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/launch"
	"heddle/internal/lower"
	"heddle/internal/ptx"
	"heddle/internal/source"
	"heddle/internal/syntax"
	"heddle/internal/testing/long"
)

// structured generates kernels of nested ifs and loops, with breaks, continues, returns and local
// variables. Each thread only writes words of its own, so what a kernel computes does not depend on
// barriers. The byte 1 marks where a barrier is to be put.
type structured struct {
	r     *rand.Rand
	b     strings.Builder
	names int
	vars  []string
	loops int
}

func (g *structured) line(depth int, format string, args ...any) {
	g.b.WriteString(strings.Repeat("    ", depth) + fmt.Sprintf(format, args...))
	if g.r.IntN(6) == 0 {
		g.b.WriteByte(1)
	}
	if g.r.IntN(8) == 0 {
		fmt.Fprintf(&g.b, " // note %d", g.b.Len())
	}
	g.b.WriteByte('\n')
}

func (g *structured) value() string {
	v := g.vars[g.r.IntN(len(g.vars))]
	switch g.r.IntN(3) {
	case 0:
		return v
	case 1:
		return fmt.Sprintf("(%s ^ %d)", v, g.r.IntN(9))
	}
	return fmt.Sprintf("in[(%s & 15) * 4]", v)
}

func (g *structured) cond() string {
	return fmt.Sprintf("(%s & %d) < %d", g.value(), 1+g.r.IntN(7), 1+g.r.IntN(4))
}

func (g *structured) name() string {
	g.names++
	return fmt.Sprint("x", g.names)
}

func (g *structured) block(depth, budget int) {
	vars := len(g.vars)
	for range 1 + g.r.IntN(3) {
		g.stmt(depth, budget)
	}
	if g.r.IntN(5) == 0 {
		switch k := g.r.IntN(3); {
		case k == 0 && depth > 1:
			g.line(depth, "if (%s) return;", g.cond())
		case g.loops > 0 && k == 1:
			g.line(depth, "if (%s) {\n%s    acc++;\n%s    break;\n%s}", g.cond(), strings.Repeat("    ", depth), strings.Repeat("    ", depth), strings.Repeat("    ", depth))
		case g.loops > 0:
			g.line(depth, "if (%s)\n%s    continue;", g.cond(), strings.Repeat("    ", depth))
		}
		g.stmt(depth, 0)
	}
	g.vars = g.vars[:vars]
}

func (g *structured) stmt(depth, budget int) {
	in := strings.Repeat("    ", depth)
	kind := g.r.IntN(9)
	if budget <= 0 {
		kind %= 4
	}
	switch kind {
	case 0:
		g.line(depth, "acc = acc * 3 + %s;", g.value())
	case 1:
		g.line(depth, "out[t + %d] += %s;", 64*g.r.IntN(3), g.value())
	case 2, 3:
		v := g.name()
		g.line(depth, "int %s = %s + %s;", v, g.value(), g.value())
		g.vars = append(g.vars, v)
	case 4, 5:
		fmt.Fprintf(&g.b, "%sif (%s) {\n", in, g.cond())
		g.block(depth+1, budget-1)
		if g.r.IntN(2) == 0 {
			fmt.Fprintf(&g.b, "%s} else {\n", in)
			g.block(depth+1, budget-1)
		}
		g.line(depth, "}")
	case 6:
		i, end := g.name(), "3"
		if g.r.IntN(2) == 0 {
			end = fmt.Sprintf("(%s & 3)", g.value())
		}
		fmt.Fprintf(&g.b, "%sfor (int %s = 0; %s < %s; %s++) {\n", in, i, i, end, i)
		g.loop(depth, budget)
		g.line(depth, "}")
	case 7:
		i := g.name()
		g.line(depth, "int %s = %s & 3;", i, g.value())
		fmt.Fprintf(&g.b, "%swhile (%s-- > 0) {\n", in, i)
		g.loop(depth, budget)
		g.line(depth, "}")
	case 8:
		i := g.name()
		g.line(depth, "int %s = %s & 3;", i, g.value())
		fmt.Fprintf(&g.b, "%sdo {\n", in)
		g.loop(depth, budget)
		g.line(depth, "} while (%s-- > 0);", i)
	}
}

func (g *structured) loop(depth, budget int) {
	g.loops++
	g.block(depth+1, budget-1)
	g.loops--
}

func (g *structured) kernel(name string) {
	g.vars, g.loops = []string{"t", "acc"}, 0
	fmt.Fprintf(&g.b, "// heddle: grid=1 block=64\n__global__ void %s(const int *in, int *out) {\n    int t = threadIdx.x, acc = t;\n", name)
	for range 3 {
		if g.r.IntN(6) == 0 {
			fmt.Fprintf(&g.b, "    if ((t & %d) >= %d)\n        return;\n", 1+g.r.IntN(7), 2+g.r.IntN(4))
		}
		g.stmt(1, 3)
	}
	g.b.WriteString("    out[t] += acc;\n}\n\n")
}

// moduleOf compiles a file.
func moduleOf(t *testing.T, path string, text []byte) (*ir.Module, *launch.SourceFacts) {
	t.Helper()
	low, err := lower.Lower(t.Context(), lower.Input{Name: path, Content: text}, lower.Options{NoCache: true})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	set := source.NewSet()
	file, _ := set.Add("k.ptx", low[0].PTX)
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 {
		t.Fatal(errs[0].Msg)
	}
	mod, errs := irgen.Module(set, tree)
	if len(errs) > 0 {
		t.Fatal(errs[0].Msg)
	}
	user, err := set.Add(path, text)
	if err != nil {
		t.Fatal(err)
	}
	return mod, launch.Scan(user, nil)
}

// A rewritten kernel computes what it did, whichever barriers all its threads are made to reach:
// none of them hangs, and each thread does what it did in the same order.
func TestRewriteComputesTheSame(t *testing.T) {
	rounds, kernels := 1, 30
	if long.All() {
		rounds, kernels = 12, 60
	}
	refused, all := map[string]int{}, 0
	for round := range rounds {
		g := &structured{r: rand.New(rand.NewPCG(7, uint64(round)))}
		for i := range kernels {
			g.kernel(fmt.Sprint("k", i))
		}
		var text []byte
		var at []int
		for _, c := range []byte(g.b.String()) {
			if c == 1 {
				at = append(at, len(text)-1)
				continue
			}
			text = append(text, c)
		}
		path := filepath.Join(t.TempDir(), "k.cu")
		if err := os.WriteFile(path, text, 0o644); err != nil {
			t.Fatal(err)
		}
		var unit *syntax.Unit
		err := lower.AST(t.Context(), lower.Input{Name: path}, lower.Options{}, func(tree *lower.Tree) (err error) {
			unit, err = syntax.Read(source.NewSet(), tree, false, tree.User)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		var edits []edit.Edit
		for _, f := range unit.Funcs {
			rw := &syntax.Rewrite{}
			for _, off := range at {
				if p := f.File.PosAt(off); f.Span.Start <= p && p < f.Span.End {
					rw.Inserts = append(rw.Inserts,
						syntax.Insert{At: off, After: true, Text: "__syncthreads();", Block: true})
				}
			}
			all++
			e, err := unit.Rewrite(f, rw)
			var no *syntax.RewriteError
			if errors.As(err, &no) {
				refused[no.What]++
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			edits = append(edits, e...)
		}
		patched, err := edit.Apply(unit.Files[0], edits)
		if err != nil {
			t.Fatal(err)
		}
		before, facts := moduleOf(t, path, text)
		after, _ := moduleOf(t, path, patched)
		for i := range kernels {
			name := fmt.Sprint("k", i)
			for seed := range uint64(2) {
				a := memoryOf(t, kernelOf(before, name), facts, seed+1, seed, 0)
				b := memoryOf(t, kernelOf(after, name), facts, seed+1, seed, 0)
				if !bytes.Equal(a, b) {
					t.Fatalf("%s computes something else\n%s\nthan\n%s",
						name, cutKernel(patched, name), cutKernel(text, name))
				}
			}
		}
	}
	n := 0
	for why, k := range refused {
		t.Logf("%d: %s", k, why)
		n += k
	}
	if t.Logf("%d of %d refused", n, all); n*4 > all {
		t.Errorf("too many are refused")
	}
}

func cutKernel(text []byte, name string) string {
	_, rest, _ := strings.Cut(string(text), "void "+name+"(")
	body, _, _ := strings.Cut(rest, "\n}\n")
	return body
}
