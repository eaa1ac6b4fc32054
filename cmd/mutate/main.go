// Command mutate measures whether the tests notice wrong conditions in the packages that decide
// verdicts. It changes one condition at a time ("if c" to "if !c", < to <=, && to ||), runs the
// tests that reach it, and prints the mutants that survive:
//
//	go run ./cmd/mutate                              # all groups
//	go run ./cmd/mutate -seed 7 -n 100 internal/race
//
// The mutants of a group are drawn by seed. Those of the list of equivalent mutants are left out.
// The exit code is 0 if enough of each group are killed, 1 if not or if the list has an entry
// without a mutant, and 2 if something failed. Run it in the directory of the module.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path"
	"regexp"
	"strings"
	"syscall"
)

// main exits with the code of run.
func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// An options value holds the flags.
type options struct {
	seed       uint64
	n          int            // mutants of each group
	min        float64        // percent of them to kill
	workers    int            // mutants at a time
	equivalent string         // the list of equivalent mutants
	own        bool           // only the packages' own tests judge
	only       *regexp.Regexp // of the mutants, as they are printed; nil for all
}

// run is main without the process.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	var opt options
	fs := flag.NewFlagSet("mutate", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Uint64Var(&opt.seed, "seed", 1, "draw the mutants by this number")
	fs.IntVar(&opt.n, "n", 40, "mutants of each group; 0 for all")
	fs.Float64Var(&opt.min, "min", 90,
		"fail if fewer `percent` of the mutants of a group are killed, or less where its tests are few")
	fs.IntVar(&opt.workers, "j", 2, "mutants that are tested at a time")
	fs.StringVar(&opt.equivalent, "equivalent", equivalentFile, "the `file` of equivalent mutants")
	fs.BoolVar(&opt.own, "own", false, "run only the tests of the packages themselves")
	fs.Func("only", "draw from the mutants that match the `regexp` as they are printed",
		func(s string) (err error) {
			opt.only, err = regexp.Compile(s)
			return err
		})
	if fs.Parse(args) != nil {
		return 2
	}
	chosen, err := choose(fs.Args())
	if err != nil {
		fmt.Fprintln(stderr, "mutate:", err)
		return 2
	}
	ok, err := measure(ctx, stdout, chosen, opt)
	switch {
	case err != nil:
		fmt.Fprintln(stderr, "mutate:", err)
		return 2
	case !ok:
		return 1
	}
	return 0
}

// measure tests the mutants of the groups, and prints the results and a table. It reports whether
// all groups and the list of equivalent mutants are as they should be.
func measure(ctx context.Context, w io.Writer, chosen []group, opt options) (bool, error) {
	known, err := loadEquivalent(opt.equivalent)
	if err != nil {
		return false, err
	}
	tmp, err := os.MkdirTemp("", "heddle-mutate-")
	if err != nil {
		return false, err
	}
	defer os.RemoveAll(tmp)
	good := true
	var results []result
	for i, g := range chosen {
		b, err := build(ctx, g, known, path.Join(tmp, fmt.Sprint(i)), opt)
		if err != nil {
			return false, fmt.Errorf("%s: %w", g.name, err)
		}
		fmt.Fprintf(w, "== %s: %d of %d mutants, seed %d\n", g.name, len(b.mutants), b.all, opt.seed)
		for _, e := range b.stale {
			good = false
			fmt.Fprintf(w, "stale       %s:%d: no mutant is %s\n", opt.equivalent, e.Line, e.Key)
		}
		r, err := b.test(ctx, w, opt.workers, opt.own)
		if err != nil {
			return false, fmt.Errorf("%s: %w", g.name, err)
		}
		results = append(results, r)
		good = good && g.enough(r.percent(), opt.min)
	}
	fmt.Fprintln(w)
	printTable(w, results)
	return good, nil
}

// choose returns the groups with these names, which may be written as packages ("./internal/race",
// "./internal/lockstep/..."), or all groups.
func choose(names []string) ([]group, error) {
	if len(names) == 0 {
		return groups, nil
	}
	var chosen []group
	for _, n := range names {
		n = strings.TrimSuffix(path.Clean(n), "/...")
		found := false
		for _, g := range groups {
			if g.name == n {
				chosen, found = append(chosen, g), true
			}
		}
		if !found {
			var all []string
			for _, g := range groups {
				all = append(all, g.name)
			}
			return nil, fmt.Errorf("no group %s; the groups are %s", n, strings.Join(all, ", "))
		}
	}
	return chosen, nil
}
