package main

import (
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"io"
	"slices"
	"strings"
)

// lineCount counts the lines of one or more files; a line with code and a comment is not a comment
// line.
type lineCount struct{ total, comment int }

// plus adds the counts of two sets of files.
func (a lineCount) plus(b lineCount) lineCount {
	return lineCount{a.total + b.total, a.comment + b.comment}
}

// share returns the percentage of comment lines, with "-" for no lines.
func (a lineCount) share() string {
	if a.total == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f%%", 100*float64(a.comment)/float64(a.total))
}

// countLines counts the lines of a Go file, and those that hold comment text and nothing else. A
// directive such as //go:embed is not a comment, nor is an empty line inside one.
func countLines(text []byte) lineCount {
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	// A token can span lines (raw strings, block comments), so both kinds are marked by line.
	code := make([]bool, len(lines)+1)
	comment := make([]bool, len(lines)+1)
	fset := token.NewFileSet()
	f := fset.AddFile("", -1, len(text))
	var s scanner.Scanner
	s.Init(f, text, nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		if tok == token.EOF {
			break
		}
		// The scanner inserts semicolons at line ends, which are not code.
		if tok == token.SEMICOLON && lit == "\n" || strings.HasPrefix(lit, "//go:") {
			continue
		}
		line := f.Line(pos) - 1
		for i := range strings.Count(lit, "\n") + 1 {
			if tok == token.COMMENT {
				comment[line+i] = true
			} else {
				code[line+i] = true
			}
		}
	}
	n := lineCount{total: len(lines)}
	for i, l := range lines {
		if comment[i] && !code[i] && strings.TrimSpace(l) != "" {
			n.comment++
		}
	}
	return n
}

// The 90th percentile stands beside the median, since a package with a good median may still hold a
// few files or functions that nobody can read.

// quantile returns the element at share q of the sorted list: the median for 0.5.
func quantile(list []int, q float64) int {
	if len(list) == 0 {
		return 0
	}
	slices.Sort(list)
	return list[int(q*float64(len(list)-1)+0.5)]
}

// functionLines returns the lines of each function, from func to its closing brace. Functions of
// one line are left out: accessors would hide how long the functions with control flow are. A
// function literal counts as part of the function around it.
func functionLines(fset *token.FileSet, f *file) []int {
	var list []int
	f.functions(func(fn *ast.FuncDecl) {
		if n := linesOf(fset, fn); n > 1 {
			list = append(list, n)
		}
	})
	return list
}

// linesOf returns the number of lines from the start to the end of a node, both included.
func linesOf(fset *token.FileSet, n ast.Node) int {
	return fset.Position(n.End()).Line - fset.Position(n.Pos()).Line + 1
}

// printPackages prints the size of each package and the share of its comments.
func printPackages(w io.Writer, fset *token.FileSet, pkgs []*pkg) {
	t := newTable(w, "package", "files", "lines", "comments", "file p50", "p90", "func p50", "p90",
		"max", "tests", "test lines")
	// row prints one package, or all of them together.
	row := func(name string, pkgs []*pkg) {
		var all, tests lineCount
		var files, funcs []int
		testFiles := 0
		for _, p := range pkgs {
			for _, f := range p.files {
				n := countLines(f.text)
				all = all.plus(n)
				files = append(files, n.total)
				funcs = append(funcs, functionLines(fset, f)...)
			}
			for _, f := range p.tests {
				tests = tests.plus(countLines(f.text))
			}
			testFiles += len(p.tests)
		}
		t.row(name, len(files), all.total, all.share(), quantile(files, 0.5), quantile(files, 0.9),
			quantile(funcs, 0.5), quantile(funcs, 0.9), quantile(funcs, 1), testFiles, tests.total)
	}
	for _, p := range pkgs {
		row(p.path, []*pkg{p})
	}
	row("all", pkgs)
	t.flush()
}
