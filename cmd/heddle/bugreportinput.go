package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"heddle/internal/check"
	"heddle/internal/command/bugreport"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/ir"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/reduce"
	"heddle/internal/source"
)

// programs compiles the inputs of a command line, and resolves the launches of the kernels. What
// fails is left out: the command line itself has reported it. That includes a panic, which may be
// what the report is about.
func programs(ctx context.Context, line bugreport.Line, stdin []byte) (out []bugreport.Program) {
	defer func() { _ = recover() }()
	opt, inputs, err := inputsOf(line, stdin)
	if err != nil {
		return nil
	}
	opt.Workers = 1
	var mu sync.Mutex
	d := driver.New(opt, func(diag.Diagnostic) {})
	d.Run(ctx, inputs, func(_ context.Context, job *driver.Job) {
		job.EachLaunch(func(job *driver.Job) {
			p := bugreport.Program{PTX: job.Module.Lowered.PTX, Kernel: job.Kernel.Name,
				Demangled: job.Kernel.Demangled}
			if cfg := job.Config(); cfg != nil {
				p.Launches = launchesOf(job.Kernel, cfg, anySize(line), opt.Launch.Saved)
			}
			mu.Lock()
			out = append(out, p)
			mu.Unlock()
		})
	})
	if len(out) > 0 {
		return out
	}
	for _, in := range inputs { // PTX that heddle does not load has no kernels
		for _, low := range d.Lower(ctx, in) {
			out = append(out, bugreport.Program{PTX: low.PTX})
		}
	}
	return out
}

// inputsOf applies the flags of a command line that concern the inputs, their compilation and their
// launch.
func inputsOf(line bugreport.Line, stdin []byte) (driver.Options, []driver.Input, error) {
	var opt check.Options
	var in inputFlags
	var any lockstep.Any
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	launchFlags(fs, &opt.Options, &any)
	in.define(fs)
	lowerFlags(fs, &opt.Lower)
	for _, f := range line.Flags {
		if fs.Lookup(f.Name) != nil {
			if err := fs.Set(f.Name, f.Value); err != nil {
				return opt.Options, nil, err
			}
		}
	}
	opt.Files = source.NewSet()
	if err := in.config.read(opt.Files, diag.NewText(io.Discard, opt.Files, false)); err != nil {
		return opt.Options, nil, err
	}
	in.config.apply(&opt.Options)
	inputs, err := in.inputs(line.Inputs, bytes.NewReader(stdin), io.Discard)
	return opt.Options, inputs, err
}

// anySize reports, for the grid and the block, whether a proof is for any size.
func anySize(line bugreport.Line) (out [2]bool) {
	for i, name := range []string{"grid", "block"} {
		out[i] = strings.Contains(line.Value(name), "*")
	}
	return out
}

// launchesOf returns a launch as flags, in three forms: without what heddle guessed, which it may
// guess again from the PTX; with the sizes; and with all numbers and buffers. One that a program has
// made may need the memory that was saved with it as well.
func launchesOf(k *ir.Func, cfg *launch.Config, any [2]bool, saved *launch.Saved) []reduce.Launch {
	given := reduce.Launch{Kernel: k.Name, Args: byIndex(k, cfg)}
	g := cfg.Geometry
	sized := given
	if !any[0] {
		sized.Grid = &g.Grid
	}
	if !any[1] {
		sized.Block = &g.Block
	}
	if g.Cluster.Count() > 1 {
		sized.Cluster = &g.Cluster
	}
	if cfg.DynShared > 0 {
		sized.Shared = &cfg.DynShared
	}
	if !cfg.Origins["grid"].Guessed() {
		given.Grid = sized.Grid
	}
	if !cfg.Origins["block"].Guessed() {
		given.Block = sized.Block
	}
	given.Cluster = sized.Cluster
	if !cfg.Origins["shared"].Guessed() {
		given.Shared = sized.Shared
	}
	complete := sized
	complete.Args = slices.Clone(sized.Args)
	for i := range cfg.Args {
		index := strconv.Itoa(i)
		if !slices.ContainsFunc(given.Args, func(a launch.ArgSpec) bool { return a.Param == index }) {
			complete.Args = append(complete.Args, explicit(cfg, i)...)
		}
	}
	out := []reduce.Launch{given, sized, complete}
	if saved != nil {
		sized.Args, sized.Saved = nil, saved
		out = append(out, sized)
	}
	return slices.CompactFunc(out, func(a, b reduce.Launch) bool {
		return a.Saved == b.Saved && slices.Equal(a.Words(), b.Words())
	})
}

// byIndex returns the arguments that are not guessed. They name parameters by their index. Those
// that are in a file, or in a saved launch, are given by their value.
func byIndex(k *ir.Func, cfg *launch.Config) []launch.ArgSpec {
	index := func(name string) string {
		for i, v := range k.Params {
			if name == v.Source || name == v.Name {
				return strconv.Itoa(i)
			}
		}
		return name
	}
	var out []launch.ArgSpec
	for _, a := range cfg.Given() {
		a.Param = index(a.Param)
		i, err := strconv.Atoi(a.Param)
		switch {
		case a.Kind != launch.ArgFile && a.Kind != launch.ArgSaved:
			if a.Kind == launch.ArgAlias {
				a.Text = index(a.Text)
			}
			out = append(out, a)
		case err == nil && i < len(cfg.Args) && a.Offset < 0:
			out = append(out, explicit(cfg, i)...)
		}
	}
	return out
}

// mostContents bounds the contents of a buffer that are written into a flag, in bytes.
const mostContents = 1 << 16

// explicit returns argument i of a launch as it would be typed: a number, the buffer of an earlier
// argument, or one with its contents if they are few, else with zeros. Other arguments are left to
// heddle.
func explicit(cfg *launch.Config, i int) []launch.ArgSpec {
	a := &cfg.Args[i]
	text := ""
	earlier := slices.IndexFunc(cfg.Args[:i], func(b launch.Arg) bool {
		return a.Buffer != nil && b.Buffer == a.Buffer && b.Offset == 0
	})
	switch {
	case earlier >= 0:
		text = fmt.Sprintf("alias:%d", earlier)
	case a.Buffer != nil:
		text = contents(a.Buffer)
	case a.Unknown || a.Func != "" || a.Local != nil || a.Symbol != "" || len(a.Fields) > 0:
		return nil
	default:
		text = a.Value()
	}
	if a.Buffer != nil && a.Offset > 0 {
		text += fmt.Sprintf("+%d", a.Offset)
	}
	spec, err := launch.ParseArg(fmt.Sprintf("%d=%s", i, text))
	if err != nil {
		return nil
	}
	return []launch.ArgSpec{spec}
}

// contents is the form of an argument for a buffer.
func contents(b *launch.Buffer) string {
	switch n := uint64(len(b.Data)); {
	case n > 0 && b.Size == 0 && n <= mostContents:
		return "hex:" + launch.HexBytes(b.Data) + "..."
	case n > 0 && n <= b.Size && b.Size <= mostContents:
		all := make([]byte, b.Size) // zeros follow the data
		copy(all, b.Data)
		return "hex:" + launch.HexBytes(all)
	case b.Size > 0:
		return fmt.Sprintf("zero:%d", b.Size)
	}
	return "zero"
}
