package lower

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// InputError says that a file is no input that can be lowered. The command exits with 2.
type InputError struct {
	File     string
	Reason   string
	NoKernel bool // a file of some other use, such as a program without device code: within a directory no mistake
}

func (e *InputError) Error() string { return e.File + ": " + e.Reason }

func readInput(name string) ([]byte, error) {
	content, err := os.ReadFile(name)
	var pe *os.PathError
	switch {
	case errors.As(err, &pe):
		return nil, &InputError{File: name, Reason: pe.Err.Error()}
	case err != nil:
		return nil, err
	case len(bytes.TrimSpace(content)) == 0:
		return nil, &InputError{File: name, Reason: "the file is empty"}
	}
	return content, nil
}

func checkOptions(opt Options) error {
	switch opt.OptLevel {
	case "", "1", "2", "3":
	default:
		return fmt.Errorf("-O %s: expected 1, 2 or 3 (without -O, code is compiled for analysis)", opt.OptLevel)
	}
	if opt.Arch != "" && !strings.HasPrefix(opt.Arch, "sm_") {
		return fmt.Errorf("-arch %s: expected sm_NN, such as %s", opt.Arch, defaultArch)
	}
	return nil
}

// openCache returns the cache that the options ask for. Without a home there is no cache directory: then
// nothing is cached.
func openCache(opt Options) resultCache {
	var store resultCache
	if !opt.NoCache {
		store.dir, _ = cacheDir(opt)
	}
	return store
}

// compile lowers CUDA C++ or OpenCL C, from the cache where it can.
func compile(ctx context.Context, in Input, content []byte, opt Options) (*Result, error) {
	if i := bytes.IndexByte(content, 0); i >= 0 {
		return nil, &InputError{File: in.Name, Reason: fmt.Sprintf("not source text: byte %d is NUL; is it a binary file?", i)}
	}
	if isNVCC(opt.Compiler) && in.Lang == OpenCL {
		return nil, &InputError{File: in.Name, Reason: "nvcc compiles no OpenCL C; leave --compiler out"}
	}
	if isNVCC(opt.Compiler) && len(opt.Marked) > 0 {
		return nil, &InputError{File: in.Name, Reason: "places for barriers are marked with clang alone; leave --compiler out"}
	}
	if isNVCC(opt.Compiler) {
		return nvcc(ctx, in, content, opt)
	}
	if err := checkCUDAPath(opt.CUDAPath); err != nil {
		return nil, err
	}
	store := openCache(opt)
	tc, err := findToolchain(ctx, opt.Compiler, &probeCache{store.dir})
	if err != nil {
		return nil, err
	}
	k := key(tc, in.Name, content, opt)
	if e, ptx, ok := store.get(k); ok {
		return &Result{Name: ptxName(in.Name), PTX: ptx, Kernels: readFacts(ptx), Warnings: e.Warnings, Cached: true}, nil
	}
	return build1(ctx, tc, in, content, opt, store, k)
}

// checkCUDAPath reports a --cuda-path that holds no CUDA toolkit.
func checkCUDAPath(dir string) error {
	if dir == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, "include", "cuda_runtime.h")); err != nil {
		return fmt.Errorf("--cuda-path %s: no include/cuda_runtime.h there; want the directory of a CUDA toolkit, such as /usr/local/cuda", dir)
	}
	return nil
}

// newBuild prepares a compilation. Text that is in no file is written to one: compilers want a path.
func newBuild(in Input, content []byte, opt Options, tmp string) (*build, error) {
	b := &build{opt: opt, name: in.Name, path: in.Name, tmp: tmp}
	if in.Content == nil {
		return b, nil
	}
	b.path = filepath.Join(tmp, "input."+string(in.Lang))
	cwd, err := os.Getwd() // what it includes by quotes is looked for here
	if err != nil {
		return nil, err
	}
	b.opt.Includes = append([]string{cwd}, opt.Includes...)
	return b, os.WriteFile(b.path, content, 0o600)
}

// shown replaces the path that the compiler read by the name that the user knows.
func (b *build) shown(s string) string {
	if b.path == b.name {
		return s
	}
	return strings.ReplaceAll(s, b.path, b.name)
}

// readText reads a file of which only a column is wanted: without the text, 1 will do.
func readText(path string) []byte {
	text, _ := os.ReadFile(path)
	return text
}

// setUp prepares a compilation in a directory of its own, which done removes: the headers are on disk, the marks in
// their files.
func setUp(tc *toolchain, in Input, content []byte, opt Options, store resultCache) (b *build, done func(), err error) {
	tmp, err := os.MkdirTemp("", "heddle-")
	if err != nil {
		return nil, nil, err
	}
	done = func() { _ = os.RemoveAll(tmp) }
	defer func() {
		if err != nil {
			done()
		}
	}()
	headerDir := store.dir
	if headerDir == "" {
		headerDir = tmp
	}
	root, err := writeHeaders(headerDir)
	if err != nil && headerDir != tmp { // a cache directory that cannot be written
		root, err = writeHeaders(tmp)
	}
	if err != nil {
		return nil, nil, err
	}
	if b, err = newBuild(in, content, opt, tmp); err != nil {
		return nil, nil, err
	}
	b.tc, b.headers = tc, root
	if err = b.setMarked(opt.Marked); err != nil {
		return nil, nil, err
	}
	return b, done, nil
}

// build1 compiles and stores the result.
func build1(ctx context.Context, tc *toolchain, in Input, content []byte, opt Options, store resultCache, k string) (*Result, error) {
	name := in.Name
	b, done, err := setUp(tc, in, content, opt, store)
	if err != nil {
		return nil, err
	}
	defer done()
	source := func(path string) []byte {
		if path == name {
			return content
		}
		return readText(path)
	}
	var out *output
	if in.Lang == OpenCL {
		out, err = b.runOpenCL(ctx, source)
	} else {
		out, err = b.runCUDA(ctx, source, store)
	}
	var failure *clangFailure
	var warnings []string
	recovered := errors.As(err, &failure)
	if recovered {
		out, warnings, err = b.recover(ctx, source, failure)
	}
	var refused *CompileError
	if errors.As(err, &refused) {
		refused.Output = b.shown(refused.Output)
	}
	if err != nil {
		return nil, err
	}
	warnings = append(warnings, b.compilerWarnings(out.warnings, recovered || b.marked != nil)...)
	warnings = append(warnings, uninstantiated(name, content, out.kernels)...)
	for i, w := range warnings {
		warnings[i] = b.shown(w)
	}
	if !recovered {
		// What a missing header or a broken host function depends on is not known, so that is not cached.
		deps, err := readDeps(b.depFile(), func(p string) bool {
			return p == b.path || b.isOurs(p)
		})
		if err == nil {
			store.put(k, cacheEntry{Deps: deps, Warnings: warnings}, out.ptx)
		}
	}
	return &Result{Name: ptxName(name), PTX: out.ptx, Kernels: readFacts(out.ptx), Warnings: warnings}, nil
}

// runCUDA compiles with the prelude in precompiled form where it is there.
func (b *build) runCUDA(ctx context.Context, source func(string) []byte, store resultCache) (*output, error) {
	defer b.preparePCH(ctx, store)()
	out, err := b.run(ctx, source)
	var failure *clangFailure
	if errors.As(err, &failure) && b.pch != "" {
		// Either the source is wrong, which clang tells better without, or the precompiled form is stale.
		stale := b.pch
		b.pch = ""
		if out, err = b.run(ctx, source); err == nil {
			_ = os.Remove(stale) // made anew by the next runs
		}
	}
	return out, err
}

func ptxName(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) + ".ptx" }

var warningRE = regexp.MustCompile(`(?m)^.+:\d+:\d+: warning: .*$`)

// compilerWarnings picks clang's warnings, one line each. Those of a run on edited text are about the edits.
func (b *build) compilerWarnings(stderr string, recovered bool) []string {
	if recovered {
		return nil
	}
	return warningRE.FindAllString(stderr, -1)
}

var kernelTemplateRE = regexp.MustCompile(`template\s*<[^;{}]*>[^;{}()]*__global__[^;{}]*?\b(\w+)\s*\(`)

// uninstantiated warns of kernel templates of which no instance was compiled: not analysed is not clean.
func uninstantiated(name string, content []byte, ks []kernelFacts) []string {
	have := make(map[string]bool)
	for _, k := range ks {
		have[baseName(k.name)] = true
	}
	var out []string
	for _, m := range kernelTemplateRE.FindAllSubmatch(content, -1) {
		if n := string(m[1]); !have[n] {
			out = append(out, fmt.Sprintf("%s: kernel template %s is not instantiated in this file, so it is not analysed", name, n))
			have[n] = true
		}
	}
	return out
}
