package main

import (
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of the house style.
const (
	maxColumns    = 100 // of a line; a tab counts one
	maxFunction   = 60  // lines of a function
	maxParameters = 5   // of a function, without its receiver
)

// The checks below are on syntax only, and are stricter than a linter in one way: nothing can be
// excused by a comment. What the rules exempt is counted in a column of its own.

// undocumented returns the exported names of f that have no comment: functions, types, methods of
// exported types, constants and variables. A comment on a group of constants or variables covers
// them all, a comment behind a constant or variable covers that one.
func undocumented(f *file) []string {
	var names []string
	for _, d := range f.tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			name := d.Name.Name
			if d.Recv != nil {
				if !ast.IsExported(receiver(d)) {
					continue
				}
				name = receiver(d) + "." + name
			}
			if d.Name.IsExported() && d.Doc == nil {
				names = append(names, name)
			}
		case *ast.GenDecl:
			names = append(names, undocumentedSpecs(d)...)
		}
	}
	return names
}

// undocumentedSpecs is undocumented for one declaration of types, constants or variables.
func undocumentedSpecs(d *ast.GenDecl) []string {
	var names []string
	for _, s := range d.Specs {
		switch s := s.(type) {
		case *ast.TypeSpec:
			if s.Name.IsExported() && s.Doc == nil && (d.Doc == nil || d.Lparen.IsValid()) {
				names = append(names, s.Name.Name)
			}
		case *ast.ValueSpec:
			if d.Doc != nil || s.Doc != nil || s.Comment != nil {
				continue
			}
			for _, id := range s.Names {
				if id.IsExported() {
					names = append(names, id.Name)
				}
			}
		}
	}
	return names
}

// longLines returns the numbers of the lines that are too long. Rows of tables are exempt, since a
// table is easier to read on one line: in Go an element of a literal that is a literal itself and
// stands on one line, and what is inside a raw string.
func (f *file) longLines(fset *token.FileSet) (long, exempt []int) {
	row := map[int]bool{}
	line := func(p token.Pos) int { return fset.Position(p).Line }
	ast.Inspect(f.tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BasicLit:
			if n.Kind == token.STRING && n.Value[0] == '`' && line(n.Pos()) < line(n.End()) {
				for l := line(n.Pos()); l <= line(n.End()); l++ {
					row[l] = true
				}
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				v := e
				if kv, ok := e.(*ast.KeyValueExpr); ok {
					v = kv.Value
				}
				if _, ok := v.(*ast.CompositeLit); ok && line(e.Pos()) == line(e.End()) &&
					line(e.Pos()) > line(n.Pos()) {
					row[line(e.Pos())] = true
				}
			}
		}
		return true
	})
	return split(f.text, func(number int, _ string) bool { return row[number] })
}

// split returns the numbers of the long lines, those that are exempt apart.
func split(text []byte, isExempt func(int, string) bool) (long, exempt []int) {
	number := 0
	for l := range strings.Lines(string(text)) {
		number++
		switch l = strings.TrimSuffix(l, "\n"); {
		case utf8.RuneCountInString(l) <= maxColumns:
		case isExempt(number, l):
			exempt = append(exempt, number)
		default:
			long = append(long, number)
		}
	}
	return long, exempt
}

// longMarkdown is longLines of a Markdown page, in which tables are exempt.
func longMarkdown(text []byte) (long, exempt []int) {
	return split(text,
		func(_ int, l string) bool { return strings.HasPrefix(strings.TrimSpace(l), "|") })
}

// pages returns the Markdown files below dir, but not in hidden directories or those of packages.
func pages(dir string) ([]string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != dir && (strings.HasPrefix(d.Name(), ".") ||
			d.Name() == "node_modules"):
			return fs.SkipDir
		case filepath.Ext(path) == ".md" && d.Type().IsRegular():
			names = append(names, path)
		}
		return nil
	})
	return names, err
}

// wide reports whether a function has too many parameters, long whether it has too many lines.
func wide(fn *ast.FuncDecl) bool { return fieldCount(fn.Type.Params) > maxParameters }

// long reports whether a function has more lines than allowed.
func long(fset *token.FileSet, fn *ast.FuncDecl) bool {
	return linesOf(fset, fn) > maxFunction
}

// printStyle prints for each package what is outside the bounds, and then the pages.
func printStyle(w io.Writer, fset *token.FileSet, pkgs []*pkg, dir string) error {
	t := newTable(w, "package", "no doc", "long lines", "exempt", "in tests", "long funcs",
		"many params")
	var sum [6]int
	for _, p := range pkgs {
		n := outside(fset, p)
		for i := range n {
			sum[i] += n[i]
		}
		if slices.Max(n[:]) > 0 {
			t.row(p.path, n[0], n[1], n[2], n[3], n[4], n[5])
		}
	}
	t.row("all", sum[0], sum[1], sum[2], sum[3], sum[4], sum[5])
	t.flush()
	names, err := pages(dir)
	if err != nil {
		return err
	}
	total, tables, lines := 0, 0, 0
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		over, exempt := longMarkdown(text)
		total, tables, lines = total+len(over), tables+len(exempt),
			lines+strings.Count(string(text), "\n")
	}
	fmt.Fprintf(w, "Markdown: %d pages, %d lines, %d long, and %d in tables\n", len(names), lines,
		total, tables)
	return nil
}

// outside counts, for printStyle's columns, what is outside the bounds in p.
func outside(fset *token.FileSet, p *pkg) (n [6]int) {
	for _, f := range p.files {
		n[0] += len(undocumented(f))
		over, exempt := f.longLines(fset)
		n[1] += len(over)
		n[2] += len(exempt)
		f.functions(func(fn *ast.FuncDecl) {
			if long(fset, fn) {
				n[4]++
			}
			if wide(fn) {
				n[5]++
			}
		})
	}
	for _, f := range p.tests {
		over, _ := f.longLines(fset)
		n[3] += len(over)
	}
	return n
}
