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
	"strconv"
	"strings"
	"sync"

	"heddle/internal/lazyregexp"
)

// defaultArch is the architecture without -arch. sm_80 is the oldest with redux.sync and cp.async,
// it has independent thread scheduling, which heddle's semantics assume, and every LLVM from 14 on
// supports it.
const defaultArch = "sm_80"

// analysisPasses run between clang and llc: they inline cheap calls, move locals to registers, and
// infer the state space of generic addresses. keep.go says why each preserves all accesses. Calls
// that are always inlined come first, those of a function before it is inlined itself, and with its
// locals in registers then: the layers of CuTe are a hundred calls deep.
const analysisPasses = "cgscc(inline<only-mandatory>,function(sroa)),cgscc(inline)," +
	"function(sroa,infer-address-spaces)"

// inlineThreshold exceeds LLVM's default of 225 because the inliner sees code that has not been
// simplified.
const inlineThreshold = "1000"

// fullNames keeps opt and llc from cutting the names of blocks and values to 1024 bytes. The copies
// of an unrolled block differ in what follows its name, so that a reference to a name that is cut
// leads to another copy.
const fullNames = "-non-global-value-max-name-size=1000000000"

// ptxVersion returns the PTX ISA version to generate, as in +ptx83: at least 7.2 for inlined_at,
// the newest that an LLVM of that major version supports for certain, and none newer than sm_90
// needs.
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
	tc   *toolchain
	opt  Options // with the flags of this file
	name string  // the input as the user named it
	// what the compiler reads: the same, or a temporary file with the text
	path     string
	headers  string                 // root of the embedded headers on disk
	tmp      string                 // directory for the dependency file and overlays
	pch      string                 // precompiled prelude; empty: it is included as text
	libs     libraryUse             // how the input uses CCCL
	cccl     []string               // options for the copy of CCCL
	cl       *openCL                // nil for CUDA C++
	marked   map[string]*markedFile // by absolute path
	overlay  []string               // options that replace files by their marked versions
	grids    map[string]*gridFile   // with launches in device code, by absolute path
	declared map[string]string      // headers that heddle includes, with a warning each (undeclared.go)
	refused  []*refusal             // device code without its body, or removed
	edited   bool                   // clang reads the source without what does not compile
	// dimensions of the clusters of kernels that fix them, by mangled name
	clusters map[string][]string
	inspect  func(*irModule) // called with clang's module; for tests; may be nil
}

// arch returns the architecture to compile for.
func (b *build) arch() string {
	if b.opt.Arch == "" {
		return defaultArch
	}
	return b.opt.Arch
}

// archNumber is the number of an architecture, 90 for sm_90a.
func archNumber(arch string) int {
	n, _ := strconv.Atoi(strings.TrimRight(strings.TrimPrefix(arch, "sm_"), "af"))
	return n
}

// archList defines a macro of nvcc, the architectures of all passes, by which CUB and Thrust name
// their namespaces.
func archList(arch string) string { return fmt.Sprintf("-D__CUDA_ARCH_LIST__=%d0", archNumber(arch)) }

// depFile returns the path of the make rule that clang writes.
func (b *build) depFile() string { return filepath.Join(b.tmp, "deps") }

// clangArgs returns the arguments that compile the input to LLVM IR on standard output.
func (b *build) clangArgs(extra ...string) []string {
	args := b.languageArgs()
	args = append(args,
		"-Xclang", "-target-feature", "-Xclang", "+ptx"+ptxVersion(b.tc.Major),
		"-S", "-emit-llvm", "-o", "-",
		"-gline-tables-only", "-Xclang", "-debug-info-kind=line-tables-only", "-Xclang",
		"-fdebug-info-for-profiling", "-fno-discard-value-names",
		"-fno-color-diagnostics", "-ferror-limit=200", "-fno-crash-diagnostics",
		"-MD", "-MF", b.depFile(), "-MT", "x",
		"-D__HEDDLE__=1", "-isystem", filepath.Join(b.headers, "api"),
	)
	if b.opt.OptLevel == "" {
		// -fno-strict-return: a path that lacks a return statement returns an arbitrary value. By default
		// clang assumes that no thread takes it.
		args = append(args, "-O1", "-fno-strict-return", "-Xclang", "-disable-llvm-passes",
			"-D__HEDDLE_ANALYSIS=1")
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
		args = append(args, b.libs.nameArgs()...)
		args = append(args, b.preludeArgs()...)
	}
	if b.opt.Strict {
		args = append(args, "-include", filepath.Join(b.headers, "heddle", "strict.h"))
	} else if b.hostLibrary() {
		args = append(args, "-include", filepath.Join(b.headers, "heddle", "host_library.h"))
	}
	if b.cl == nil && b.libs.nvAtomic && b.opt.CUDAPath == "" {
		args = append(args, "-include", filepath.Join(b.headers, "heddle", "nv_atomic.h"))
	}
	if b.cl == nil && b.libs.minMax && b.opt.CUDAPath == "" {
		args = append(args, "-include", filepath.Join(b.headers, "heddle", "minmax.h"))
	}
	for _, f := range b.opt.Forced {
		args = append(args, "-include", f)
	}
	args = append(args, b.rewriteArgs()...)
	args = append(args, b.overlay...)
	args = append(args, extra...)
	args = append(args, b.opt.Args...)
	return append(args, "--", b.path)
}

// languageArgs returns the options for the language, the target and CUDA's headers: heddle's, or
// those of the toolkit in --cuda-path, with which clang uses its own prelude.
func (b *build) languageArgs() []string {
	if b.cl != nil {
		return b.cl.args(b)
	}
	// nvcc warns about register variables in C++17; clang by default rejects them. It accepts what
	// -Wcuda-compat says it does not: #pragma unroll with its argument in parentheses.
	args := []string{"-x", "cuda", "--cuda-device-only",
		"--cuda-gpu-arch=" + compiledArch(b.arch(), b.tc.Major), archList(b.arch()),
		"-Wno-error=register", "-Wno-cuda-compat", "-Xclang", "-fcuda-allow-variadic-functions"}
	args = append(args, archMacros(b.arch(), b.tc.Major)...)
	args = append(args, cutlassMacros(b.arch(), true)...)
	if b.opt.Std != "" {
		args = append(args, "-std="+b.opt.Std)
	}
	if b.opt.CUDAPath == "" {
		args = append(args, "-nocudainc", "-nocudalib")
		args = append(args, b.cccl...)
		args = append(args, "-isystem", filepath.Join(b.headers, "cuda"))
		if b.hostLibrary() { // the host's own C and C++ library, or none
			return args
		}
		return append(args, "-idirafter", filepath.Join(b.headers, "std"))
	}
	args = append(args, b.cccl...)
	args = append(args, "--cuda-path="+b.opt.CUDAPath, "-Wno-unknown-cuda-version")
	if _, err := os.Stat(filepath.Join(b.opt.CUDAPath, "nvvm", "libdevice")); err != nil {
		args = append(args, "-nocudalib")
	}
	return args
}

// hostLibrary reports whether the input is compiled with the host's C and C++ library, for which
// heddle's own headers are no replacement.
func (b *build) hostLibrary() bool {
	return b.opt.Strict || b.opt.CUDAPath == "" && b.libs.host()
}

// setLibraries makes the compilation use the copy of CCCL that the input needs.
func (b *build) setLibraries(libs libraryUse) (err error) {
	b.libs = libs
	b.cccl, err = ccclArgs(libs.copy, b.tmp, filepath.Join(b.headers, "cccl"))
	return err
}

// includeArgs returns the options for the user's include directories. A CUDA toolkit among them is
// searched after heddle's headers, which replace CUDA's own; its other headers are still found.
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

// optArgs returns the arguments of opt.
func (b *build) optArgs() []string {
	passes := analysisPasses
	if b.cl != nil {
		// Built-in functions switch on a constant flag, order or scope. With their arguments in registers
		// the inliner removes the other cases.
		passes = "function(sroa)," + passes
	}
	return []string{"-S", "-passes=" + passes, "-inline-threshold=" + inlineThreshold,
		fullNames, "-o", "-", "-"}
}

// llcArgs returns the arguments of llc.
func (b *build) llcArgs() []string {
	level := b.opt.OptLevel
	args := []string{"-mcpu=" + compiledArch(b.arch(), b.tc.Major),
		"-mattr=+ptx" + ptxVersion(b.tc.Major), fullNames, "-o", "-"}
	if level == "" {
		// Strength reduction would replace a[i] by a moving pointer, which the analyses of closed forms
		// would have to undo.
		args = append(args, "-disable-lsr")
		level = "2"
	}
	return append(args, "-O"+level, "-")
}

// clangFailure is the failure of clang, with its diagnostics. hostcode.go searches them for errors
// in host code.
type clangFailure struct{ output string }

// Error returns a message without the diagnostics.
func (e *clangFailure) Error() string { return "clang failed" }

// ToolError reports that opt, llc or nvcc failed on code that clang accepts: it contains a
// construct that cannot be lowered to PTX, or the versions of the tools do not match.
type ToolError struct {
	File   string // as the user named it
	Tool   string // path
	Output string // what it printed
}

// Error returns one line with the first line of the tool's output.
func (e *ToolError) Error() string {
	line, _, _ := strings.Cut(strings.TrimSpace(e.Output), "\n")
	return fmt.Sprintf("%s: cannot be lowered to PTX: %s: %s", e.File, filepath.Base(e.Tool),
		clip(line, 200))
}

// output is the result of a successful compilation.
type output struct {
	ptx       []byte
	kernels   []kernelFacts
	functions []place   // definitions of all functions that clang emitted, before inlining
	omitted   []Omitted // kernels that need code that cannot be compiled
	warnings  string    // clang's stderr
}

// errNoKernelLeft reports that every kernel needs device code that does not compile.
var errNoKernelLeft = errors.New("no kernel of the file compiles")

// place is the line of a file that defines a function.
type place struct {
	path string // absolute
	line int    // from 1
	fn   string // mangled
}

// crashRE matches what clang prints when it fails by a signal or runs out of memory, as opposed to
// a mistake in the source.
var crashRE = lazyregexp.New(`(?m)^(PLEASE submit a bug report|LLVM ERROR: .*|` +
	`fatal error: error in backend.*|.*UNREACHABLE executed.*)`)

// run compiles. opt and llc load while clang prints its module, and not before: if clang finds
// errors, they would have been loaded for nothing, which costs as much as half of a run of clang.
// source returns the text of a file, extra are further options of clang.
func (b *build) run(ctx context.Context, source func(string) []byte, extra ...string) (*output,
	error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	keep := b.opt.OptLevel == ""
	var opt, llc *stage
	var optErr, llcErr error
	load := sync.OnceFunc(func() {
		if keep {
			opt, optErr = start(ctx, b.tc.Opt, b.optArgs())
		}
		llc, llcErr = start(ctx, b.tc.Llc, b.llcArgs())
	})
	clang, err := startWith(ctx, b.tc.Clang, b.clangArgs(extra...), load)
	if err != nil {
		return nil, err
	}
	defer func() {
		clang.abandon(stop)
		stop()
		load() // waits if it has begun; starts nothing after stop
		opt.abandon(stop)
		llc.abandon(stop)
	}()
	m, warnings, err := b.module(ctx, clang)
	if err != nil {
		return nil, err
	}
	whole := m // with all functions that the kernels need
	if b.edited && !keep {
		if whole, err = b.unoptimized(ctx, extra); err != nil {
			return nil, err
		}
	}
	functions := b.debugInfo(whole).places(whole)
	omitted, err := b.omitRefused(m, whole, functions)
	if err != nil {
		return nil, err
	}
	load()
	if err := errors.Join(optErr, llcErr); err != nil {
		return nil, err
	}
	var wide []Omitted
	if keep {
		m, wide, err = b.analysisForm(ctx, m, opt)
	} else {
		wide, err = b.omitAddresses(m)
	}
	if err != nil {
		return nil, err
	}
	omitted = append(omitted, wide...)
	if err := b.checkSharedTables(m); err != nil {
		return nil, err
	}
	low := lowerIR(m, b.debugInfo(m), keep, b.opt.Separate)
	ir, err := b.registers(ctx, low)
	if err != nil {
		return nil, err
	}
	raw, err := llc.finish(ir)
	if err != nil && b.opt.Separate && ctx.Err() == nil {
		// Perhaps llc fails on a function that no kernel of this file needs.
		low, raw, err = b.lowerModule(ctx, m)
	} else if err != nil {
		err = b.toolError(ctx, llc, err)
	}
	if err != nil {
		var more []Omitted
		if low, raw, more, err = b.omitFailing(ctx, m, err); err != nil {
			return nil, err
		}
		omitted = append(omitted, more...)
	}
	byValTypes(low.kernels, raw)
	if keep && !b.opt.Strict {
		raw = spreadSurfaces(raw, low.kernels)
	}
	facts := b.ccclFacts() + writeFacts(low, source)
	if b.cl != nil {
		facts = "// heddle.language cl\n" + facts
	}
	text := b.writeClusters(finishPTX(retarget(raw, b.arch(), b.tc.Major), low, facts, b.cl != nil))
	return &output{text, low.kernels, functions, omitted, warnings}, nil
}

// module waits for clang and returns its module, and what it printed. It fails with a *clangFailure
// if clang rejects the source.
func (b *build) module(ctx context.Context, clang *stage) (*irModule, string, error) {
	text, err := clang.finish(nil)
	printed := clang.stderr.String()
	crash := crashRE.FindString(printed)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, "", ctx.Err()
	case err != nil && crash != "":
		return nil, "", &ToolError{File: b.name, Tool: b.tc.Clang,
			Output: "clang crashed: " + clip(crash, 200)}
	case err != nil:
		return nil, "", &clangFailure{printed}
	}
	m := parseIR(text)
	if b.cl != nil {
		prepareOpenCL(m)
	} else if err := b.fixedShapes(m); err != nil {
		return nil, "", err
	}
	m.gridConstants()
	if b.inspect != nil {
		b.inspect(m)
	}
	return m, printed, nil
}

// unoptimized returns clang's module as it was before its passes: these remove the calls of
// functions that they inline, and the functions themselves.
func (b *build) unoptimized(ctx context.Context, extra []string) (*irModule, error) {
	clang, err := start(ctx, b.tc.Clang,
		b.clangArgs(append([]string{"-Xclang", "-disable-llvm-passes"}, extra...)...))
	if err != nil {
		return nil, err
	}
	text, err := clang.finish(nil)
	if err != nil {
		return nil, b.toolError(ctx, clang, err)
	}
	return parseIR(text), nil
}

// analysisForm runs opt on clang's module. Before opt, promises about effects and about the
// results of functions that heddle does not interpret are removed, calls that have to be inlined
// get an attribute, marks become pseudo probes, variables get an arbitrary value, and copies are
// expanded. After it, scalars that pass through structs are forwarded in modules with operations
// of tensor cores, arrays that are left in memory are aligned, marks become inline assembly
// again, and what setVariables added to memory is removed. Kernels that omitAddresses leaves out are
// returned.
func (b *build) analysisForm(ctx context.Context, m *irModule, opt *stage) (*irModule, []Omitted,
	error) {
	keepEffects(m)
	inlineNecessary(m)
	widenAnew(m)
	hidePoints(m)
	setVariables(m)
	storeSharedTables(m)
	expandCopies(m, "copy")
	text, err := opt.finish(m.print())
	if err != nil {
		return nil, nil, b.toolError(ctx, opt, err)
	}
	m = parseIR(text)
	omitted, err := b.omitAddresses(m)
	if err != nil {
		return nil, nil, err
	}
	if needsRegisters(m) {
		foldConstants(m)
		forwardParts(m)
	}
	alignArrays(m)
	forgetUnset(m)
	showPoints(m)
	expandCopies(m, "late") // copies whose size is known only after inlining
	return m, omitted, nil
}

// toolError returns the error for a failed process.
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

// debugInfo returns the reader of the debug locations of m.
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

// isOurs reports whether a file is an embedded header, or generated for this compilation.
func (b *build) isOurs(path string) bool {
	return b.headers != "" && strings.HasPrefix(path, b.headers+string(filepath.Separator)) ||
		b.cl != nil && path == b.cl.prelude
}

// userName returns the name of a file in messages: the input as the user gave it, a file below the
// working directory by its relative path, any other file by its absolute path.
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
	stdout firstWrite
	stderr bytes.Buffer
	waited bool // Wait has been called
}

// firstWrite collects output and calls begun at the first write.
type firstWrite struct {
	text  bytes.Buffer
	begun func() // may be called several times
}

// Write appends p.
func (w *firstWrite) Write(p []byte) (int, error) {
	w.begun()
	return w.text.Write(p)
}

// start starts a process that waits for its input. Its output is collected in memory: pipes between
// the processes would save nothing, since each step needs the complete module.
func start(ctx context.Context, path string, args []string) (*stage, error) {
	return startWith(ctx, path, args, func() {})
}

// startWith starts a process like start, and calls begun when it writes to standard output.
func startWith(ctx context.Context, path string, args []string, begun func()) (*stage, error) {
	s := &stage{cmd: command(ctx, path, args...), stdout: firstWrite{begun: begun}}
	s.cmd.Stdout, s.cmd.Stderr = &s.stdout, &s.stderr
	in, err := s.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	s.in = in
	if err := s.cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot run %s: %w", path, err)
	}
	limitMemory(s.cmd.Process.Pid)
	return s, nil
}

// finish writes the input of the process, waits for it, and returns its output.
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
	return s.stdout.text.Bytes(), nil
}

// abandon kills a process that is not needed after all; s may be nil.
func (s *stage) abandon(stop context.CancelFunc) {
	if s == nil || s.waited {
		return
	}
	stop()
	s.waited = true
	_ = s.cmd.Wait() // it was killed, so its status means nothing
}
