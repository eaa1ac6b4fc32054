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
	File   string
	Reason string
}

func (e *InputError) Error() string { return e.File + ": " + e.Reason }

const accepted = "accepted are .cu (CUDA C++), .cl (OpenCL C) and .ptx"

func lowerFile(ctx context.Context, name string, opt Options) (*Result, error) {
	ext := strings.ToLower(filepath.Ext(name))
	switch ext {
	case ".ptx", ".cu", ".cl":
	case ".ll", ".bc":
		return nil, &InputError{name, ext + " files are not yet supported; " + accepted}
	case "":
		return nil, &InputError{name, "no file extension to tell the language by; " + accepted}
	default:
		return nil, &InputError{name, "unknown file extension " + ext + "; " + accepted}
	}
	content, err := readInput(name)
	if err != nil {
		return nil, err
	}
	if ext == ".ptx" {
		return &Result{Name: name, PTX: content, Kernels: readFacts(content)}, nil
	}
	if i := bytes.IndexByte(content, 0); i >= 0 {
		return nil, &InputError{name, fmt.Sprintf("not source text: byte %d is NUL; is it a binary file?", i)}
	}
	if err := checkOptions(opt); err != nil {
		return nil, err
	}
	return compile(ctx, name, content, opt)
}

func readInput(name string) ([]byte, error) {
	content, err := os.ReadFile(name)
	var pe *os.PathError
	switch {
	case errors.As(err, &pe):
		return nil, &InputError{name, pe.Err.Error()}
	case err != nil:
		return nil, err
	case len(bytes.TrimSpace(content)) == 0:
		return nil, &InputError{name, "the file is empty"}
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

// compile lowers CUDA C++ or OpenCL C, from the cache where it can.
func compile(ctx context.Context, name string, content []byte, opt Options) (*Result, error) {
	var store resultCache
	if !opt.NoCache {
		// Without a home there is no cache directory: then nothing is cached.
		store.dir, _ = cacheDir(opt)
	}
	tc, err := findToolchain(ctx, opt.Compiler, &probeCache{store.dir})
	if err != nil {
		return nil, err
	}
	k := key(tc, name, content, opt)
	if e, ptx, ok := store.get(k); ok {
		return &Result{Name: ptxName(name), PTX: ptx, Kernels: readFacts(ptx), Warnings: e.Warnings, Cached: true}, nil
	}
	return build1(ctx, tc, name, content, opt, store, k)
}

// build1 compiles and stores the result.
func build1(ctx context.Context, tc *toolchain, name string, content []byte, opt Options, store resultCache, k string) (*Result, error) {
	tmp, err := os.MkdirTemp("", "heddle-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	headerDir := store.dir
	if headerDir == "" {
		headerDir = tmp
	}
	root, err := writeHeaders(headerDir)
	if err != nil && headerDir != tmp { // a cache directory that cannot be written
		root, err = writeHeaders(tmp)
	}
	if err != nil {
		return nil, err
	}
	b := &build{tc: tc, opt: opt, name: name, headers: root, tmp: tmp}
	source := func(path string) []byte {
		if path == name {
			return content
		}
		text, _ := os.ReadFile(path) // only for a column: without the text, 1 will do
		return text
	}
	var out *output
	if strings.EqualFold(filepath.Ext(name), ".cl") {
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
	if err != nil {
		return nil, err
	}
	warnings = append(warnings, b.compilerWarnings(out.warnings, recovered)...)
	warnings = append(warnings, uninstantiated(name, content, out.kernels)...)
	if !recovered {
		// What a missing header or a broken host function depends on is not known, so that is not cached.
		deps, err := readDeps(b.depFile(), func(p string) bool {
			return p == name || b.isOurs(p)
		})
		if err == nil {
			store.put(k, cacheEntry{Deps: deps, Warnings: warnings}, out.ptx)
		}
	}
	return &Result{Name: ptxName(name), PTX: out.ptx, Kernels: readFacts(out.ptx), Warnings: warnings}, nil
}

// runCUDA compiles with the prelude in precompiled form where that is possible.
func (b *build) runCUDA(ctx context.Context, source func(string) []byte, store resultCache) (*output, error) {
	b.pch = b.precompiled(ctx, store)
	out, err := b.run(ctx, source)
	var failure *clangFailure
	if errors.As(err, &failure) && b.pch != "" {
		// Either the source is wrong, which clang tells better without, or the precompiled form is stale.
		stale := b.pch
		b.pch = ""
		if out, err = b.run(ctx, source); err == nil {
			_ = os.Remove(stale) // made anew by the next run
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
