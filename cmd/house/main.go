// Command house measures the structure of this module, so that one state of it can be compared with
// another: the size of packages, files, functions and types, the share of comments, uses against
// the order of the layers, knowledge about opcodes outside the instruction table, and what is
// outside the bounds of the house style. The directory may be any checkout of the module:
//
//	go run ./cmd/house -C DIR
//	go run ./cmd/house -C DIR -cover
//
// It also compares what two builds of heddle print for the kernels of this checkout, except for
// wording and times:
//
//	go run ./cmd/house compare OLD NEW
package main

import (
	"flag"
	"fmt"
	"go/token"
	"io"
	"os"
)

// main exits with the code of run.
func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process. The exit code is 1 if compared outputs differ, and 2 if
// something failed.
func run(args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == "compare" {
		return compare(args[1:], stdout, stderr)
	}
	fs := flag.NewFlagSet("house", flag.ContinueOnError)
	fs.SetOutput(stderr)
	dir := fs.String("C", ".", "measure the checkout in `DIR`")
	covered := fs.Bool("cover", false,
		"build heddle with -cover, and count the statements that one check executes")
	if fs.Parse(args) != nil {
		return 2
	}
	if fs.NArg() > 0 {
		fmt.Fprintln(stderr, "house: unexpected argument:", fs.Arg(0))
		return 2
	}
	if err := measure(stdout, *dir, *covered); err != nil {
		fmt.Fprintln(stderr, "house:", err)
		return 2
	}
	return 0
}

// measure prints all tables for the checkout in dir.
func measure(w io.Writer, dir string, covered bool) error {
	fset, pkgs, err := load(dir)
	if err != nil {
		return err
	}
	for _, s := range sections {
		fmt.Fprintf(w, "== %s\n", s.title)
		s.print(w, fset, pkgs)
		fmt.Fprintln(w)
	}
	fmt.Fprintf(w, "== Outside the bounds: exported names without a comment, lines over %d columns,\n"+
		"== functions over %d lines or with more than %d parameters\n", maxColumns, maxFunction,
		maxParameters)
	if err := printStyle(w, fset, pkgs, dir); err != nil {
		return err
	}
	if !covered {
		return nil
	}
	fmt.Fprintf(w, "\n== Statements that heddle check %s executes\n", coveredInput)
	return printCover(w, dir, pkgs[0].module)
}

// sections are the tables that need only the packages.
var sections = []struct {
	title string
	print func(io.Writer, *token.FileSet, []*pkg)
}{
	{"Packages: lines of files and functions, without tests", printPackages},
	{"Types with most methods", printTypes},
	{"Uses between the groups of the driver: declarations, each once for each file", printArrows},
	{"String literals that name an opcode", printOpcodes},
}
