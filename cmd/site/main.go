// Command site renders the documents of heddle as a web site: the Markdown files of the repository,
// and a page for each code of heddle explain.
//
//	go run ./cmd/site [-C DIR] [-o DIR]
//
// The site is static and complete. Its pages ask no other host for anything and also work as files.
// A link that leads nowhere is an error, and then nothing is written.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

// main exits with the code of run.
func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main without the process. The exit code is 1 if a document has a mistake, and 2 for wrong
// flags and files that cannot be read or written.
func run(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("site", flag.ContinueOnError)
	fs.SetOutput(stderr)
	root := fs.String("C", ".", "render the documents of the repository in `DIR`")
	out := fs.String("o", "dist/site", "write the site to `DIR`; an earlier site there is replaced")
	if fs.Parse(args) != nil {
		return 2
	}
	if fs.NArg() != 0 {
		fmt.Fprintf(stderr, "site: unexpected argument %q; -C names the repository, -o the output\n",
			fs.Arg(0))
		return 2
	}
	s, err := build(*root)
	if err != nil {
		fmt.Fprintln(stderr, "site:", err)
		return 2
	}
	for _, p := range s.problems {
		fmt.Fprintln(stderr, p)
	}
	if n := len(s.problems); n > 0 {
		fmt.Fprintf(stderr, "site: %d mistakes in documents; nothing was written\n", n)
		return 1
	}
	if err := s.write(*out); err != nil {
		fmt.Fprintln(stderr, "site:", err)
		return 2
	}
	fmt.Fprintf(stdout, "%s: %d pages\n", *out, len(s.pages))
	return 0
}
