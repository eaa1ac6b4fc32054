package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/isa"
)

// parsed returns a package of files with the given names and texts.
func parsed(t *testing.T, path string, files ...string) (*token.FileSet, *pkg) {
	t.Helper()
	dir := t.TempDir()
	var names []string
	for i := 0; i < len(files); i += 2 {
		if err := os.WriteFile(filepath.Join(dir, files[i]), []byte(files[i+1]), 0o644); err != nil {
			t.Fatal(err)
		}
		names = append(names, files[i])
	}
	fset := token.NewFileSet()
	list, err := parse(fset, dir, names)
	if err != nil {
		t.Fatal(err)
	}
	return fset, &pkg{module: "m", path: path, name: "p", files: list}
}

func TestCountLines(t *testing.T) {
	const text = `// Package p is small.
package p

//go:generate echo

/* A comment

of three lines. */
var x = 1 // behind code
var s = ` + "`" + `
// in a string
` + "`" + `
`
	if got, want := countLines([]byte(text)), (lineCount{total: 12, comment: 3}); got != want {
		t.Errorf("countLines = %+v, want %+v", got, want)
	}
}

func TestQuantile(t *testing.T) {
	list := []int{9, 1, 5, 3, 7, 2, 4, 6, 8, 10, 11}
	if p50, p90, top := quantile(list, 0.5), quantile(list, 0.9), quantile(list, 1); p50 != 6 ||
		p90 != 10 || top != 11 {
		t.Errorf("quantiles of 1 to 11 are %d, %d and %d, want 6, 10 and 11", p50, p90, top)
	}
	if got := quantile(nil, 0.5); got != 0 {
		t.Errorf("quantile of nothing = %d", got)
	}
}

func TestFunctionLines(t *testing.T) {
	fset,
		p := parsed(t, "p", "a.go", "package p\nfunc a() {}\nfunc (t T) b() {\n\treturn\n}\ntype T int\n")
	if got := functionLines(fset, p.files[0]); !slices.Equal(got, []int{3}) {
		t.Errorf("functionLines = %v, want [3]: functions of one line do not count", got)
	}
}

func TestTypeSizes(t *testing.T) {
	_, p := parsed(t, "internal/p",
		"a.go",
		"package p\ntype T struct { a, b int; U }\ntype U struct{}\nfunc (t T) x() {}\nfunc f() {}\n",
		"b.go", "package p\nfunc (t *T) y() {}\ntype G[E any] []E\nfunc (g G[E]) z() {}\n")
	got := typeSizes([]*pkg{p})
	if len(got) != 2 || got[0].name != "p.T" || got[0].methods != 2 || len(got[0].files) != 2 ||
		got[0].fields != 3 ||
		got[1].name != "p.G" || got[1].methods != 1 {
		t.Errorf("typeSizes = %+v %+v", *got[0], *got[1])
	}
}

func TestOpcodeStrings(t *testing.T) {
	const text = `package p

import "m/internal/isa"

const name = "add" // not used as an opcode here

var table = map[string]int{"add": 1, "ld.shared": 2}
var list = []string{"bar", "other"}

func f(op string) string {
	if op == "bar.warp.sync" || "st" != op {
		g("call")
	}
	switch op {
	case "ret", "exit":
	}
	s := "trap"
	return s + "bra"
}
`
	names := map[string]bool{}
	for _, s := range strings.Fields("add bar bar.warp.sync st call ret exit trap bra ld") {
		names[s] = true
	}
	_, p := parsed(t, "internal/p", "a.go", text)
	got := opcodeStrings(p.files[0], names)
	slices.Sort(got)
	if want := strings.Fields("add bar bar.warp.sync call exit ret st"); !slices.Equal(got, want) {
		t.Errorf("opcodeStrings = %v, want %v", got, want)
	}
	if !knowsOpcodes(p) {
		t.Error("a package that imports isa may name opcodes")
	}
	if _,
		p := parsed(t, "internal/p", "a.go", "package p\nvar x = []string{\"add\"}\n"); knowsOpcodes(p) {
		t.Error("a package that imports neither isa nor ir nor ptx does not name opcodes")
	}
}

// The names that are read from the source are those of the table itself.
func TestOpcodeTable(t *testing.T) {
	paths, err := filepath.Glob("../../internal/isa/*.go")
	if err != nil {
		t.Fatal(err)
	}
	paths = slices.DeleteFunc(paths, func(p string) bool { return strings.HasSuffix(p, "_test.go") })
	files, err := parse(token.NewFileSet(), "", paths)
	if err != nil {
		t.Fatal(err)
	}
	names := opcodeTable(&pkg{files: files})
	want := map[string]bool{}
	for r := range isa.Rows() {
		word, _, _ := strings.Cut(r.Opcode, ".")
		want[r.Opcode], want[word] = true, true
		if !names[r.Opcode] || !names[word] {
			t.Errorf("opcodeTable lacks %s", r.Opcode)
		}
	}
	for n := range names {
		if !want[n] && !strings.HasPrefix(n, "heddle.") {
			t.Errorf("opcodeTable has %s, which is not in the table", n)
		}
	}
}

func TestSpread(t *testing.T) {
	a := &opcodeCount{distinct: map[string]bool{"add": true, "bar": true}}
	b := &opcodeCount{distinct: map[string]bool{"bar": true}}
	if got := spread([]*opcodeCount{a, b}); got["add"] != 1 || got["bar"] != 2 {
		t.Errorf("spread = %v", got)
	}
}

func TestArrows(t *testing.T) {
	fset, p := parsed(t, "internal/check",
		"load.go",
		"package p\ntype driver struct{ now int }\nfunc load() { replay(); replay(); helper() }\n",
		"replay.go", "package p\nfunc replay() { load() }\n",
		"trace.go", "package p\nfunc (d driver) trace() int { replay(); return d.now }\n",
		"syncat.go", "package p\nfunc at() { fix() }\n",
		"fixrank.go", "package p\nfunc fix() { fix() }\n",
		"new.go", "package p\nfunc helper() {}\n")
	if err := p.check(fset, nil, p.module+"/"+p.path); err != nil {
		t.Fatal(err)
	}
	list, unknown := arrows(fset, []*pkg{p})
	var got []string
	for _, a := range list {
		s := a.from + "->" + a.to + " " + a.name
		if a.up() {
			s += " up"
		}
		got = append(got, s)
	}
	slices.Sort(got)
	want := []string{"driver->prove replay up", "prove->driver load", "sync->fix fix up",
		"trace->driver driver", "trace->driver now", "trace->prove replay up"}
	if !slices.Equal(got, want) {
		t.Errorf("arrows:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if !slices.Equal(unknown, []string{"new.go"}) {
		t.Errorf("files without a group: %v, want new.go", unknown)
	}
}

// After the split, a file of any name belongs to the group of its package, and the table of terms
// is counted separately as a package too.
func TestNewLayout(t *testing.T) {
	fset, a := parsed(t, "internal/driver", "fixrank.go", "package p\nfunc a() {}\n")
	_, b := parsed(t, "internal/engine/run", "sync.go", "package p\nfunc b() { c() }\nfunc c() {}\n")
	for _, p := range []*pkg{a, b} {
		if err := p.check(fset, nil, p.module+"/"+p.path); err != nil {
			t.Fatal(err)
		}
	}
	if list, unknown := arrows(fset, []*pkg{a, b}); len(list) != 0 || len(unknown) != 0 {
		t.Errorf("arrows within one package: %v, files without a group: %v", list, unknown)
	}
	const use = "package p\nimport _ \"m/internal/isa\"\nvar x = []string{\"add\"}\n"
	_, table := parsed(t, isaPath, "a.go", "package isa\nvar x = Row{Opcode: \"add\"}\n")
	_, file := parsed(t, "internal/lockstep", "compute.go", use, "exec.go", use)
	_, own := parsed(t, computePath, "compare.go", use)
	var got []string
	for _, c := range countOpcodes([]*pkg{table, file, own}) {
		got = append(got, fmt.Sprint(c.where, " ", c.total))
	}
	want := []string{computePath + " 2", isaPath + " 1", "internal/lockstep 1"}
	if !slices.Equal(got, want) {
		t.Errorf("countOpcodes = %v, want %v", got, want)
	}
}

func TestUndocumented(t *testing.T) {
	const text = `package p

// Documented is.
type Documented struct{}

func (Documented) Method() {}

type Plain int

type hidden int

func (hidden) Method() {}

const (
	A = 1 // behind it
	B = 2
)

// A group.
const (
	C = 1
	D = 2
)

func F() {}
func f() {}
`
	_, p := parsed(t, "p", "a.go", text)
	if got, want := undocumented(p.files[0]),
		strings.Fields("Documented.Method Plain B F"); !slices.Equal(got, want) {
		t.Errorf("undocumented = %v, want %v", got, want)
	}
}

func TestLongLines(t *testing.T) {
	pad := strings.Repeat("x", maxColumns)
	text := "package p\n" + // 1
		"// " + pad + "\n" + // 2: long
		"var a = []T{\n" + // 3
		"\t{\"" + pad + "\"},\n" + // 4: a row
		"\t\"k\": {\"" + pad + "\"},\n" + // 5: a row
		"\tf(\"" + pad + "\"),\n" + // 6: long
		"}\n" + // 7
		"var b = `\n" + // 8
		pad + "x\n" + // 9: in a raw string
		"`\n" + // 10
		"//" + strings.Repeat("ä", maxColumns-2) + "\n" // 11: as long as a line may be
	fset, p := parsed(t, "p", "a.go", text)
	long, exempt := p.files[0].longLines(fset)
	if !slices.Equal(long, []int{2, 6}) || !slices.Equal(exempt, []int{4, 5, 9}) {
		t.Errorf("long lines %v, exempt %v, want [2 6] and [4 5 9]", long, exempt)
	}
	long, exempt = longMarkdown([]byte("| " + pad + " |\n" + pad + "y\n" + pad + "\n"))
	if !slices.Equal(long, []int{2}) || !slices.Equal(exempt, []int{1}) {
		t.Errorf("long lines of Markdown %v, exempt %v, want [2] and [1]", long, exempt)
	}
}

func TestFunctionBounds(t *testing.T) {
	body := strings.Repeat("\n", maxFunction-1)
	fset, p := parsed(t, "p", "a.go", "package p\n"+
		"func (t T) five(a, b, c int, d, e string) {"+body+"}\n"+
		"func six(a, b, c, d, e int, _ ...int) {"+body+"\n}\n"+
		"func nameless(int, int, int, int, int, int) {}\n")
	var got []string
	p.files[0].functions(func(fn *ast.FuncDecl) {
		if wide(fn) {
			got = append(got, "wide "+fn.Name.Name)
		}
		if long(fset, fn) {
			got = append(got, "long "+fn.Name.Name)
		}
	})
	if want := []string{"wide six", "long six", "wide nameless"}; !slices.Equal(got, want) {
		t.Errorf("out of bounds: %v, want %v", got, want)
	}
}

func TestReadProfile(t *testing.T) {
	got, err := readProfile([]byte("mode: set\n"+
		"m/internal/ir/a.go:1.2,3.4 5 1\n"+
		"m/internal/ir/a.go:1.2,3.4 5 0\n"+ // the same block once more
		"m/internal/ir/b.go:1.2,3.4 2 0\n"+
		"m/cmd/heddle/main.go:1.2,3.4 1 1\n"), "m")
	if err != nil || len(got) != 2 || got["internal/ir"] != (coverage{7, 5}) ||
		got["cmd/heddle"] != (coverage{1, 1}) {
		t.Errorf("readProfile = %v, %v", got, err)
	}
	if _, err := readProfile([]byte("mode: set\nnot a line\n"), "m"); err == nil {
		t.Error("a line without numbers is not an error")
	}
}

func TestPrintSections(t *testing.T) {
	fset, p := parsed(t, isaPath, "a.go", "package isa\n// T is.\ntype T int\nfunc (T) f() {}\n")
	if err := p.check(fset, nil, p.module+"/"+p.path); err != nil {
		t.Fatal(err)
	}
	for _, s := range sections {
		s.print(io.Discard, fset, []*pkg{p})
	}
	if err := printStyle(io.Discard, fset, []*pkg{p}, t.TempDir()); err != nil {
		t.Error(err)
	}
}
