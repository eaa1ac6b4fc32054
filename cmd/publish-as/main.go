// Command publish-as gives this module the name of the repository in which it is published. The
// module is called heddle until then, which no go command can fetch, and documents and metadata
// say OWNER/heddle where the name of a repository belongs.
//
//	go run ./cmd/publish-as [-site URL|none] github.com/OWNER/heddle
//
// It changes the files of the directory -C, by default the working directory, and prints the names
// of those. A published copy can be renamed in the same way.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
)

// main exits with the code of run.
func main() {
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// run is main without the process. The exit code is 2 if nothing, or not everything, was renamed.
func run(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("publish-as", flag.ContinueOnError)
	fs.SetOutput(stderr)
	dir := fs.String("C", ".", "rename the module in `DIR`, its root")
	site := fs.String("site", "", "the documents are published as `URL`; none: nowhere; pages: on the "+
		"GitHub Pages of the repository (default: as before, at first pages)")
	if fs.Parse(args) != nil {
		return 2
	}
	if fs.NArg() != 1 {
		fmt.Fprintln(stderr, "publish-as: expected one module path, such as github.com/OWNER/heddle "+
			"with the account that publishes it")
		return 2
	}
	changed, err := rename(*dir, fs.Arg(0), *site)
	for _, name := range changed {
		fmt.Fprintln(stdout, name)
	}
	if err != nil {
		fmt.Fprintln(stderr, "publish-as:", err)
		return 2
	}
	fmt.Fprintf(stderr, "publish-as: the module is %s now; go build ./... checks it, and make docs "+
		"writes what documents show\n", fs.Arg(0))
	if *site == noSite {
		fmt.Fprintln(stderr, "publish-as: findings have no links to documents; remove "+
			".github/workflows/site.yml, which would fail without GitHub Pages")
	}
	return 0
}
