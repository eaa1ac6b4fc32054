package main

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// opcodeOwners are the packages in which opcode strings belong: the instruction table, and the two
// evaluators, which are written twice on purpose because they check each other.
var opcodeOwners = []string{isaPath, "internal/emu/alu", computePath}

const (
	isaPath     = "internal/isa"              // the instruction table
	computePath = "internal/lockstep/compute" // the terms of integer instructions
)

// opcodeTable returns the names of the instruction table: the opcode of each row, and its first
// word. It reads them from the source of the package, so that any checkout can be measured: a value
// of a field Opcode, or an argument of a local function called add in the declaration of a variable
// ...Rows.
func opcodeTable(isa *pkg) map[string]bool {
	names := map[string]bool{}
	add := func(e ast.Expr) {
		if s, ok := stringLit(e); ok && s != "" && s[0] >= 'a' && s[0] <= 'z' {
			names[s] = true
			word, _, _ := strings.Cut(s, ".")
			if word != "heddle" { // heddle.point is not of PTX
				names[word] = true
			}
		}
	}
	for _, f := range isa.files {
		ast.Inspect(f.tree, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.KeyValueExpr:
				if id, ok := n.Key.(*ast.Ident); ok && id.Name == "Opcode" {
					add(n.Value)
				}
			case *ast.CallExpr:
				if id, ok := n.Fun.(*ast.Ident); ok && id.Name == "add" {
					for _, a := range n.Args {
						add(a)
					}
				}
			}
			return true
		})
	}
	return names
}

// stringLit returns the value of a string literal.
func stringLit(e ast.Expr) (string, bool) {
	lit, ok := e.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// knowsOpcodes reports whether p works on instructions: whether it is the table or imports it, or
// the IR or the syntax tree that carry opcodes. In other packages "add" or "call" means something
// else: an operation of LLVM, a command of git, a class of a style sheet.
func knowsOpcodes(p *pkg) bool {
	if p.path == isaPath {
		return true
	}
	for _, f := range p.files {
		for _, imp := range f.tree.Imports {
			switch path, _ := strconv.Unquote(imp.Path.Value); path {
			case p.module + "/" + isaPath, p.module + "/internal/ir", p.module + "/internal/ptx":
				return true
			}
		}
	}
	return false
}

// A literal counts where a program decides by it: assigned to a constant, concatenated or printed,
// it does not. The rule is one of syntax, so a modifier that is spelled like an opcode (.min,
// .popc) counts too where it is compared as text. What matters is the difference between two
// checkouts, in which such cases are equal.

// opcodeStrings returns the string literals of f that name an opcode where a value is compared,
// switched on, looked up, listed or passed.
func opcodeStrings(f *file, names map[string]bool) []string {
	var found []string
	lits := func(list ...ast.Expr) {
		for _, e := range list {
			if s, ok := stringLit(e); ok && names[s] {
				found = append(found, s)
			}
		}
	}
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if n.Op == token.EQL || n.Op == token.NEQ {
				lits(n.X, n.Y)
			}
		case *ast.CaseClause:
			lits(n.List...)
		case *ast.CompositeLit:
			lits(n.Elts...)
		case *ast.KeyValueExpr:
			lits(n.Key, n.Value)
		case *ast.CallExpr:
			lits(n.Args...)
		}
		return true
	})
	return found
}

// opcodeCount is how often one package, or one part of a package, names opcodes.
type opcodeCount struct {
	where    string
	total    int
	distinct map[string]bool
	files    int
}

// add counts the opcode strings of one file.
func (c *opcodeCount) add(found []string) {
	c.total += len(found)
	if len(found) > 0 {
		c.files++
	}
	for _, s := range found {
		c.distinct[s] = true
	}
}

// countOpcodes counts the opcode strings of each package, the most first. The table of terms in
// lockstep is counted separately, whether it is a file of the package or a package of its own.
func countOpcodes(pkgs []*pkg) []*opcodeCount {
	i := slices.IndexFunc(pkgs, func(p *pkg) bool { return p.path == isaPath })
	if i < 0 {
		return nil
	}
	names := opcodeTable(pkgs[i])
	by := map[string]*opcodeCount{}
	for _, p := range pkgs {
		if !knowsOpcodes(p) {
			continue
		}
		for _, f := range p.files {
			where := p.path
			if p.path == "internal/lockstep" && f.name == "compute.go" {
				where = computePath // before it became a package
			}
			if by[where] == nil {
				by[where] = &opcodeCount{where: where, distinct: map[string]bool{}}
			}
			by[where].add(opcodeStrings(f, names))
		}
	}
	maps.DeleteFunc(by, func(_ string, c *opcodeCount) bool { return c.total == 0 })
	return slices.SortedFunc(maps.Values(by), func(a, b *opcodeCount) int {
		return cmp.Or(b.total-a.total, strings.Compare(a.where, b.where))
	})
}

// spread returns for each opcode in how many of the counts it is named.
func spread(counts []*opcodeCount) map[string]int {
	in := map[string]int{}
	for _, c := range counts {
		for s := range c.distinct {
			in[s]++
		}
	}
	return in
}

// printOpcodes prints how many opcode strings each package holds, and the opcodes that many
// packages name.
func printOpcodes(w io.Writer, _ *token.FileSet, pkgs []*pkg) {
	// The total excludes the packages in which opcodes belong.
	owners, others := []*opcodeCount(nil), []*opcodeCount(nil)
	for _, c := range countOpcodes(pkgs) {
		if slices.Contains(opcodeOwners, c.where) {
			owners = append(owners, c)
		} else {
			others = append(others, c)
		}
	}
	total := 0
	t := newTable(w, "package", "strings", "distinct", "files")
	for _, c := range others {
		t.row(c.where, c.total, len(c.distinct), c.files)
		total += c.total
	}
	t.row("total", total, len(spread(others)), "")
	for _, c := range owners {
		t.row("apart: "+c.where, c.total, len(c.distinct), c.files)
	}
	t.flush()
	evaluators := slices.DeleteFunc(owners, func(c *opcodeCount) bool { return c.where == isaPath })
	printWide(w, "of these packages", spread(others))
	printWide(w, "packages, with the evaluators", spread(slices.Concat(others, evaluators)))
}

// printWide prints the opcodes that many packages name.
func printWide(w io.Writer, which string, in map[string]int) {
	const many = 4
	maps.DeleteFunc(in, func(_ string, n int) bool { return n < many })
	names := strings.Join(slices.Sorted(maps.Keys(in)), " ")
	fmt.Fprintf(w, "opcodes named in %d or more %s: %d (%s)\n", many, which, len(in), names)
}
