package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"

	"heddle/internal/lazyregexp"
)

// The suite "programs" is a directory of programs, each in a directory with a Makefile of its own.
// They are built with "heddle nvcc" under the name nvcc, and run with "heddle exec". What counts is
// what they say of their own results. A table of ours has the arguments, which must be smaller than
// those of the Makefiles: an emulation is slower than a GPU by some thousand times.

// A program is what a table says of a directory.
type program struct {
	name    string   // of the table: the directory, and @NAME where it has several programs
	dir     string   // relative to the directory of the suite; that of the Makefile
	edits   []edit   // made before it is built
	nvcc    []string // the commands that build it, without nvcc; make does if there are none
	args    []string // of its runs, each one string
	missing []string // files that it reads and its repository lacks
	silent  bool     // it says nothing about its results
	exits   bool     // its exit code says whether they are right
}

// An edit replaces what matches a pattern in a file, for programs whose sizes are constants.
type edit struct {
	file string
	old  *regexp.Regexp
	new  string
}

// programUsage is the error of a line of a table that is none of those of readPrograms.
const programUsage = "expected DIR[@NAME] nvcc|run|set|data|silent|exits"

// readPrograms reads a table. Each line is one of
//
//	DIR nvcc ARG...          builds it, in the place of make; the shell expands the arguments
//	DIR run ARG...           a run with these arguments
//	DIR set FILE REGEXP TEXT a change to FILE, \s is a space in both
//	DIR data FILE...         the program reads a file that its repository does not have
//	DIR silent               the program says nothing about its results
//	DIR exits                its exit code is 0 only if its results are right
//
// Empty lines and lines that begin with # do not count. A directory without a run is only built, to
// objects or to a program. DIR@NAME stands for DIR where the directory has several programs.
func readPrograms(r io.Reader) ([]*program, error) {
	var out []*program
	named := map[string]*program{}
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		word := strings.Fields(lines.Text())
		if len(word) == 0 || strings.HasPrefix(word[0], "#") {
			continue
		}
		if len(word) < 2 {
			return nil, fmt.Errorf("line %d: %s", n, programUsage)
		}
		p := named[word[0]]
		if p == nil {
			p = &program{name: word[0]}
			p.dir, _, _ = strings.Cut(word[0], "@")
			named[word[0]] = p
			out = append(out, p)
		}
		switch rest := word[2:]; {
		case word[1] == "nvcc" && len(rest) > 0:
			p.nvcc = append(p.nvcc, "nvcc "+strings.Join(rest, " "))
		case word[1] == "run":
			p.args = append(p.args, strings.Join(rest, " "))
		case word[1] == "data" && len(rest) > 0:
			p.missing = append(p.missing, rest...)
		case word[1] == "silent" && len(rest) == 0:
			p.silent = true
		case word[1] == "exits" && len(rest) == 0:
			p.exits = true
		case word[1] == "set" && len(rest) == 3:
			old, err := regexp.Compile(rest[1])
			if err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			text := strings.ReplaceAll(rest[2], `\s`, " ")
			p.edits = append(p.edits, edit{rest[0], old, text})
		default:
			return nil, fmt.Errorf("line %d: %s", n, programUsage)
		}
	}
	return out, lines.Err()
}

// apply makes the edits of a program in its directory. The first time it keeps a copy of each file,
// from which it starts the next time.
func (p *program) apply(dir string) error {
	done := map[string][]byte{}
	for _, e := range p.edits {
		file := filepath.Join(dir, e.file)
		text, ok := done[file]
		if !ok {
			var err error
			if text, err = os.ReadFile(file + ".orig"); errors.Is(err, os.ErrNotExist) {
				if text, err = os.ReadFile(file); err == nil {
					err = os.WriteFile(file+".orig", text, 0o600)
				}
			}
			if err != nil {
				return err
			}
		}
		if !e.old.Match(text) {
			return fmt.Errorf("%s: nothing matches %s", e.file, e.old)
		}
		done[file] = e.old.ReplaceAll(text, []byte(e.new))
	}
	for file, text := range done {
		if err := os.WriteFile(file, text, 0o600); err != nil {
			return err
		}
	}
	return nil
}

// The outcomes of a program, the best last.
const (
	endNotBuilt    = "not built"
	endNoData      = "no data"     // it did not pass, and a file is missing
	endUnsupported = "unsupported" // it called a function that heddle does not have
	endLimit       = "limit"       // of time
	endError       = "error"       // it ended with an error
	endFail        = "FAIL"        // it says that its results are wrong
	endSilent      = "no verdict"  // it ended with exit code 0, without a word about its results
	endPass        = "PASS"
)

var (
	// The last word of NVIDIA's samples, of which one fails an assertion on purpose.
	lastWord  = lazyregexp.New(`completed, returned OK\s*$`)
	passWords = lazyregexp.New(`(?im)\b(pass|passed|success|successful|successfully)\b|` +
		`\breturned OK\b|\bcorrect\b|\(valid\)|\bOK$`)
	failWords = lazyregexp.New(`(?i)\b(fail|failed|failure|incorrect|mismatch(es)?|wrong)\b`)
	// Words such as "0 failed", "failure count: 0" and "failed as expected" say the contrary.
	noneWords = lazyregexp.New(`(?i)\bfailed as expected\b|` +
		`\b(0|no) (fail|failed|failures?|mismatch(es)?)\b|` +
		`\b(fail|failed|failures?|mismatch(es)?)( count)? *[:=] *0\b`)
)

// judge returns the outcome of a run from its output and exit code.
func judge(out []byte, code int) string {
	out = noneWords.ReplaceAll(out, []byte("pass"))
	switch {
	case code == 0 && lastWord.Match(out):
		return endPass
	case failWords.Match(out):
		return endFail
	case code != 0:
		return endError
	case passWords.Match(out):
		return endPass
	}
	return endSilent
}

// A tried is the result of one run, or of a build that failed.
type tried struct {
	program *program
	args    string
	outcome string
	note    string  // the last line of an error, or the kernels with bugs
	cpu     float64 // in seconds, of the build and of the run
}

// runPrograms builds and runs the programs of a table whose directory matches only, and prints a
// line for each that did not pass, then the numbers. It returns 1 if a program that can run did not
// pass.
func (c *choices) runPrograms(only string, args []string, w, stderr io.Writer) int {
	list, err := c.programList(only, args)
	if err != nil {
		fmt.Fprintln(stderr, "conform:", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	bin, err := os.MkdirTemp("", "conform")
	if err != nil {
		fmt.Fprintln(stderr, "conform:", err)
		return 2
	}
	defer os.RemoveAll(bin)
	script := "#!/bin/sh\nexec '" + c.heddle + "' nvcc \"$@\"\n"
	if err := os.WriteFile(filepath.Join(bin, "nvcc"), []byte(script), 0o700); err != nil {
		fmt.Fprintln(stderr, "conform:", err)
		return 2
	}
	var all []tried
	for _, p := range list {
		for _, t := range c.try(ctx, p, args[0], bin) {
			fmt.Fprintf(stderr, "%6.2f s CPU  %s %s: %s\n", t.cpu, p.name, t.args, t.outcome)
			all = append(all, t)
		}
	}
	return reportPrograms(w, all, len(list))
}

// programList reads the table of -table, and selects by -only. args must be the directory of the
// suite.
func (c *choices) programList(only string, args []string) ([]*program, error) {
	if len(args) != 1 {
		return nil, errors.New("expected one argument, the directory of the suite")
	}
	var err error
	if c.only, err = regexp.Compile(only); err != nil {
		return nil, err
	}
	f, err := os.Open(c.table)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	all, err := readPrograms(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.table, err)
	}
	if c.heddle, err = filepath.Abs(c.heddle); err != nil {
		return nil, err
	}
	var out []*program
	for _, p := range all {
		if _, err := os.Stat(filepath.Join(args[0], p.dir)); err == nil && c.only.MatchString(p.name) {
			out = append(out, p)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("no program of the table is there")
	}
	return out, nil
}

// try builds a program and runs it with each line of arguments.
func (c *choices) try(ctx context.Context, p *program, root, bin string) []tried {
	dir := filepath.Join(root, p.dir)
	if err := p.apply(dir); err != nil {
		return []tried{{program: p, outcome: endNotBuilt, note: err.Error()}}
	}
	start := time.Now()
	out, code, cpu := c.build(ctx, p, dir, bin)
	if code != 0 {
		return []tried{{program: p, outcome: endNotBuilt, note: firstErrorLine(out), cpu: cpu}}
	}
	built := cpu
	name := executable(dir, start)
	if name == "" && len(p.args) > 0 {
		return []tried{{program: p, outcome: endNotBuilt, note: "no program", cpu: cpu}}
	}
	var all []tried
	for _, args := range p.args {
		argv := append([]string{c.heddle, "exec", "--fail-on", "never", "-o",
			filepath.Join(bin, "report"), "--", "./" + name}, strings.Fields(args)...)
		out, code, cpu := c.command(ctx, dir, bin, argv...)
		t := tried{program: p, args: args, outcome: judge(out, code), cpu: built + cpu}
		switch {
		case p.silent && code == 0:
			t.outcome = endSilent
		case p.exits && code == 0: // whatever it says: a test may fail on purpose
			t.outcome = endPass
		}
		built = 0
		report, _ := os.ReadFile(filepath.Join(bin, "report"))
		absent := p.absent(dir)
		switch {
		case cpu > 0.9*c.limit.Seconds() || code < 0:
			t.outcome = endLimit
		case t.outcome != endPass && bytes.Contains(out, []byte(" is not supported\n")):
			t.outcome = endUnsupported
		case t.outcome != endPass && len(absent) > 0:
			t.outcome, t.note = endNoData, strings.Join(absent, ", ")
		case t.outcome == endError:
			t.note = lastLine(out)
		}
		if n := bytes.Count(report, []byte("\nbug: ")); n > 0 {
			t.note = strings.TrimPrefix(fmt.Sprintf("%s; kernels with bugs: %d", t.note, n), "; ")
		}
		all = append(all, t)
	}
	return all
}

// build builds a program in its directory with its own commands or with make, and returns what the
// last command wrote, its exit code, and the seconds of processor time of all.
func (c *choices) build(ctx context.Context, p *program, dir, bin string) (out []byte, code int,
	cpu float64,
) {
	if len(p.nvcc) == 0 {
		if out, code, _ := c.command(ctx, dir, bin, "make", "clean"); code != 0 && len(out) == 0 {
			return []byte("no make"), code, 0
		}
		return c.command(ctx, dir, bin, "make")
	}
	for _, line := range p.nvcc {
		var used float64
		out, code, used = c.command(ctx, dir, bin, "sh", "-c", line)
		if cpu += used; code != 0 {
			break
		}
	}
	return out, code, cpu
}

// command runs a command in a directory with nvcc's stand-in first in PATH, for c.limit of
// processor time in each process, and ten times that in all. It returns what it wrote, its exit
// code, which is negative after a signal, and the seconds of processor time.
func (c *choices) command(ctx context.Context, dir, bin string, argv ...string) (out []byte,
	code int, cpu float64,
) {
	ctx, cancel := context.WithTimeout(ctx, 10*c.limit)
	defer cancel()
	limit := fmt.Sprintf("ulimit -t %d; exec \"$@\"", max(1, int(c.limit.Seconds())))
	cmd := exec.CommandContext(ctx, "sh", append([]string{"-c", limit, "sh"}, argv...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "PATH="+bin+string(os.PathListSeparator)+os.Getenv("PATH"))
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		return []byte(err.Error()), -1, 0
	}
	used := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return out, cmd.ProcessState.ExitCode(), used.Seconds()
}

// absent returns the files that a program reads and that are not there.
func (p *program) absent(dir string) (out []string) {
	for _, f := range p.missing {
		if _, err := os.Stat(filepath.Join(dir, f)); err != nil {
			out = append(out, f)
		}
	}
	return out
}

// executable returns the name of the program that make has built since start; "" if there is none.
func executable(dir string, start time.Time) string {
	files, _ := os.ReadDir(dir)
	for _, f := range files {
		info, err := f.Info()
		if err != nil || !info.Mode().IsRegular() || info.Mode()&0o100 == 0 ||
			info.ModTime().Before(start.Truncate(time.Second)) {
			continue
		}
		file, err := os.Open(filepath.Join(dir, f.Name()))
		if err != nil {
			continue
		}
		var head [18]byte // of ELF: the type at 16, 1 for an object
		_, err = io.ReadFull(file, head[:])
		file.Close()
		if err == nil && string(head[:4]) == "\x7fELF" && head[16] != 1 {
			return f.Name()
		}
	}
	return ""
}

// firstErrorLine returns the first error in the output of make.
func firstErrorLine(out []byte) string {
	for line := range strings.Lines(string(out)) {
		low := strings.ToLower(line)
		if strings.Contains(low, "error") || strings.Contains(low, "not found") {
			return strings.TrimSpace(line)
		}
	}
	return lastLine(out)
}

// lastLine returns the last line that is not empty.
func lastLine(out []byte) string {
	lines := strings.Split(strings.TrimSpace(string(out)), "\n")
	return lines[len(lines)-1]
}

// reportPrograms prints what did not pass, and the numbers. A program with several runs is as good
// as the worst of them.
func reportPrograms(w io.Writer, all []tried, programs int) int {
	order := []string{endNotBuilt, endNoData, endUnsupported, endLimit, endError, endFail, endSilent,
		endPass}
	rank := map[string]int{}
	for i, o := range order {
		rank[o] = i + 1
	}
	worst := map[*program]string{}
	tab := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, t := range all {
		if o := worst[t.program]; o == "" || rank[t.outcome] < rank[o] {
			worst[t.program] = t.outcome
		}
		if t.outcome != endPass || t.note != "" {
			fmt.Fprintf(tab, "%s\t%s\t%s\n", t.outcome, t.program.name, t.note)
		}
	}
	tab.Flush()
	count := map[string]int{}
	verdicts, quiet := 0, 0 // programs that can run, with and without a verdict of their own
	for p, o := range worst {
		count[o]++
		switch {
		case o == endNotBuilt || o == endNoData || o == endUnsupported:
		case p.silent:
			quiet++
		default:
			verdicts++
		}
	}
	built := len(worst) - count[endNotBuilt]
	fmt.Fprintf(w, "\nprograms %d, built %d (%s)\n", programs, built, percent(built, programs))
	fmt.Fprintf(w, "of %d that give a verdict %d passed (%s)\n", verdicts, count[endPass],
		percent(count[endPass], verdicts))
	fmt.Fprintf(w, "of %d that give none %d ended without an error\n", quiet, count[endSilent])
	for _, o := range order {
		if count[o] > 0 {
			fmt.Fprintf(w, "%6d  %s\n", count[o], o)
		}
	}
	if verdicts+quiet > count[endPass]+count[endSilent] {
		return 1
	}
	return 0
}
