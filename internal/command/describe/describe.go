// Package describe writes a first heddle.toml for heddle init: the kernels of some files, what is
// known of their launches and from where, and what heddle would guess, for the user to fill in.
//
// A guess is written as a comment and never as a setting: heddle reports a finding that rests on a
// guess as a warning, and must not take its own guess for a fact of the user later.
package describe

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"sync"

	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/launch"
)

// Options say what the file is written for.
type Options struct {
	Common  driver.Options  // its compiler flags become the table [compile]
	Include []string        // patterns for the key include
	Dir     string          // of the file; the paths in it are relative to that
	Saved   []*launch.Saved // of a program
}

// A kernel is what the file says of one kernel.
type kernel struct {
	file      string // relative to the directory of heddle.toml
	name      string // base name
	demangled string
	line      int
	launches  []*launch.Config // at least one, unless failed
	failed    string           // why no launch is known
	saved     *launch.Config   // with the launch of a program; nil: none
	path      string           // of the saved launch
	others    int              // saved launches beyond the first
}

// Text compiles the inputs, resolves the launches of their kernels, and returns the text of
// heddle.toml and the number of kernels. Mistakes in the inputs go to sink; the
// other inputs are described all the same.
func Text(ctx context.Context, opt Options, inputs []driver.Input, sink func(diag.Diagnostic)) (
	text []byte, number int, sum *driver.Summary) {
	var mu sync.Mutex
	var kernels []*kernel
	used := map[*launch.Saved]bool{}
	d := driver.New(opt.Common, sink)
	d.Run(ctx, inputs, func(_ context.Context, j *driver.Job) {
		k := describe(j, opt.Dir)
		saved := savedOf(j, opt.Saved)
		if len(saved) > 0 {
			k.useSaved(j, saved)
		}
		mu.Lock()
		defer mu.Unlock()
		kernels = append(kernels, k)
		for _, s := range saved {
			used[s] = true
		}
	})
	slices.SortFunc(kernels, func(a, b *kernel) int {
		return cmp.Or(cmp.Compare(a.file, b.file), cmp.Compare(a.line, b.line),
			cmp.Compare(a.demangled, b.demangled))
	})
	var left []*launch.Saved // of kernels that the inputs do not have
	for _, s := range opt.Saved {
		if !used[s] {
			left = append(left, s)
		}
	}
	return render(opt, kernels, left), len(kernels), d.Summary()
}

// describe collects what is known of one kernel.
func describe(j *driver.Job, dir string) *kernel {
	k := &kernel{file: j.InputName(), name: launch.BaseName(j.Kernel.Demangled),
		demangled: j.Kernel.Demangled, line: driver.KernelPlace(j.Kernel).Start.Line()}
	if rel, err := filepath.Rel(dir, k.file); err == nil && filepath.IsLocal(rel) {
		k.file = filepath.ToSlash(rel)
	}
	all, errs := launch.Launches(j.Kernel, j.Launch, j.Module.Facts)
	if len(errs) > 0 {
		k.failed = errs[0].Msg
		return k
	}
	k.launches = all.Configs
	return k
}

// savedOf returns the saved launches of a kernel.
func savedOf(j *driver.Job, all []*launch.Saved) []*launch.Saved {
	var out []*launch.Saved
	for _, s := range all {
		if s.Kernel == j.Kernel.Name {
			out = append(out, s)
		}
	}
	return out
}

// useSaved takes the first of the saved launches. Several tables for one kernel would be one
// launch, of which the last decides each part.
func (k *kernel) useSaved(j *driver.Job, saved []*launch.Saved) {
	req := j.Launch
	req.Saved = saved[0]
	cfg, errs := launch.Resolve(j.Kernel, req, j.Module.Facts)
	if len(errs) > 0 {
		k.failed = saved[0].Path + ": " + errs[0].Msg
		return
	}
	k.saved, k.path, k.others = cfg, saved[0].Path, len(saved)-1
}
