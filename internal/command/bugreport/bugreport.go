// Package bugreport collects what a maintainer needs to see a failure or a wrong result of heddle
// again: it runs a command line, makes its input smaller as long as heddle says the same about it,
// and writes a bundle of files. Nothing is sent anywhere.
//
// The input may be confidential, so nothing of it is in the bundle but the reduced PTX with other
// names, unless the user allows more.
package bugreport

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"heddle/internal/launch"
	"heddle/internal/reduce"
)

// Options are the choices of one report.
type Options struct {
	Line  Line
	Stdin []byte // that the line reads; nil: none
	// Run runs a command line of heddle in this process. A panic is part of its outcome.
	Run func(ctx context.Context, words []string, stdin []byte) Outcome
	// Programs compiles the inputs of a line to PTX. It is called after the line of the report was
	// run, with that line, or for exec with one for each launch of the program.
	Programs func(context.Context, Line) []Program

	Kernel string // that is reported; empty: the one with the most remarkable verdict
	Code   string // of the finding to keep; empty: the verdict is kept
	// Contradiction keeps that heddle verify proves the kernel, and heddle run finds a bug in it.
	Contradiction bool
	Total         time.Duration // for the reduction; 0: no limit
	Attempts      int           // candidates, at most
	Tidy          bool          // remove only what the kernel does not use
	KeepNames     bool
	WithSource    bool

	Version []byte // of heddle, as JSON
	Tools   string // that heddle found on the machine
	Home    string // whose path is replaced; empty: none
	Dir     string // the working directory, as Home
	Log     io.Writer
	// Progress is called after each attempt; may be nil.
	Progress func(attempts, instructions int)
}

// Program is one kernel of the inputs as PTX with one of its launches.
type Program struct {
	PTX       []byte
	Kernel    string // the name in the PTX; empty: the kernels are not known, as the PTX is not valid
	Demangled string
	// Launches may be tried one after the other: each specifies more than the one before.
	Launches []reduce.Launch
}

// Report is the result.
type Report struct {
	Files     []File    // of the bundle
	Interest  *Interest // nil: nothing was found that a reduction could keep
	Reduced   bool      // the bundle has a smaller program for which heddle says the same
	Minimal   bool      // no single edit makes it smaller
	Attempts  int
	Before    int // instructions
	After     int
	Contents  int      // bytes of memory, other than zeros, in the launch of the reduced program
	Reproduce []string // the commands that show it
	Why       string   // why it is not reduced; empty: it is
}

// File is a file of the bundle.
type File struct {
	Name, About string
	Data        []byte
}

// UsageError is a command line that heddle itself rejects, or one without what is to be kept.
type UsageError struct{ Text string }

// Error implements error.
func (e *UsageError) Error() string { return e.Text }

// session is the state of one report.
type session struct {
	opt      Options
	original Outcome // of the line as it is
	facts    []Facts
	about    Facts // the kernel that is reported
	interest *Interest
	command  string        // that examines candidates
	steps    string        // for --max-steps; empty: as the line has it
	temp     string        // a directory for files that the report does not keep
	written  *launch.Saved // the last one that was written to temp
}

// Make runs the line, reduces its input and returns the bundle. If ctx ends during the reduction,
// the bundle has the smallest program so far; if it ends before, its cause is the error.
func Make(ctx context.Context, opt Options) (*Report, error) {
	s := &session{opt: opt}
	if opt.Line.Value("write") != "" {
		return nil, &UsageError{opt.Line.Command + " -w changes the input; expected the command line " +
			"without -w"}
	}
	temp, err := os.MkdirTemp("", "heddle-bug-report-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(temp)
	s.temp = temp
	if opt.Line.Command == "exec" {
		s.execute(ctx)
	} else {
		s.repeat(ctx)
	}
	if ctx.Err() != nil { // what the line says is not known
		return nil, context.Cause(ctx)
	}
	if err := s.choose(); err != nil {
		return nil, err
	}
	rep := &Report{Interest: s.interest}
	res := s.reduce(ctx, rep)
	s.bundle(ctx, rep, res)
	return rep, nil
}

// repeat runs the line as it is, and again for facts.
func (s *session) repeat(ctx context.Context) {
	opt := &s.opt
	s.original = opt.Run(ctx, opt.Line.Words, opt.Stdin)
	s.facts = []Facts{{Crash: crash(s.original.Stderr)}}
	if len(s.facts[0].Crash) > 0 {
		return
	}
	words := []string{opt.Line.Command, "--format=json"}
	for _, f := range opt.Line.Flags {
		if !slices.Contains(unrepeatable, f.Name) {
			words = append(words, f.words()...)
		}
	}
	words = append(append(words, "--"), opt.Line.Inputs...)
	s.facts = readFacts(opt.Run(ctx, words, opt.Stdin))
}

// unrepeatable are the flags that a second run of the line must not have: they say where results
// go.
var unrepeatable = []string{"format", "html", "output", "write", "diff", "emit", "baseline",
	"write-baseline", "smt-dir", "stats", "print", "report", "summary", "incremental"}

// ranks are verdicts, the most remarkable first.
var ranks = []string{"bug", "not repaired", "not synchronized", "partly repaired", "repaired",
	"unsupported", "not checked", "unknown", "synchronized", "clean", "verified", "unchanged"}

// rank is the place of a verdict in ranks, by its first words: the status of a placement has more. A
// contradiction ("synchronized, but bug") is more remarkable than any of them.
func rank(verdict string) int {
	if strings.Contains(verdict, ", but ") {
		return -1
	}
	word, _, _ := strings.Cut(verdict, ",")
	return slices.Index(ranks, word)
}

// choose decides what the report is about.
func (s *session) choose() error {
	input := s.facts[0]
	if len(input.Crash) > 0 {
		s.interest = &Interest{Crash: input.Crash}
		return nil
	}
	list := slices.Clone(s.facts[1:])
	if s.opt.Kernel != "" {
		list = slices.DeleteFunc(list, func(f Facts) bool {
			return f.Kernel != s.opt.Kernel && launch.BaseName(f.Kernel) != s.opt.Kernel
		})
	}
	if s.opt.Code != "" {
		list = slices.DeleteFunc(append(list, input), func(f Facts) bool {
			return !slices.Contains(f.Codes, s.opt.Code)
		})
		if len(list) == 0 {
			return &UsageError{fmt.Sprintf("the command reports no finding %s; it reports %s", s.opt.Code,
				s.reported())}
		}
		s.about, s.interest = list[0], &Interest{Code: s.opt.Code}
		return nil
	}
	slices.SortStableFunc(list, func(a, b Facts) int { return rank(a.Verdict) - rank(b.Verdict) })
	list = slices.DeleteFunc(list, func(f Facts) bool { return f.Verdict == "" })
	switch {
	case len(list) > 0 && s.opt.Contradiction:
		s.about, s.interest = list[0], &Interest{Verdict: contradiction}
	case len(list) > 0:
		s.about = list[0]
		s.interest = &Interest{Verdict: s.about.Verdict}
		if len(s.about.Codes) > 0 {
			s.interest.Code, s.interest.Detail = s.about.Codes[0], s.about.Details[0]
		}
	case s.opt.Kernel != "" && len(s.facts) > 1:
		return &UsageError{fmt.Sprintf("the command has no verdict on a kernel %q", s.opt.Kernel)}
	case len(input.Codes) > 0 && input.Codes[0] != "input":
		s.interest = &Interest{Code: input.Codes[0]}
	default: // a file that does not exist, say
		return &UsageError{"expected a command that says something about a kernel; it ends with\n" +
			strings.TrimSpace(string(s.original.Stderr))}
	}
	return nil
}

// reported lists the codes of all findings.
func (s *session) reported() string {
	var codes []string
	for _, f := range s.facts {
		codes = append(codes, f.Codes...)
	}
	slices.Sort(codes)
	if len(codes) == 0 {
		return "no finding"
	}
	return strings.Join(slices.Compact(codes), ", ")
}

// errNames is why a reduced program is not in the bundle.
var errNames = errors.New("with other names of functions and variables, heddle says something " +
	"else about the program; --keep-names would include it with its names")
