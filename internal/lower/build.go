package lower

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// defaultArch is what is compiled for without -arch. sm_80 is the oldest with redux.sync and cp.async, has
// independent thread scheduling as the detector assumes, and every LLVM from 14 on knows it.
const defaultArch = "sm_80"

// analysisPasses run between clang and llc (see keep.go for why each is harmless): calls are inlined where
// that is cheap, locals become registers, generic addresses get their state space.
const analysisPasses = "always-inline,cgscc(inline),function(sroa,infer-address-spaces)"

// inlineThreshold is above LLVM's 225 because the inliner sees code that nothing has simplified yet.
const inlineThreshold = "1000"

// ptxVersion returns the PTX ISA to ask for: at least 7.2 for inlined_at, the newest that the LLVM is
// sure to know, and no newer than needed for sm_90.
func ptxVersion(major int) string {
	switch {
	case major < 16:
		return "75"
	case major < 18:
		return "78"
	}
	return "83"
}

// build is one compilation.
type build struct {
	tc      *toolchain
	opt     Options
	name    string // the input as the user named it
	path    string // what the compiler reads: that file, or one that text from elsewhere was written to
	headers string // root of the embedded headers on disk
	tmp     string // directory for the dependency file and overlays
	pch     string // precompiled prelude; empty: included as text
	cl      *openCL
	marked  map[string]*markedFile // by absolute path
	overlay []string               // options that put the marked files in place of the plain ones
}

func (b *build) arch() string {
	if b.opt.Arch == "" {
		return defaultArch
	}
	return b.opt.Arch
}

func (b *build) depFile() string { return filepath.Join(b.tmp, "deps") }

// clangArgs is the command line that turns the input into LLVM IR on stdout.
func (b *build) clangArgs(extra ...string) []string {
	args := b.languageArgs()
	args = append(args,
		"-Xclang", "-target-feature", "-Xclang", "+ptx"+ptxVersion(b.tc.Major),
		"-S", "-emit-llvm", "-o", "-",
		"-gline-tables-only", "-Xclang", "-debug-info-kind=line-tables-only", "-Xclang", "-fdebug-info-for-profiling", "-fno-discard-value-names",
		"-fno-color-diagnostics", "-ferror-limit=200",
		"-MD", "-MF", b.depFile(), "-MT", "x",
		"-D__HEDDLE__=1", "-isystem", filepath.Join(b.headers, "api"),
	)
	if b.opt.OptLevel == "" {
		// A way that forgets to return comes back with any value: it is not taken for one that no thread goes.
		args = append(args, "-O1", "-fno-strict-return", "-Xclang", "-disable-llvm-passes")
	} else {
		args = append(args, "-O"+b.opt.OptLevel)
	}
	for _, d := range b.opt.Defines {
		args = append(args, "-D"+d)
	}
	for _, u := range b.opt.Undefines {
		args = append(args, "-U"+u)
	}
	args = append(args, b.includeArgs()...)
	if b.cl == nil {
		args = append(args, b.preludeArgs()...)
	}
	for _, f := range b.opt.Forced {
		args = append(args, "-include", f)
	}
	args = append(args, b.overlay...)
	args = append(args, extra...)
	args = append(args, b.opt.Args...)
	return append(args, "--", b.path)
}

// languageArgs are the options that say the language, the target and where CUDA's own headers are: those of heddle,
// or those of the toolkit that the user names, with which clang brings its own prelude along.
func (b *build) languageArgs() []string {
	if b.cl != nil {
		return b.cl.args(b)
	}
	args := []string{"-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=" + b.arch()}
	if b.opt.Std != "" {
		args = append(args, "-std="+b.opt.Std)
	}
	if b.opt.CUDAPath == "" {
		return append(args,
			"-nocudainc", "-nocudalib",
			"-isystem", filepath.Join(b.headers, "cuda"),
			"-idirafter", filepath.Join(b.headers, "std"),
		)
	}
	args = append(args, "--cuda-path="+b.opt.CUDAPath, "-Wno-unknown-cuda-version")
	if _, err := os.Stat(filepath.Join(b.opt.CUDAPath, "nvvm", "libdevice")); err != nil {
		args = append(args, "-nocudalib")
	}
	return args
}

// includeArgs are the user's directories. A CUDA toolkit among them comes after heddle's headers, which replace
// its own: what else is in it can still be found.
func (b *build) includeArgs() []string {
	var args []string
	add := func(flag string, dirs []string) {
		for _, d := range dirs {
			if _, err := os.Stat(filepath.Join(d, "cuda_runtime.h")); err == nil && b.opt.CUDAPath == "" {
				args = append(args, "-idirafter", d)
				continue
			}
			args = append(args, flag, d)
		}
	}
	add("-I", b.opt.Includes)
	add("-isystem", b.opt.Systems)
	return args
}

func (b *build) optArgs() []string {
	passes := analysisPasses
	if b.cl != nil {
		// With their arguments in registers, functions that choose by a constant flag, order or scope are
		// inlined without the other choices.
		passes = "function(sroa)," + passes
	}
	return []string{"-S", "-passes=" + passes, "-inline-threshold=" + inlineThreshold, "-o", "-", "-"}
}

func (b *build) llcArgs() []string {
	level := b.opt.OptLevel
	args := []string{"-mcpu=" + b.arch(), "-mattr=+ptx" + ptxVersion(b.tc.Major), "-o", "-"}
	if level == "" {
		// Strength reduction would replace a[i] by a running pointer, which closed forms and readers
		// have to undo.
		args = append(args, "-disable-lsr")
		level = "2"
	}
	return append(args, "-O"+level, "-")
}

// clangFailure is clang's refusal; hostcode.go looks for errors in it that host code made.
type clangFailure struct{ output string }

func (e *clangFailure) Error() string { return "clang failed" }

// ToolError says that opt or llc refused what clang accepted: a construct that cannot be lowered to PTX,
// or a mismatch of versions.
type ToolError struct {
	File   string
	Tool   string
	Output string
}

func (e *ToolError) Error() string {
	line, _, _ := strings.Cut(strings.TrimSpace(e.Output), "\n")
	return fmt.Sprintf("%s: cannot be lowered to PTX: %s: %s", e.File, filepath.Base(e.Tool), clip(line, 200))
}

// output is what a successful compilation yields.
type output struct {
	ptx       []byte
	kernels   []kernelFacts
	functions []place // all that clang emitted, before inlining
	warnings  string  // clang's stderr
}

// place is a line of a file by its absolute path.
type place struct {
	path string
	line int
}

// run compiles. The three processes are started together, so that opt and llc load while clang works.
func (b *build) run(ctx context.Context, source func(string) []byte, extra ...string) (*output, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	keep := b.opt.OptLevel == ""
	llc, err := start(ctx, b.tc.Llc, b.llcArgs())
	if err != nil {
		return nil, err
	}
	defer llc.abandon(stop)
	var opt *stage
	if keep {
		if opt, err = start(ctx, b.tc.Opt, b.optArgs()); err != nil {
			return nil, err
		}
		defer opt.abandon(stop)
	}
	clang, err := start(ctx, b.tc.Clang, b.clangArgs(extra...))
	if err != nil {
		return nil, err
	}
	defer clang.abandon(stop)
	text, err := clang.finish(nil)
	warnings := clang.stderr.String()
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &clangFailure{warnings}
	}
	m := parseIR(text)
	if b.cl != nil {
		prepareOpenCL(m)
	}
	functions := b.debugInfo(m).places(m)
	if keep {
		hidePoints(m)
		setVariables(m)
		storeSharedTables(m)
		expandCopies(m, "copy")
		if text, err = opt.finish(m.print()); err != nil {
			return nil, b.toolError(ctx, opt, err)
		}
		m = parseIR(text)
		forgetUnset(m)
		showPoints(m)
		expandCopies(m, "late") // those of which inlining made the size known
	}
	if err := b.checkSharedTables(m); err != nil {
		return nil, err
	}
	low := lowerIR(m, b.debugInfo(m), keep)
	raw, err := llc.finish(low.ir)
	if err != nil {
		return nil, b.toolError(ctx, llc, err)
	}
	byValTypes(low.kernels, raw)
	facts := writeFacts(low.kernels, source)
	if b.cl != nil {
		facts = "// heddle.language cl\n" + facts
	}
	return &output{finishPTX(raw, low, facts), low.kernels, functions, warnings}, nil
}

func (b *build) toolError(ctx context.Context, s *stage, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	out := s.stderr.String()
	if out == "" {
		out = err.Error()
	}
	return &ToolError{File: b.name, Tool: s.cmd.Path, Output: out}
}

func (b *build) debugInfo(m *irModule) *debugInfo {
	abs, err := filepath.Abs(b.path)
	if err != nil {
		abs = b.path
	}
	cwd, _ := filepath.Abs(".")
	return &debugInfo{
		meta: m.meta, chains: map[string][]frame{}, files: map[string]string{},
		names: func(path string) string { return userName(path, abs, b.name, cwd) },
		skip:  b.isOurs,
		column: func(path string, line, col int) int {
			if f := b.marked[path]; f != nil {
				return f.column(line, col)
			}
			return col
		},
	}
}

// isOurs reports whether a file is an embedded header, or made for this compilation.
func (b *build) isOurs(path string) bool {
	return b.headers != "" && strings.HasPrefix(path, b.headers+string(filepath.Separator)) || b.cl != nil && path == b.cl.prelude
}

// userName is how messages name a file: the input as the user gave it, what lies under the working
// directory by its relative path, the rest by its whole path.
func userName(path, abs, given, cwd string) string {
	if path == abs {
		return given
	}
	if rel, ok := strings.CutPrefix(path, cwd+string(filepath.Separator)); ok && cwd != "" {
		return rel
	}
	return path
}

// stage is one running process of the pipeline.
type stage struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	stdout bytes.Buffer
	stderr bytes.Buffer
	waited bool
}

func start(ctx context.Context, path string, args []string) (*stage, error) {
	s := &stage{cmd: command(ctx, path, args...)}
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.in = in
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", path, err)
	}
	return s, nil
}

// finish gives the process its input and returns its output once it has ended.
func (s *stage) finish(input []byte) ([]byte, error) {
	_, writeErr := s.in.Write(input)
	closeErr := s.in.Close()
	s.waited = true
	if err := s.cmd.Wait(); err != nil {
		return nil, err
	}
	if err := errors.Join(writeErr, closeErr); err != nil && len(input) > 0 {
		return nil, err
	}
	return s.stdout.Bytes(), nil
}

// abandon ends a process whose turn did not come.
func (s *stage) abandon(stop context.CancelFunc) {
	if s.waited {
		return
	}
	stop()
	s.waited = true
	_ = s.cmd.Wait() // it was killed: what it says of that is of no interest
}
