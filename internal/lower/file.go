package lower

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"

	"heddle/internal/lazyregexp"
	"heddle/internal/source"
)

// The kinds of failure have different types, since callers treat them differently: an InputError
// concerns the file, a CompileError comes with the compiler's diagnostics, a MissingToolError
// concerns the machine, and a ToolError is a construct or a combination of versions that cannot be
// lowered.

// InputError reports that a file cannot be lowered. The command exits with 2.
type InputError struct {
	File   string // as the user named it, possibly with :line:column
	Reason string // what was found and what was expected, one line
	// the file has another purpose, such as a program without device code: skip it in a directory
	NoKernel bool
}

// Error returns the file and the reason in one line.
func (e *InputError) Error() string { return e.File + ": " + e.Reason }

// maxInput bounds the bytes of an input: large programs with device code have some 100 MB.
const maxInput = 1 << 30

// readInput reads a file. An empty file is an error, since it is most likely a mistake in a script.
func readInput(name string) ([]byte, error) {
	content, err := source.ReadRegular(name, maxInput)
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

// checkOptions reports values that no compiler accepts.
func checkOptions(opt Options) error {
	switch opt.OptLevel {
	case "", "1", "2", "3":
	default:
		return fmt.Errorf("-O %s: expected 1, 2 or 3 (without -O, heddle compiles for analysis)",
			opt.OptLevel)
	}
	if opt.Arch != "" && !strings.HasPrefix(opt.Arch, "sm_") {
		return fmt.Errorf("-arch %s: expected sm_NN, such as %s", opt.Arch, defaultArch)
	}
	return opt.addressBits()
}

// openCache returns the cache that the options select. It caches nothing if the user has no home
// directory, or if other users may write to the directory.
func openCache(opt Options) resultCache { return resultCache{dir: CacheDir(opt)} }

// compile lowers CUDA C++ or OpenCL C, or takes the result from the cache.
func compile(ctx context.Context, in Input, content []byte, opt Options) (*Result, error) {
	if i := bytes.IndexByte(content, 0); i >= 0 {
		return nil, &InputError{File: in.Name,
			Reason: fmt.Sprintf("not source text: byte %d is NUL; is this a binary file?", i)}
	}
	if isNVCC(opt.Compiler) && in.Lang == OpenCL {
		return nil, &InputError{File: in.Name,
			Reason: "nvcc cannot compile OpenCL C; omit --compiler to use clang"}
	}
	if isNVCC(opt.Compiler) && len(opt.Marked) > 0 {
		return nil, &InputError{File: in.Name,
			Reason: "placing barriers requires clang; omit --compiler nvcc"}
	}
	if err := checkCCCL(opt); err != nil {
		return nil, err
	}
	if isNVCC(opt.Compiler) {
		return nvcc(ctx, in, content, opt)
	}
	if err := checkCUDAPath(opt.CUDAPath); err != nil {
		return nil, err
	}
	libs, err := checkIncludes(in, content, opt)
	if err != nil {
		return nil, err
	}
	store := openCache(opt)
	tc, err := findToolchain(ctx, opt.Compiler, &probeCache{store.dir})
	if err != nil {
		return nil, err
	}
	k := key(tc, in.Name, content, opt, libs)
	if e, ptx, ok := store.get(k); ok {
		return &Result{Name: ptxName(in.Name), PTX: ptx, Kernels: readFacts(ptx), Omitted: e.Omitted,
			Warnings: e.Warnings, Cached: true}, nil
	}
	c := &compilation{tc: tc, in: in, content: content, opt: opt, store: store, libs: libs}
	r, err := c.run(ctx, k)
	var clusters *clusterError
	if errors.As(err, &clusters) && opt.Arch == "" && !opt.Strict {
		c.opt.Arch = clusterArch
		r, err = c.run(ctx, k)
	}
	return r, err
}

// checkCUDAPath reports a --cuda-path that is not a CUDA toolkit.
func checkCUDAPath(dir string) error {
	if dir == "" {
		return nil
	}
	if _, err := os.Stat(filepath.Join(dir, "include", "cuda_runtime.h")); err != nil {
		return fmt.Errorf("--cuda-path %s: include/cuda_runtime.h not found; expected the directory of "+
			"a CUDA toolkit, such as /usr/local/cuda", dir)
	}
	return nil
}

// newBuild prepares a compilation in the directory tmp. Text without a file is written to one,
// since compilers need a path.
func newBuild(in Input, content []byte, opt Options, tmp string) (*build, error) {
	b := &build{opt: opt, name: in.Name, path: in.Name, tmp: tmp}
	if in.Content == nil {
		return b, nil
	}
	b.path = filepath.Join(tmp, "input."+string(in.Lang))
	cwd, err := os.Getwd() // #include "..." is resolved here
	if err != nil {
		return nil, err
	}
	b.opt.Includes = append([]string{cwd}, opt.Includes...)
	return b, os.WriteFile(b.path, content, 0o600)
}

// shown replaces the path that the compiler read by the name that the user gave.
func (b *build) shown(s string) string {
	if b.path == b.name {
		return s
	}
	return strings.ReplaceAll(s, b.path, b.name)
}

// readText reads a file, or returns nil if that fails: callers need only a column, for which 1 is
// good enough.
func readText(path string) []byte {
	text, _ := source.ReadRegular(path, maxInput)
	return text
}

// compilation is the input of one run of clang: a file, and what it is compiled with.
type compilation struct {
	tc      *toolchain
	in      Input
	content []byte // of the file, or of in
	opt     Options
	store   resultCache
	libs    libraryUse // how it uses CCCL
}

// setUp prepares a compilation in a temporary directory, which done removes: it writes the embedded
// headers and the files with marks.
func (c *compilation) setUp() (b *build, done func(), err error) {
	tmp, err := os.MkdirTemp("", "heddle-")
	if err != nil {
		return nil, nil, fmt.Errorf("no directory for temporary files (TMPDIR): %w", err)
	}
	remove := func() { _ = os.RemoveAll(tmp) }
	defer func() {
		if err != nil { // done is nil then
			remove()
		}
	}()
	headerDir := c.store.dir
	if headerDir == "" {
		headerDir = tmp
	}
	root, err := writeHeaders(headerDir)
	if err != nil && headerDir != tmp { // the cache directory is not writable
		root, err = writeHeaders(tmp)
	}
	if err != nil {
		return nil, nil, err
	}
	if b, err = newBuild(c.in, c.content, c.opt, tmp); err != nil {
		return nil, nil, err
	}
	b.tc, b.headers = c.tc, root
	if err = b.setLibraries(c.libs); err != nil {
		return nil, nil, err
	}
	if err = b.setMarked(c.opt.Marked); err != nil {
		return nil, nil, err
	}
	return b, remove, nil
}

// run compiles, and stores the result in the cache under key. If the file does not compile, it
// tries again without the host code that has errors, or, for a program that is to run, with words
// adapted that only nvcc accepts.
func (c *compilation) run(ctx context.Context, key string) (*Result, error) {
	name, content := c.in.Name, c.content
	b, done, err := c.setUp()
	if err != nil {
		return nil, err
	}
	defer done()
	text := func(path string) []byte {
		if path == name {
			return content
		}
		return readText(path)
	}
	var out *output
	if c.in.Lang == OpenCL {
		out, err = b.runOpenCL(ctx, text)
	} else {
		out, err = b.runCUDA(ctx, text, c.store)
	}
	var failure *clangFailure
	if errors.As(err, &failure) && c.in.Lang != OpenCL {
		out, err = b.runLater(ctx, text, c.store, failure)
	}
	r, out, warnings, err := c.mend(ctx, b, text, out, err)
	recovered := r != nil
	var refused *CompileError
	switch {
	case !errors.As(err, &refused):
	case b.cl != nil && len(b.cl.refused) > 0 && hiddenRE.MatchString(refused.Output):
		return nil, b.unsupported(b.cl.refused[0], text)
	default:
		refused.Output, refused.Help = b.shown(refused.Output), b.help(refused.Output)
	}
	if err != nil {
		return nil, err
	}
	warnings = append(warnings, b.compilerWarnings(out.warnings, recovered || b.marked != nil)...)
	warnings = append(warnings, b.declaredWarnings()...)
	warnings = append(warnings, uninstantiated(name, content, out)...)
	for i, w := range warnings {
		warnings[i] = strings.ReplaceAll(b.shown(w), hiddenPrefix, "")
	}
	for i := range out.omitted {
		out.omitted[i].Reason = b.shown(out.omitted[i].Reason)
	}
	if e, err := b.entry(ctx, r); err == nil {
		e.Warnings, e.Omitted = warnings, out.omitted
		c.store.put(key, *e, out.ptx)
	}
	return &Result{Name: ptxName(name), PTX: out.ptx, Kernels: readFacts(out.ptx),
		Omitted: out.omitted, Warnings: warnings}, nil
}

// mend makes a source compile that clang has rejected with err, as far as it can (mended). If it
// cannot, or kernels are left out, it tries with the headers of names that clang does not know
// (undeclared.go), and takes that if it is better. If clang accepted the source, mend returns out and
// err; r is the state of the recovery, nil if there was none.
func (c *compilation) mend(ctx context.Context, b *build, text func(string) []byte, out *output,
	err error) (r *recovery, _ *output, warnings []string, _ error) {
	var failure *clangFailure
	if !errors.As(err, &failure) {
		return nil, out, nil, err
	}
	overlay, marked := b.overlay, maps.Clone(b.marked)
	r, out, warnings, err = c.mended(ctx, b, text, out, err)
	var refused *CompileError
	if b.cl != nil || !errors.As(err, &refused) && (err != nil || len(out.omitted) == 0) {
		return r, out, warnings, err
	}
	b.overlay, b.marked, b.grids, b.edited, b.refused = overlay, marked, nil, false, nil
	var again *output
	var failed error
	unwritten := b.declareAll(failure.output, func() string {
		again, failed = b.run(ctx, text)
		var failure *clangFailure
		if errors.As(failed, &failure) {
			return failure.output
		}
		return ""
	})
	if unwritten != nil {
		return nil, nil, nil, unwritten
	}
	if len(b.declared) == 0 {
		return r, out, warnings, err
	}
	r2, again, others, failed := c.mended(ctx, b, text, again, failed)
	if failed != nil || err == nil && len(again.omitted) >= len(out.omitted) {
		b.declared = nil
		return r, out, warnings, err
	}
	return r2, again, others, nil
}

// mended runs clang again on a source that it has rejected with err, until it compiles: with
// rewritten device code (build.rewrite), and then without the host code that does not compile. If
// that uncovers more to rewrite, the recovery begins again.
func (c *compilation) mended(ctx context.Context, b *build, text func(string) []byte, out *output,
	err error) (r *recovery, _ *output, warnings []string, _ error) {
	var failure *clangFailure
	for errors.As(err, &failure) {
		again, failed := b.rewrite(failure.output)
		if failed != nil {
			return nil, nil, nil, failed
		}
		if again {
			out, err = b.run(ctx, text)
			continue
		}
		if c.opt.Strict {
			r, out, err = b.adapted(ctx, text, failure)
			return r, out, nil, err
		}
		r = newRecovery(ctx, b)
		if out, warnings, err = r.compile(text, failure); !errors.Is(err, errRewritten) {
			return r, out, warnings, err
		}
		r, b.edited, b.refused = nil, false, nil
		out, err = b.run(ctx, text)
	}
	return r, out, nil, err
}

// help returns what to do about errors of clang; "" if that is not known.
func (b *build) help(diagnostics string) string {
	if help := b.libs.help(diagnostics); help != "" {
		return help
	}
	if b.libs.copy != nil && b.hostLibrary() {
		return hostHelp(diagnostics)
	}
	return compileHelp(diagnostics)
}

// entry returns what a result in the cache depends on. r holds the state of the recovery that gave
// the result; nil if the file compiled as it is.
func (b *build) entry(ctx context.Context, r *recovery) (*cacheEntry, error) {
	deps, err := readDeps(b.depFile(), func(p string) bool {
		return p == b.path || b.isOurs(p) || strings.HasPrefix(p, b.tmp+string(filepath.Separator))
	})
	e := &cacheEntry{Deps: deps}
	if err != nil || r == nil {
		return e, err
	}
	if err := r.addEdited(e); err != nil {
		return nil, err
	}
	e.Absent, err = r.absent(ctx, deps)
	return e, err
}

// runCUDA compiles with the precompiled prelude if it exists. If that fails, it compiles again
// without it: diagnostics must not depend on the state of the cache.
func (b *build) runCUDA(ctx context.Context, source func(string) []byte,
	store resultCache) (*output, error) {
	defer b.preparePCH(ctx, store)()
	out, err := b.run(ctx, source)
	var failure *clangFailure
	if errors.As(err, &failure) && b.pch != "" {
		// Either the source is invalid, and clang's messages are better without the precompiled prelude,
		// or the precompiled prelude is stale.
		stale := b.pch
		b.pch = ""
		if out, err = b.run(ctx, source); err == nil {
			_ = os.Remove(stale) // the next runs create it again
		}
	}
	return out, err
}

// ptxName returns the name of the PTX of an input.
func ptxName(name string) string { return strings.TrimSuffix(name, filepath.Ext(name)) + ".ptx" }

// warningRE matches a warning of clang.
var warningRE = lazyregexp.New(`(?m)^.+:\d+:\d+: warning: .*$`)

// compilerWarnings returns clang's warnings, one line each. A run on edited text has none: its
// warnings concern the edits.
func (b *build) compilerWarnings(stderr string, recovered bool) []string {
	if recovered {
		return nil
	}
	return warningRE.FindAllString(stderr, -1)
}

// kernelTemplateRE matches the head of a kernel template, other than a specialization.
var kernelTemplateRE = lazyregexp.New(`(?s)^template\s*<\s*[^>\s].*__global__`)

// uninstantiated returns a warning for each kernel template without an instance: a kernel that is
// not analysed must not look clean. It searches the text of the input only, so it misses templates
// in headers, which other files may instantiate.
func uninstantiated(name string, content []byte, o *output) []string {
	have := make(map[string]bool)
	for _, k := range o.kernels {
		have[baseName(k.name)] = true
	}
	for _, k := range o.omitted {
		have[baseName(k.Name)] = true
	}
	var out []string
	walkDecls(content, func(d declaration, _ []string) {
		head := string(content[d.start:d.headEnd()])
		if n := declaredName(head); kernelTemplateRE.MatchString(head) && n != "" && !have[n] {
			out = append(out, fmt.Sprintf("%s: kernel template %s is not instantiated in this file, so it "+
				"is not analysed", name, n))
			have[n] = true
		}
	})
	return out
}
