package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"heddle/examples"
)

// A scene of the tour is a command with the text before it and the exit code that it has.
type scene struct {
	text string
	args []string
	want int
}

// scenes are the tour of heddle demo. The text is short: what the commands print is what users are
// to read.
var scenes = []scene{
	{"reduce_racy.cu sums an array. Each block halves its partial sums in shared memory, step by\n" +
		"step, and the barrier between two steps is missing. On a GPU, the sum may be right all the\n" +
		"same.",
		[]string{"check", "reduce_racy.cu"}, exitBugs},
	{"heddle fix looks for the cheapest repair, and proves it before it prints the patch.",
		[]string{"fix", "reduce_racy.cu"}, exitClean},
	{"reduce.cu is the kernel with that barrier. For it, heddle proves that no two threads race\n" +
		"and that no barrier diverges, whatever the array contains.",
		[]string{"check", "reduce.cu"}, exitClean},
}

// demoEnd is what the tour ends with.
const demoEnd = `Next: heddle check FILE for your own kernels (.cu, .cl, .ptx), heddle init to describe
their launches, heddle explain race-shared for what a finding means.
`

// newDemo makes the command that shows heddle to those who have just installed it.
func newDemo(stdout, stderr io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "demo [DIR]",
		Short: "show what heddle does, on two examples",
		Long: `demo checks a kernel with a data race, repairs it, and verifies the repaired one. The two
files are part of heddle; it writes them to DIR, or else to a temporary directory that it removes. It ends
with exit code 0 if every command gave the expected result.`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return fmt.Errorf("expected one directory at most, got %d", len(args))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			dir := ""
			if len(args) > 0 {
				dir = args[0]
			}
			back, err := enterTour(dir)
			if err != nil {
				return inputError{err}
			}
			defer back()
			return playTour(cmd.Context(), stdout, stderr)
		},
	}
}

// enterTour writes the examples and makes their directory the working directory, so that the
// commands of the tour are those that a user would type there. back undoes that.
func enterTour(dir string) (back func(), err error) {
	old, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	remove := func() {}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "heddle-demo-"); err != nil {
			return nil, fmt.Errorf("no directory for temporary files (TMPDIR): %w", err)
		}
		remove = func() { _ = os.RemoveAll(dir) }
	} else if err := os.MkdirAll(dir, 0o777); err != nil {
		return nil, err
	}
	back = func() {
		_ = os.Chdir(old)
		remove()
	}
	err = fs.WalkDir(examples.Tour, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(examples.Tour, name)
		if err != nil {
			return err
		}
		return create(filepath.Join(dir, name), text)
	})
	if err == nil {
		err = os.Chdir(dir)
	}
	if err != nil {
		back()
		return nil, err
	}
	return back, nil
}

// create writes a file that must not exist yet.
func create(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if errors.Is(err, fs.ErrExist) {
		return fmt.Errorf("%s exists; expected a directory without it", name)
	}
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// playTour runs the commands one after another, as execute does. It stops at the first with another
// exit code than it has when heddle and its compiler work, and returns that code.
func playTour(ctx context.Context, stdout, stderr io.Writer) error {
	for i, s := range scenes {
		fmt.Fprintf(stdout, "== %d of %d\n%s\n\n$ heddle %s\n", i+1, len(scenes), s.text,
			strings.Join(s.args, " "))
		root := newRoot(input{ctx, strings.NewReader("")}, stdout, stderr)
		root.SetArgs(s.args)
		err := root.ExecuteContext(ctx)
		code := exitClean
		var exit exitError
		switch {
		case errors.As(err, &exit):
			code = int(exit)
		case err != nil:
			return err
		}
		if code != s.want {
			if ctx.Err() != nil {
				return err
			}
			fmt.Fprintf(stderr, "heddle: the demonstration ends here: heddle %s has exit code %d, "+
				"expected %d; heddle doctor shows what is missing\n", strings.Join(s.args, " "), code, s.want)
			return exitError(max(code, exitUsage))
		}
		fmt.Fprintln(stdout)
	}
	_, err := io.WriteString(stdout, demoEnd)
	return err
}
