// Command conform runs an engine on a suite of kernels that others made, and prints where it does not
// come to the end and where it disagrees with what the suite expects. It holds no kernel itself:
//
//	go run ./cmd/conform --suite gpuverify --engine run DIR
//	go run ./cmd/conform --suite gpuverify --engine verify DIR
package main

import (
	"context"
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
)

// Suite reads the cases of a directory.
type Suite interface {
	Cases(dir string) ([]Case, error)
}

// suites by name, for --suite.
var suites = map[string]Suite{
	"barracuda": barracuda{},
	"gpuverify": gpuverify{},
}

func main() {
	if len(os.Args) == 3 && os.Args[1] == workerFlag {
		if err := worker(os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

// choices of one run of the program.
type choices struct {
	suite, engine string
	block         string // of proofs: empty or *
	only          *regexp.Regexp
	jobs          int
	limit         time.Duration
	json, all     bool
}

// run is the program but for the process. The exit code is 1 if a kernel did not come to the end, or a
// verdict disagrees with an expectation that binds; of proofs, if a kernel that should fail is verified.
func run(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("conform", flag.ContinueOnError)
	fs.SetOutput(stderr)
	var c choices
	var only string
	fs.StringVar(&c.suite, "suite", "gpuverify", "`NAME` of the suite: "+names(suites))
	fs.StringVar(&c.engine, "engine", "run", "`NAME` of the engine: "+names(engines))
	fs.StringVar(&only, "only", "", "only the cases whose name matches `REGEXP`")
	fs.StringVar(&c.block, "block", "", "of proofs: `*` for blocks of any size in the dimensions in which those of the suite are larger than one")
	fs.IntVar(&c.jobs, "j", 2, "kernels at a time")
	fs.DurationVar(&c.limit, "limit", 60*time.Second, "time for one kernel")
	fs.BoolVar(&c.json, "json", false, "print one JSON object a case")
	fs.BoolVar(&c.all, "all", false, "list every case, not only those that need a look")
	if fs.Parse(args) != nil {
		return 2
	}
	suite, engine := suites[c.suite], engines[c.engine]
	var err error
	switch c.only, err = regexp.Compile(only); {
	case err != nil:
	case suite == nil:
		err = fmt.Errorf("no suite %q; there are %s", c.suite, names(suites))
	case engine == nil:
		err = fmt.Errorf("no engine %q; there are %s", c.engine, names(engines))
	case c.block != "" && (c.block != "*" || c.engine != "verify"):
		err = fmt.Errorf("-block %s: want * with the engine verify", c.block)
	case fs.NArg() != 1:
		err = fmt.Errorf("want the directory of the suite")
	}
	if err != nil {
		fmt.Fprintln(stderr, "conform:", err)
		return 2
	}
	cases, err := suite.Cases(fs.Arg(0))
	if err != nil {
		fmt.Fprintln(stderr, "conform:", err)
		return 2
	}
	cases = slices.DeleteFunc(cases, func(k Case) bool { return !c.only.MatchString(k.Name) })
	if len(cases) == 0 {
		fmt.Fprintln(stderr, "conform: no case there")
		return 2
	}
	if c.engine == "verify" {
		for i := range cases {
			if cases[i].Proof == nil {
				fmt.Fprintf(stderr, "conform: the suite %s says nothing of proofs\n", c.suite)
				return 2
			}
			cases[i].Proof.AnyBlock = c.block == "*"
		}
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	list := outcomes(ctx, &c, cases)
	if c.engine == "verify" {
		return c.reportProofs(stdout, list)
	}
	return c.report(stdout, list)
}

func names[V any](m map[string]V) string {
	return strings.Join(slices.Sorted(maps.Keys(m)), ", ")
}

// Outcome is a case with what the engine made of it.
type Outcome struct {
	Case   *Case
	Job    *Job // that the result is of
	Result *Result
	Tried  int // jobs
}

// outcomes does the cases, c.jobs at a time, and returns them in order.
func outcomes(ctx context.Context, c *choices, cases []Case) []Outcome {
	out := make([]Outcome, len(cases))
	next := make(chan int)
	var wg sync.WaitGroup
	for range max(c.jobs, 1) {
		wg.Go(func() {
			for i := range next {
				out[i] = attempt(ctx, c, &cases[i])
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

// attempt does the jobs of a case: all those of its smaller launch, until one shows a defect; if none of
// them is within the kernel's assumptions, or they do not say what the suite says, those of the suite's own
// launch, and then these count.
func attempt(ctx context.Context, c *choices, k *Case) Outcome {
	if c.engine == "verify" {
		return attemptProof(ctx, c, k)
	}
	var best Outcome
	tried := 0
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
			if v := o.Result.verdict(); found.rank() == decisive || o.Result.Stage < Sane || v == "unknown" || v == "unsupported" {
				break
			}
		}
		if found.Result != nil && (best.Result == nil || found.rank() > 0) {
			best = found
		}
		again := best.rank() == 0 || k.Expect == Pass && best.rank() > 4 || k.Expect == Fail && best.rank() < decisive
		if k.Jobs[0].Note == "" || !again {
			break
		}
	}
	best.Tried = tried
	return best
}

const decisive = 6

// rank orders the outcomes of one case by what they say of the kernel: 0 is nothing.
func (o *Outcome) rank() int {
	return map[string]int{"outside": 0, "failed": 1, "unsupported": 2, "unknown": 3, "clean": 4, "other": 5, "bug": decisive}[o.Result.verdict()]
}
