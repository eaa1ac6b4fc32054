package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/pflag"

	"heddle/internal/baseline"
	"heddle/internal/check"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/gitrev"
	"heddle/internal/source"
)

// knownFlags say which findings are known and not to be reported.
type knownFlags struct {
	file  string // --baseline
	write bool   // --write-baseline
	rev   string // --new-from
}

func (f *knownFlags) define(fs *pflag.FlagSet) {
	fs.StringVar(&f.file, "baseline", "", "do not report the findings that `FILE` lists")
	fs.BoolVar(&f.write, "write-baseline", false, "write the current findings to the file of --baseline")
	fs.StringVar(&f.rev, "new-from", "", "report only findings that are not in the git revision `REV`")
}

func (f *knownFlags) check() error {
	switch {
	case f.write && f.file == "":
		return errors.New("--write-baseline needs --baseline FILE, the file to write")
	case f.write && f.rev != "":
		return errors.New("--write-baseline and --new-from cannot be combined")
	}
	return nil
}

// known decides which findings of one run are known.
type known struct {
	flags  knownFlags
	files  *source.Set
	listed *baseline.Set // of the file; the one to be written with --write-baseline
	older  func() *baseline.Set
	close  func() error
}

// open reads the baseline and finds the revision, so that mistakes show before anything is checked. opt is that of
// the run, whose findings are then asked for.
func (f knownFlags) open(ctx context.Context, opt check.Options, inputs []driver.Input, stderr io.Writer) (*known, error) {
	k := &known{flags: f, files: opt.Files, listed: baseline.New(), close: func() error { return nil }}
	if f.file != "" && !f.write {
		content, err := os.ReadFile(f.file)
		if errors.Is(err, os.ErrNotExist) {
			return nil, fmt.Errorf("--baseline %s: file not found; create it with --write-baseline", f.file)
		}
		if err != nil {
			return nil, fmt.Errorf("--baseline: %w", err)
		}
		if k.listed, err = baseline.Read(f.file, content); err != nil {
			return nil, err
		}
	}
	if f.rev != "" {
		tree, err := gitrev.Checkout(ctx, ".", f.rev)
		if err != nil {
			return nil, fmt.Errorf("--new-from %s: %w", f.rev, err)
		}
		k.close = tree.Close
		k.older = func() *baseline.Set { return olderFindings(ctx, tree, opt, inputs, f.rev, stderr) }
	}
	return k, nil
}

// callback returns what the driver asks; nil if nothing can be known. The older revision is checked when the
// first finding comes up.
func (k *known) callback() func(*diag.Diagnostic) bool {
	switch {
	case k.flags.write:
		return func(d *diag.Diagnostic) bool {
			k.listed.Add(k.files, d)
			return true
		}
	case k.flags.file == "" && k.older == nil:
		return nil
	}
	var older *baseline.Set
	return func(d *diag.Diagnostic) bool {
		if k.listed.Take(k.files, d) {
			return true
		}
		if older == nil && k.older != nil {
			older = k.older()
		}
		return older != nil && older.Take(k.files, d)
	}
}

// finish writes the baseline if that was asked for, and all was checked.
func (k *known) finish(sum *check.Summary, interrupted bool, stderr io.Writer) error {
	if !k.flags.write {
		return nil
	}
	if interrupted || sum.InputErrors > 0 {
		fmt.Fprintf(stderr, "heddle: %s was not written, because not everything was checked\n", k.flags.file)
		return nil
	}
	var b bytes.Buffer
	if err := k.listed.Write(&b); err != nil {
		return err
	}
	if err := os.WriteFile(k.flags.file, b.Bytes(), 0o666); err != nil {
		return fmt.Errorf("--write-baseline: %w", err)
	}
	fmt.Fprintf(stderr, "heddle: %s now lists %s\n", k.flags.file, counted(k.listed.Len(), "finding"))
	return nil
}

// olderFindings checks the same inputs as they were in a revision. Files that the revision does not have, or that
// cannot be checked there, have no findings in it. A finding that was suppressed there is not one of them.
func olderFindings(ctx context.Context, tree *gitrev.Tree, opt check.Options, inputs []driver.Input, rev string, stderr io.Writer) *baseline.Set {
	set := baseline.New()
	var then []driver.Input
	for _, in := range inputs {
		path, ok := tree.Path(in.Name)
		if !ok || in.Content != nil {
			continue
		}
		in.Name = path
		in.Flags.Includes = alsoIn(tree, in.Flags.Includes)
		in.Flags.Systems = alsoIn(tree, in.Flags.Systems)
		in.Flags.Forced = insteadIn(tree, in.Flags.Forced)
		then = append(then, in)
	}
	if len(then) == 0 {
		return set
	}
	opt.Files, opt.Known, opt.Decisions, opt.Limit = source.NewSet(), nil, nil, math.MaxInt
	opt.Run.Printf, opt.Trace.Stats = nil, nil
	opt.Lower.NoCache = true // its keys hold the temporary path
	opt.Lower.Includes = alsoIn(tree, opt.Lower.Includes)
	opt.Lower.Systems = alsoIn(tree, opt.Lower.Systems)
	opt.Lower.Forced = insteadIn(tree, opt.Lower.Forced)
	sum, err := check.Inputs(ctx, opt, then, func(d diag.Diagnostic) {
		if d.Code.Family() == diag.Bugs && d.Suppressed == nil {
			set.Add(opt.Files, &d)
		}
	})
	if err != nil {
		fmt.Fprintf(stderr, "heddle: --new-from %s: %v\n", rev, err)
	} else if sum.InputErrors > 0 {
		fmt.Fprintf(stderr, "heddle: --new-from %s: %d errors in the input at that revision; findings in files that could not be checked there count as new\n", rev, sum.InputErrors)
	}
	return set
}

// alsoIn puts the revision's directories before those of the checkout, which may have what git does not keep.
func alsoIn(tree *gitrev.Tree, dirs []string) []string {
	var out []string
	for _, d := range dirs {
		if path, ok := tree.Path(d); ok {
			out = append(out, path)
		}
	}
	return slices.Concat(out, dirs)
}

// insteadIn replaces files by those of the revision where it has them.
func insteadIn(tree *gitrev.Tree, files []string) []string {
	out := slices.Clone(files)
	for i, f := range out {
		if path, ok := tree.Path(f); ok {
			out[i] = path
		}
	}
	return out
}

// workingDirectory is the base of the names that tools get.
func workingDirectory() string {
	dir, err := filepath.Abs(".")
	if err != nil {
		return string(filepath.Separator)
	}
	return dir
}
