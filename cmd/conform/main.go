// Command conform runs an engine on a third-party suite of kernels. It prints the kernels on which
// the engine fails, and those whose verdict differs from the expectation of the suite. The suites
// are not part of the repository; DIR is a checkout of one:
//
//	go run ./cmd/conform --suite gpuverify --engine run DIR
//	go run ./cmd/conform --suite gpuverify --engine verify DIR
//	go run ./cmd/conform --suite dir -table FILE DIR
//	go run ./cmd/conform --suite dir -engine compile DIR
//
// The third runs heddle check on every source file below DIR and compares each bug with a
// table of judgements (dir.go); the fourth only compiles, and counts what is refused by cause
// (compile.go).
//
//	go run ./cmd/conform --suite programs -table FILE -heddle bin/heddle DIR
//
// builds and runs whole programs with heddle exec, and counts how many pass their own checks
// (programs.go).
//
// Every kernel runs in a process of its own, so a crash or a hang is a result. The exit code is 0
// if there is nothing to look at, 1 if there is, and 2 for a usage error.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"heddle/internal/heap"
)

// Suite is a format of test suites.
type Suite interface {
	// Cases returns the cases of a suite in a directory, or an error if the directory is not such a
	// suite.
	Cases(dir string) ([]Case, error)
}

// suites holds the suites by name, for --suite.
var suites = map[string]Suite{
	"barracuda": barracuda{},
	"gpuverify": gpuverify{},
	"dir":       directory{},
}

// main runs a single job if the program was started as a worker (see isolated).
func main() {
	heap.Grow() // as heddle does
	if len(os.Args) == 3 && os.Args[1] == workerFlag {
		if err := worker(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// choices holds the values of the flags.
type choices struct {
	suite, engine string
	block         string // for proofs: "" or "*"
	only          *regexp.Regexp
	jobs          int
	limit         time.Duration
	json, all     bool
	table         string   // of judgements, for the suite dir; of arguments, for programs
	heddle        string   // the command, for the suite programs
	includes      []string // for the suite dir: directories of headers
	compiler      []string // for the engine compile: arguments of the compiler
}

// run runs the program and returns its exit code. It is 1 if the engine failed on a kernel or a
// verdict contradicts a binding expectation; for proofs, if a kernel that should fail is verified.
func run(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("conform", flag.ContinueOnError)
	fs.SetOutput(stderr)
	var c choices
	var only string
	fs.StringVar(&c.suite, "suite", "gpuverify", "`NAME` of the suite: "+names(suites)+", programs")
	fs.StringVar(&c.engine, "engine", "run", "`NAME` of the engine: "+names(engines))
	fs.StringVar(&only, "only", "", "only cases whose name matches `REGEXP`")
	fs.StringVar(&c.block, "block", "",
		"for proofs: `*` for blocks of any size in the dimensions in which the suite's blocks are "+
			"larger than one")
	fs.IntVar(&c.jobs, "j", 2, "number of kernels at a time")
	fs.DurationVar(&c.limit, "limit", 60*time.Second, "time limit for each kernel")
	fs.BoolVar(&c.json, "json", false, "print one JSON object for each case")
	fs.BoolVar(&c.all, "all", false, "list all cases instead of those that need attention")
	fs.StringVar(&c.table, "table", "",
		"for the suite dir: `FILE` with judgements of kernels; for programs: with their arguments")
	fs.StringVar(&c.heddle, "heddle", "bin/heddle", "for the suite programs: `FILE`, the command")
	fs.Func("I", "for the suite dir: `DIR` with headers", func(dir string) error {
		c.includes = append(c.includes, dir)
		return nil
	})
	arg := "for the engine compile: `ARG` of the compiler, such as -arch=sm_90a"
	fs.Func("arg", arg, func(a string) error {
		c.compiler = append(c.compiler, a)
		return nil
	})
	if fs.Parse(args) != nil {
		return 2
	}
	if c.suite == "programs" {
		return c.runPrograms(only, fs.Args(), stdout, stderr)
	}
	if c.suite == "dir" && c.engine != "compile" {
		c.engine = "check"
	}
	table, err := readTable(c.table)
	if err != nil {
		fmt.Fprintln(stderr, "conform:", err)
		return 2
	}
	cases, err := c.cases(only, fs.Args())
	if err != nil {
		fmt.Fprintln(stderr, "conform:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	list := outcomes(ctx, &c, cases, stderr)
	if c.engine == "compile" {
		return c.reportCompiled(stdout, list)
	}
	if c.suite == "dir" {
		return c.reportDir(stdout, list, table)
	}
	if c.engine == "verify" {
		return c.reportProofs(stdout, list)
	}
	return c.report(stdout, list)
}

// cases checks the flags and returns the selected cases of the suite. only is the value of -only,
// and args must be the directory of the suite.
func (c *choices) cases(only string, args []string) ([]Case, error) {
	suite, engine := suites[c.suite], engines[c.engine]
	var err error
	switch c.only, err = regexp.Compile(only); {
	case err != nil:
		return nil, err
	case suite == nil:
		return nil, fmt.Errorf("unknown suite %q; expected one of %s", c.suite, names(suites))
	case engine == nil:
		return nil, fmt.Errorf("unknown engine %q; expected one of %s", c.engine, names(engines))
	case c.block != "" && (c.block != "*" || c.engine != "verify"):
		return nil, fmt.Errorf("-block %s: expected *, with the engine verify", c.block)
	case len(args) != 1:
		return nil, errors.New("expected one argument, the directory of the suite")
	}
	list, err := suite.Cases(args[0])
	if err != nil {
		return nil, err
	}
	list = slices.DeleteFunc(list, func(k Case) bool { return !c.only.MatchString(k.Name) })
	if len(list) == 0 {
		return nil, errors.New("no case matches")
	}
	if c.engine == "verify" {
		for i := range list {
			if list[i].Proof == nil {
				return nil, fmt.Errorf("the suite %s has no expectations for proofs", c.suite)
			}
			list[i].Proof.AnyBlock = c.block == "*"
		}
	}
	return list, nil
}

// names returns the sorted keys of a map, for messages.
func names[V any](m map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// Outcome is a case with the result of the engine.
type Outcome struct {
	Case   *Case   // of the suite
	Job    *Job    // with the decisive result
	Result *Result // of Job
	Tried  int     // number of jobs that ran
}

// outcomes runs the cases, c.jobs at a time, and returns the outcomes in the order of the cases.
// Each case runs in a process of its own, so the goroutines only wait. For the suite dir, whose
// cases are whole files, it writes a line to stderr as each ends.
func outcomes(ctx context.Context, c *choices, cases []Case, stderr io.Writer) []Outcome {
	out := make([]Outcome, len(cases))
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(c.jobs, 1) {
		wg.Go(func() {
			for i := range next {
				out[i] = attempt(ctx, c, &cases[i])
				if r := out[i].Result; c.suite == "dir" && r != nil {
					fmt.Fprintf(stderr, "%6.2f s CPU  %s: %d kernels\n", r.CPU, cases[i].Name,
						len(r.Verdicts))
				}
			}
		})
	}
	for i := range cases {
		next <- i
	}
	close(next)
	wg.Wait()
	return out
}

// attempt runs the jobs of a case. It first runs those with the smaller launch until one shows a
// defect. If none of them satisfies the assumptions of the kernel, or the result differs from the
// expectation, it runs the jobs with the suite's own launch, whose results then count.
func attempt(ctx context.Context, c *choices, k *Case) Outcome {
	switch {
	case c.engine == "verify":
		return attemptProof(ctx, c, k)
	case c.suite == "dir":
		job := k.Jobs[0]
		job.Includes = append(job.Includes, c.includes...)
		job.Compiler = append(job.Compiler, c.compiler...)
		return Outcome{Case: k, Job: &job, Result: isolated(ctx, c.engine, &job, c.limit), Tried: 1}
	}
	var best Outcome
	tried := 0
	// Round 0 runs the jobs with a smaller launch (those with a Note), round 1 the others. If no job
	// is smaller, round 0 runs them all.
	for scaled := range 2 {
		var found Outcome
		for i := range k.Jobs {
			j := &k.Jobs[i]
			if (j.Note == "") != (scaled == 1) && k.Jobs[0].Note != "" || ctx.Err() != nil {
				continue
			}
			o := Outcome{Case: k, Job: j, Result: isolated(ctx, c.engine, j, c.limit)}
			tried++
			if found.Result == nil || o.rank() > found.rank() {
				found = o
			}
			// Other arguments change neither a bug nor a failure of an earlier stage.
			if v := o.Result.verdict(); found.rank() == decisive || o.Result.Stage < Sane ||
				v == "unknown" || v == "unsupported" {
				break
			}
		}
		if found.Result != nil && (best.Result == nil || found.rank() > 0) {
			best = found
		}
		// The smaller launch may cause or hide a bug, so an unexpected result is confirmed with the
		// launch of the suite.
		again := best.rank() == 0 || k.Expect == Pass && best.rank() > 4 ||
			k.Expect == Fail && best.rank() < decisive
		if k.Jobs[0].Note == "" || !again {
			break
		}
	}
	// The number of jobs is for the JSON output only.
	best.Tried = tried
	return best
}

// decisive is the rank of a bug: no other job can change the outcome.
const decisive = 6

// rank orders the outcomes of one case by their significance for the kernel; 0 is none.
func (o *Outcome) rank() int {
	return map[string]int{"outside": 0, "failed": 1, "unsupported": 2, "unknown": 3, "clean": 4,
		"other": 5, "bug": decisive}[o.Result.verdict()]
}
