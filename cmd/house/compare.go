package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// compare is for changes that must not change behaviour. It sees exit codes and the JSON output,
// whose wording is normalized away; standard error is not compared. A command whose search is
// bounded by wall-clock time may differ from run to run on a busy machine: run it again for the
// files that are listed.

// engines are the commands of heddle that are compared.
var engines = []string{"check", "verify", "trace", "fix", "sync"}

// kernels are the extensions of the files that are compared.
var kernels = []string{".cu", ".cl", ".ptx", ".ll"}

// result is how one process ended. Two results are equal if users could not tell the builds apart,
// apart from wording.
type result struct {
	exit  int
	out   string // normalized
	err   string // of a process that did not start or was killed
	limit bool   // it was killed for time
}

// compare runs two builds of heddle on the same files and lists the outputs that differ. The exit
// code is 1 if any does, and 2 if the arguments are wrong.
func compare(args []string, stdout, stderr io.Writer) int {
	fs := flag.NewFlagSet("house compare", flag.ContinueOnError)
	fs.SetOutput(stderr)
	fs.Usage = func() {
		fmt.Fprintln(stderr,
			"usage: house compare [flags] OLD NEW, in the root of the checkout with the kernels")
		fs.PrintDefaults()
	}
	only := fs.String("run", "", "compare the files whose names match `REGEXP`")
	chosen := fs.String("engine", strings.Join(engines, ","),
		"compare the `COMMANDS`, a comma between them")
	limit := fs.Duration("limit", 5*time.Minute, "end a process after this `TIME`")
	show := fs.Bool("v", false, "print the first line that differs")
	if fs.Parse(args) != nil {
		return 2
	}
	match, err := regexp.Compile(*only)
	if err != nil || fs.NArg() != 2 {
		if err != nil {
			fmt.Fprintln(stderr, "house compare:", err)
		}
		fs.Usage()
		return 2
	}
	// The kernels come from the working directory, so that both builds see the same files.
	files, err := inputs("testdata", "examples")
	if err != nil {
		fmt.Fprintln(stderr, "house compare:", err)
		return 2
	}
	files = slices.DeleteFunc(files, func(name string) bool { return !match.MatchString(name) })
	c := comparison{old: fs.Arg(0), new: fs.Arg(1), limit: *limit, show: *show, out: stdout}
	for _, name := range files {
		for _, engine := range strings.Split(*chosen, ",") {
			c.compare(engine, name)
		}
	}
	fmt.Fprintf(stdout,
		"%d outputs of %d files compared, %d differ; %d skipped, since both builds ran out of time\n",
		c.compared, len(files), c.differ, c.skipped)
	if c.differ > 0 || c.compared == 0 {
		return 1
	}
	return 0
}

// inputs returns the kernels below the directories, sorted.
func inputs(dirs ...string) ([]string, error) {
	var names []string
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && slices.Contains(kernels, filepath.Ext(path)) {
				names = append(names, path)
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(names)
	return names, nil
}

// comparison counts what compare found.
type comparison struct {
	old, new string // the programs
	limit    time.Duration
	show     bool
	out      io.Writer

	compared, differ, skipped int
}

// compare runs both programs at the same time on one file and counts the outcome. If only one of
// them ran out of time, that is a difference.
func (c *comparison) compare(engine, name string) {
	// Two processes at a time: the builds run side by side, so that both see the same load.
	first := make(chan result)
	go func() { first <- execute(c.old, engine, name, c.limit) }()
	b := execute(c.new, engine, name, c.limit)
	a := <-first
	// Nothing is known about the result of a process that was killed.
	if a.limit && b.limit {
		c.skipped++
		return
	}
	c.compared++
	if a == b {
		return
	}
	c.differ++
	fmt.Fprintf(c.out, "%s %s: %s\n", engine, name, difference(a, b))
	if c.show {
		old, new := firstDifference(a.out, b.out)
		fmt.Fprintf(c.out, "\told: %s\n\tnew: %s\n", old, new)
	}
}

// execute runs one command on one file. The configuration is ignored, so that the result depends on
// the file and the build alone.
func execute(bin, engine, name string, limit time.Duration) result {
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, bin, engine, "--no-config", "--format", "json", name)
	var out bytes.Buffer
	cmd.Stdout = &out
	err := cmd.Run()
	if ctx.Err() != nil {
		return result{limit: true, exit: -1}
	}
	r := result{out: normalize(out.Bytes())}
	if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
		r.exit = exit.ExitCode()
	} else if err != nil {
		r.err = err.Error()
	}
	return r
}

// difference says in what two results differ, the most serious first.
func difference(a, b result) string {
	switch {
	case a.err != b.err:
		return fmt.Sprintf("error %q, now %q", a.err, b.err)
	case a.limit:
		return "ran out of time, now does not"
	case b.limit:
		return "runs out of time now"
	case a.exit != b.exit:
		return fmt.Sprintf("exit code %d, now %d", a.exit, b.exit)
	}
	return "the output differs"
}

// firstDifference returns the first lines in which two outputs differ.
func firstDifference(a, b string) (string, string) {
	as, bs := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(as), len(bs)) {
		if as[i] != bs[i] {
			return as[i], bs[i]
		}
	}
	n := min(len(as), len(bs))
	return strings.Join(as[n:], "\n"), strings.Join(bs[n:], "\n")
}
