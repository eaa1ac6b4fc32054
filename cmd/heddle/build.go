package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"github.com/spf13/pflag"

	"heddle/internal/lower"
)

// buildFlags are the flags with which a program is compiled and linked.
type buildFlags struct {
	opt  lower.BuildOptions
	libs []string // -l
	dirs []string // -L
	rdc  string   // --rdc
}

// define adds the flags to a command.
func (b *buildFlags) define(fs *pflag.FlagSet) {
	o := &b.opt
	fs.StringArrayVarP(&o.Includes, "include", "I", nil, "search `DIR` for headers")
	fs.StringArrayVarP(&o.Defines, "define", "D", nil, "define the macro `NAME[=VALUE]`")
	fs.StringVar(&o.Std, "std", "", "set the language `STANDARD`, such as c++17 (also -std)")
	fs.VarP(newChoice(&o.HostLevel, "", "0", "1", "2", "3"), "opt-level", "O",
		"optimize host code at `LEVEL` 0 to 3 (default: 1); kernels are compiled for analysis")
	fs.StringVar(&o.Arch, "arch", "", "compile kernels for `ARCH`, such as sm_90 (also -arch)")
	fs.Var(newChoice(&b.rdc, "", "true", "false"), "rdc",
		"accept nvcc's -rdc=`BOOL`, true or false; device code of several files is linked anyway "+
			"(also -rdc)")
	fs.StringArrayVarP(&b.libs, "library", "l", nil, "link with library `NAME`")
	fs.StringArrayVarP(&b.dirs, "library-path", "L", nil, "search `DIR` for libraries")
	fs.StringArrayVar(&o.HostArgs, "Xcompiler", nil,
		"pass `OPTION` to the host compiler, clang (also -Xcompiler)")
	fs.StringVar(&o.Compiler, "compiler", "",
		"compile with the clang at `PATH` (default: clang-19, else the newest clang from 14 on)")
	ccclFlag(fs, &o.CCCL)
	fs.BoolVar(&o.NoCache, "no-cache", false, "do not use or fill the cache of compilations")
}

// linkArgs returns the options of the linker.
func (b *buildFlags) linkArgs() []string {
	var out []string
	for _, d := range b.dirs {
		out = append(out, "-L"+d)
	}
	for _, l := range b.libs {
		out = append(out, "-l"+l)
	}
	return withoutOwn(out)
}

// options returns the build's options, with the words of each --Xcompiler apart.
func (b *buildFlags) options() lower.BuildOptions {
	opt := b.opt
	opt.HostArgs = nil
	for _, a := range b.opt.HostArgs {
		opt.HostArgs = append(opt.HostArgs, strings.Split(a, ",")...)
	}
	return opt
}

// program builds files into a program. Objects and archives among them are linked as they are;
// those that are made are in dir. At most jobs files are compiled at a time; 0: one for each core.
func (b *buildFlags) program(ctx context.Context, files []string, dir, out string, jobs int) error {
	opt := b.options()
	opt.Separate = len(files) > 1 || b.rdc == "true"
	builder, err := lower.NewBuilder(ctx, opt)
	if err != nil {
		return err
	}
	defer builder.Close()
	if jobs <= 0 {
		jobs = runtime.NumCPU()
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	objects, errs := make([]string, len(files)), make([]error, len(files))
	var wait sync.WaitGroup
	slots := make(chan struct{}, jobs)
	for i, f := range files {
		if isObject(f) {
			objects[i] = f
			continue
		}
		objects[i] = filepath.Join(dir, fmt.Sprintf("%d.o", i))
		wait.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			if _, errs[i] = builder.Object(ctx, f, objects[i], false); errs[i] != nil {
				cancel() // the others would only add messages
			}
		})
	}
	wait.Wait()
	for _, err := range errs {
		if err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	return builder.Link(ctx, objects, b.linkArgs(), out)
}

// isObject reports whether a file goes to the linker as it is.
func isObject(name string) bool {
	switch filepath.Ext(name) {
	case ".o", ".a", ".so", ".obj":
		return true
	}
	return strings.Contains(filepath.Base(name), ".so.")
}
