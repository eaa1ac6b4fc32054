package bugreport

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"heddle/internal/launch"
	"heddle/internal/lazyregexp"
	"heddle/internal/ptx"
	"heddle/internal/reduce"
)

// caps are the numbers of warp instructions that a run of a candidate may take, the first one with
// which heddle still says the same. Without a cap, each candidate that loops forever would take
// seconds. The last one is heddle's own.
var caps = []string{"5000", "50000", "1000000", ""}

// reduce finds a program and a launch for which heddle says the same as about the input, and makes
// them smaller. It returns nil, with the reason in rep, if there is none.
func (s *session) reduce(ctx context.Context, rep *Report) *reduce.Candidate {
	start, why := s.start(ctx)
	if start == nil {
		rep.Why = why
		return nil
	}
	rep.Before = start.Instructions()
	opt := reduce.Options{Attempts: s.opt.Attempts, Tidy: s.opt.Tidy || s.interest.trivial()}
	if s.opt.Progress != nil {
		opt.Progress = func(n int, c *reduce.Candidate) { s.opt.Progress(n, c.Instructions()) }
	}
	limited, end := s.limited(ctx)
	res, err := reduce.Reduce(limited, start, s.holds, opt)
	end()
	if err != nil { // the context has ended
		res = &reduce.Result{Candidate: start}
	}
	rep.Attempts, rep.Minimal = res.Attempts, res.Minimal
	s.command = s.opt.Line.examiner()
	ctx, cancel := after(ctx)
	defer cancel()
	last := res.Candidate
	if !s.opt.KeepNames {
		if last, err = s.renamed(ctx, last); err != nil {
			rep.Why = err.Error()
			return nil
		}
	}
	s.uncap(ctx, last)
	rep.After, rep.Reduced = last.Instructions(), true
	return last
}

// limited returns a context for the reduction alone.
func (s *session) limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if s.opt.Total == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, s.opt.Total)
}

// uncap drops the limit of steps from the command of the report if the reduced program does not
// need it: most such programs end soon.
func (s *session) uncap(ctx context.Context, c *reduce.Candidate) {
	steps, loose := s.steps, *s.interest
	loose.reason = "" // which has names
	if s.steps = ""; !loose.holds(s.ask(ctx, c), namesOf(c)) {
		s.steps = steps
	}
}

// afterwards bounds the two runs that follow a reduction, even if it was interrupted.
const afterwards = time.Minute

// after returns a context for what follows a reduction.
func after(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), afterwards)
}

// start returns the first program and launch for which heddle says the same; nil and the reason if
// there is none.
func (s *session) start(ctx context.Context) (*reduce.Candidate, string) {
	lines := []Line{s.opt.Line}
	if s.opt.Line.Command == "exec" {
		lines = s.launches()
	}
	limits := caps
	if s.opt.Line.Value("max-steps") != "" {
		limits = []string{""}
	}
	programs, invalid := 0, false
	for _, line := range lines {
		for _, p := range s.opt.Programs(ctx, line) {
			programs++
			if s.about.Kernel != "" && p.Demangled != s.about.Kernel {
				continue
			}
			for _, l := range append(p.Launches, reduce.Launch{Kernel: p.Kernel}) {
				c, err := reduce.Parse(p.PTX, l)
				if err != nil {
					invalid = true
				} else if s.shows(ctx, c, limits) {
					s.keepReason(ctx, c)
					return c, ""
				}
			}
		}
	}
	return nil, s.unshown(ctx, programs, invalid)
}

// unshown is why none of some programs shows what the report is about.
func (s *session) unshown(ctx context.Context, programs int, invalid bool) string {
	exec := s.opt.Line.Command == "exec"
	switch {
	case ctx.Err() != nil:
		return "the report was interrupted before the input was examined"
	case programs == 0 && exec:
		return "no launch of the program is saved with its PTX: it launches no kernel, or one that " +
			"needs several files, or a launch is too large"
	case programs == 0:
		return "the input has no PTX: the compiler rejects it, or heddle fails before that"
	case invalid:
		return "the PTX of the input is not valid PTX, so that there is no tree to reduce"
	case s.interest.Verdict == contradiction:
		return "heddle verify and heddle run do not contradict each other about the PTX of the input"
	case s.opt.Line.Value("optimize") == "true":
		return "sync --optimize changes source code, and PTX has none"
	case exec:
		return "heddle run says something else about each launch alone: what is reported depends on " +
			"several launches or on host code"
	}
	return "heddle says something else about the PTX of the input alone, without its source and " +
		"host code"
}

// proving are the flags of heddle check and verify that heddle run lacks.
var proving = []string{"solver", "timeout", "assume", "axioms", "only-intra-block", "bounds",
	"abstraction", "assume-no-wrap", "extern", "unwind"}

// shows finds a command and a limit for which heddle says the same about a candidate. A bug that
// heddle run shows is one of heddle check as well, which would try to prove each candidate without
// it: that takes most of the time.
func (s *session) shows(ctx context.Context, c *reduce.Candidate, limits []string) bool {
	commands := []string{s.opt.Line.examiner()}
	if commands[0] == "check" && s.interest.Verdict == "bug" {
		commands = []string{"run", "check"}
	}
	for _, s.command = range commands {
		for _, s.steps = range limits {
			if s.holds(ctx, c) {
				return true
			}
		}
	}
	return false
}

// keepReason makes the reason of an unknown or unsupported verdict part of what is kept: the next
// construct that heddle does not support would have the same verdict.
func (s *session) keepReason(ctx context.Context, c *reduce.Candidate) {
	switch s.interest.Verdict {
	case "unknown", "unsupported", "not checked", "not repaired", "not synchronized":
		s.interest.reason = shape(s.ask(ctx, c).Reason, namesOf(c))
	}
}

// holds is the property of a reduction.
func (s *session) holds(ctx context.Context, c *reduce.Candidate) bool {
	return s.interest.holds(s.ask(ctx, c), namesOf(c))
}

// ask runs the command on a candidate.
func (s *session) ask(ctx context.Context, c *reduce.Candidate) Facts {
	if s.interest.Verdict == contradiction {
		return s.contradicts(ctx, c)
	}
	return s.askCommand(ctx, s.command, c)
}

// askCommand runs a command on a candidate.
func (s *session) askCommand(ctx context.Context, command string, c *reduce.Candidate) Facts {
	words := s.words(command, &c.Launch)
	if c.Launch.Saved != nil {
		file, err := s.write(c.Launch.Saved)
		if err != nil {
			fmt.Fprintf(s.opt.Log, "heddle: %v\n", err)
			return Facts{}
		}
		words = append(words, "--launch="+file)
	}
	words = append(words, "--format=json", "--lang=ptx", "-")
	return joined(readFacts(s.opt.Run(ctx, words, c.Text)))
}

// contradiction is the verdict on a program that a proof and a run disagree about.
const contradiction = "contradiction"

// contradicts asks for a bug first, since few candidates have one and runs are fast.
func (s *session) contradicts(ctx context.Context, c *reduce.Candidate) Facts {
	f := s.askCommand(ctx, "run", c)
	if f.Verdict != "bug" {
		return Facts{}
	}
	if s.askCommand(ctx, "verify", c).Verdict != "verified" {
		return Facts{}
	}
	f.Verdict = contradiction
	return f
}

// commands are those that show what the report is about.
func (s *session) commands() []string {
	if s.interest.Verdict == contradiction {
		return []string{"verify", "run"}
	}
	return []string{s.opt.Line.examiner()}
}

// words are a command for a launch, without its input.
func (s *session) words(command string, l *reduce.Launch) []string {
	words := []string{command, "--no-config"}
	for _, f := range s.opt.Line.kept() {
		if command != "run" || !slices.Contains(proving, f.Name) {
			words = append(words, f.words()...)
		}
	}
	if s.steps != "" {
		words = append(words, "--max-steps="+s.steps)
	}
	return append(words, l.Words()...)
}

// identifier finds the names in an expression of --assume.
var identifier = lazyregexp.New(`[A-Za-z_$%][\w$]*`)

// renamed returns the program with other names. It must show the same, but for the names in the
// reason of a verdict.
func (s *session) renamed(ctx context.Context, c *reduce.Candidate) (*reduce.Candidate, error) {
	out, names, err := reduce.Rename(c)
	if err != nil {
		return nil, err
	}
	flags := slices.Clone(s.opt.Line.Flags)
	for i, f := range flags {
		if f.Name == "assume" {
			flags[i].Value = identifier.ReplaceAllStringFunc(f.Value, func(name string) string {
				if to, ok := names.Params[name]; ok {
					return to
				}
				return name
			})
		}
	}
	line := s.opt.Line
	line.Flags = flags
	s.opt.Line, line = line, s.opt.Line
	for _, l := range seeded(out.Launch) {
		again := *out
		again.Launch = l
		if s.showsRenamed(ctx, &again) {
			return &again, nil
		}
	}
	s.opt.Line = line
	if ctx.Err() != nil {
		return nil, errors.New("the renamed program could not be examined within a minute")
	}
	return nil, errNames
}

// showsRenamed reports whether heddle says the same about a renamed program, with the limit of
// steps of the reduction or a larger one. The reason of a verdict may have names.
func (s *session) showsRenamed(ctx context.Context, c *reduce.Candidate) bool {
	same, steps := *s.interest, s.steps
	same.reason = ""
	for _, s.steps = range caps[max(slices.Index(caps, steps), 0):] {
		if same.holds(s.ask(ctx, c), namesOf(c)) {
			return true
		}
	}
	s.steps = steps
	return false
}

// mostSeeds bounds the seeds that are tried for the contents of buffers.
const mostSeeds = 8

// seeded returns a launch, and the same one with other seeds for buffers with random contents:
// these depend on the names of parameters too, so that a bug for some contents needs another seed.
func seeded(l reduce.Launch) []reduce.Launch {
	out := []reduce.Launch{l}
	for seed := range uint64(mostSeeds) {
		next, random := l, false
		next.Args = slices.Clone(l.Args)
		for i := range next.Args {
			switch a := &next.Args[i]; a.Fill {
			case launch.FillRandom, launch.FillSmall, launch.FillPerm, launch.FillCSR, launch.FillOneOf:
				a.Seed, random = a.Seed+seed+1, true
			}
		}
		if random {
			out = append(out, next)
		}
	}
	return out
}

// namesOf returns whether a word is a name that a program gives.
func namesOf(c *reduce.Candidate) func(string) bool {
	names := map[string]bool{}
	add := func(v *ptx.Var) {
		for _, n := range v.Names {
			names[n.Name] = true
		}
	}
	for _, d := range c.Tree.Decls {
		switch n := d.(type) {
		case *ptx.Var:
			add(n)
		case *ptx.Func:
			names[n.Name] = true
			for _, p := range n.Params {
				add(p)
			}
		}
	}
	return func(word string) bool {
		return names[word] || strings.HasPrefix(word, "%") || strings.HasPrefix(word, "$")
	}
}
