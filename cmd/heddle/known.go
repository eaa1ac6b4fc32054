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

// knownFlags select the findings that are already known and must not be reported again.
type knownFlags struct {
	file  string // --baseline
	write bool   // --write-baseline
	rev   string // --new-from
}

// define adds the flags to a command.
func (f *knownFlags) define(fs *pflag.FlagSet) {
	fs.StringVar(&f.file, "baseline", "", "do not report the findings that `FILE` lists")
	fs.BoolVar(&f.write, "write-baseline", false,
		"write the current findings to the file of --baseline")
	fs.StringVar(&f.rev, "new-from", "", "report only findings that are not in the git revision `REV`")
}

// maxBaseline bounds the bytes of a baseline, for which the paths of millions of findings suffice.
const maxBaseline = 1 << 28

// check rejects combinations without a meaning. A baseline written with --new-from would list only
// new findings, and the next run would report all older ones.
func (f *knownFlags) check() error {
	switch {
	case f.write && f.file == "":
		return errors.New("--write-baseline needs --baseline FILE, the file to write")
	case f.write && f.rev != "":
		return errors.New("--write-baseline and --new-from cannot be combined")
	}
	return nil
}

// known decides which findings of one run are known. Each known finding covers one finding of this
// run: if a file has a second one of the same kind, it is reported.
type known struct {
	flags  knownFlags
	files  *source.Set
	listed *baseline.Set // of the file; the one to be written with --write-baseline
	older  func() *baseline.Set
	close  func() error
}

// open reads the baseline and checks the revision out, so that a wrong name is an error before
// anything is checked. opt is copied: the older revision is checked with the options of the run as
// they are now. The caller must call close, which deletes the checkout.
func (f knownFlags) open(ctx context.Context, opt check.Options, inputs []driver.Input,
	stderr io.Writer) (*known, error) {
	k := &known{flags: f, files: opt.Files, listed: baseline.New(), close: func() error { return nil }}
	if f.file != "" && !f.write {
		content, err := source.ReadRegular(f.file, maxBaseline)
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
		r := &revision{tree: tree, name: f.rev, opt: opt, inputs: inputs}
		k.older = func() *baseline.Set { return r.findings(ctx, stderr) }
	}
	return k, nil
}

// callback returns the function that asks whether a finding is known, or nil if none can be. With
// --write-baseline every finding counts as known once it is in the list. The older revision is
// checked when the first finding that the baseline does not list is reported: most runs have none
// and skip that cost. The driver calls the function for one finding at a time.
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
	// Both sets are consumed: Take removes an entry, so that one known finding hides one new one.
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

// finish writes the baseline if --write-baseline is set and everything was checked. After an
// interrupted or failed run the list would be incomplete, and the next run would report old
// findings as new.
func (k *known) finish(sum *check.Summary, interrupted bool, stderr io.Writer) error {
	if !k.flags.write {
		return nil
	}
	if interrupted || sum.InputErrors > 0 {
		fmt.Fprintf(stderr, "heddle: %s was not written, because not everything was checked\n",
			k.flags.file)
		return nil
	}
	// The text is complete before the file is touched, so an error leaves the old one intact.
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

// revision is the older state of the checkout that --new-from compares with.
type revision struct {
	tree   *gitrev.Tree
	name   string         // as the user wrote it, for messages
	opt    check.Options  // of the current run
	inputs []driver.Input // of the current run
}

// findings checks the same inputs as they were in the revision. Files that the revision does not
// have, or that cannot be checked there, contribute no findings, so what is found in them today
// counts as new. A finding that was suppressed there is not included: if the comment for it
// has been deleted, it must be reported.
func (r *revision) findings(ctx context.Context, stderr io.Writer) *baseline.Set {
	set := baseline.New()
	then := r.olderInputs()
	if len(then) == 0 {
		return set
	}
	opt := r.olderOptions()
	sum, err := check.Inputs(ctx, opt, then, func(d diag.Diagnostic) {
		if d.Code.Family() == diag.Bugs && d.Suppressed == nil {
			set.Add(opt.Files, &d)
		}
	})
	if err != nil {
		fmt.Fprintf(stderr, "heddle: --new-from %s: %v\n", r.name, err)
	} else if sum.InputErrors > 0 {
		fmt.Fprintf(stderr, "heddle: --new-from %s: %d errors in the input at that revision; findings "+
			"in files that could not be checked there count as new\n", r.name, sum.InputErrors)
	}
	return set
}

// olderInputs maps the inputs and their header paths into the tree of the revision. Standard input
// has no older state.
func (r *revision) olderInputs() []driver.Input {
	var then []driver.Input
	for _, in := range r.inputs {
		path, ok := r.tree.Path(in.Name)
		if !ok || in.Content != nil {
			continue
		}
		in.Name = path
		in.Flags.Includes = alsoIn(r.tree, in.Flags.Includes)
		in.Flags.Systems = alsoIn(r.tree, in.Flags.Systems)
		in.Flags.Forced = insteadIn(r.tree, in.Flags.Forced)
		then = append(then, in)
	}
	return then
}

// olderOptions are those of the current run with header paths in the revision, no output, and no
// limit: every finding is needed, or one beyond the limit would count as new.
func (r *revision) olderOptions() check.Options {
	opt := r.opt
	opt.Files, opt.Known, opt.Decisions, opt.Limit = source.NewSet(), nil, nil, math.MaxInt
	opt.Run.Printf, opt.Trace.Stats = nil, nil
	opt.Trace.Graph, opt.Trace.Pipeline = nil, nil
	opt.Lower.NoCache = true // the keys would contain the temporary path of the tree
	opt.Lower.Includes = alsoIn(r.tree, opt.Lower.Includes)
	opt.Lower.Systems = alsoIn(r.tree, opt.Lower.Systems)
	opt.Lower.Forced = insteadIn(r.tree, opt.Lower.Forced)
	return opt
}

// alsoIn returns dirs with those of the revision first. The directories of the checkout remain,
// because they can contain headers that git does not track, such as generated ones.
func alsoIn(tree *gitrev.Tree, dirs []string) []string {
	var out []string
	for _, d := range dirs {
		if path, ok := tree.Path(d); ok {
			out = append(out, path)
		}
	}
	return slices.Concat(out, dirs)
}

// insteadIn returns files with each file that the revision has replaced by that version. Forced
// headers (-include) are all read, so an old and a new version together would define names twice.
func insteadIn(tree *gitrev.Tree, files []string) []string {
	out := slices.Clone(files)
	for i, f := range out {
		if path, ok := tree.Path(f); ok {
			out[i] = path
		}
	}
	return out
}

// workingDirectory returns the directory that names in SARIF, JUnit and annotations are relative
// to. Without one (it was deleted) names stay absolute.
func workingDirectory() string {
	dir, err := filepath.Abs(".")
	if err != nil {
		return string(filepath.Separator)
	}
	return dir
}
