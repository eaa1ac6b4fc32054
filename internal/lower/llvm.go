package lower

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"heddle/internal/lazyregexp"
)

// LLVM IR from the user is analysed without changes: no pass of opt runs on it, and llc keeps every
// access (keep.go). opt runs without passes, to read the file, verify it, and print it in the form
// that irtext.go relies on.

// lowerLLVM lowers a module of LLVM IR for NVPTX, text or bitcode. It tries the installed LLVMs
// from the newest to the oldest; if none can read the module, the error is that of the newest.
func lowerLLVM(ctx context.Context, name string, content []byte, opt Options) (*Result, error) {
	store := openCache(opt)
	backends, err := findBackends(ctx, opt.Compiler, &probeCache{store.dir})
	if err != nil {
		return nil, err
	}
	// The newest LLVM reads most modules, but text with typed pointers only LLVM up to 16 reads.
	var first error
	for _, tc := range backends {
		k := key(tc, name, content, opt, libraryUse{})
		if e, ptx, ok := store.get(k); ok {
			return &Result{Name: ptxName(name), PTX: ptx, Kernels: readFacts(ptx), Warnings: e.Warnings,
				Cached: true}, nil
		}
		ptx, err := (&build{tc: tc, opt: opt, name: name, path: name}).fromIR(ctx, content)
		var refused *readError
		switch {
		case err == nil:
			store.put(k, cacheEntry{}, ptx)
			return &Result{Name: ptxName(name), PTX: ptx, Kernels: readFacts(ptx)}, nil
		case !errors.As(err, &refused):
			return nil, err
		case first == nil:
			first = refused.inputError(name, content, tc.Major)
		}
	}
	return nil, first
}

// readError reports that opt cannot read a module.
type readError struct{ output string }

// Error returns opt's diagnostics.
func (e *readError) Error() string { return "cannot read the module: " + e.output }

// The version of the LLVM that wrote a module, and a diagnostic of opt.
var (
	producerRE  = lazyregexp.New(`Producer: 'LLVM ?(\d+)|!"[^"\n]*(?:clang|LLVM) version (\d+)`)
	irMessageRE = lazyregexp.New(`<stdin>:(\d+:\d+): error: (.*)`)
)

// inputError returns the error for the user: the position, and what to do if a newer LLVM wrote the
// module.
func (e *readError) inputError(name string, content []byte, major int) error {
	out := &InputError{File: name,
		Reason: fmt.Sprintf("LLVM %d cannot read it: %s", major, clip(firstLine(e.output), 200))}
	if m := irMessageRE.FindStringSubmatch(e.output); m != nil {
		out.File, out.Reason = name+":"+m[1],
			fmt.Sprintf("LLVM %d cannot read it: %s", major, clip(m[2], 200))
	}
	if n := producer(e.output, content); n > major {
		out.Reason += fmt.Sprintf("; LLVM %d wrote it: install llvm-%d, or specify its clang with "+
			"--compiler", n, n)
	} else {
		out.Reason += "; if a newer LLVM wrote it, specify that LLVM's clang with --compiler"
	}
	return out
}

// producer returns the major version of the LLVM that wrote a module, from opt's message or the
// module's ident; 0 if neither contains it.
func producer(message string, content []byte) int {
	m := producerRE.FindStringSubmatch(message)
	if m == nil {
		m = producerRE.FindStringSubmatch(string(content))
	}
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1] + m[2])
	return n
}

// firstLine returns the first line of s.
func firstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// fromIR lowers a module to PTX.
func (b *build) fromIR(ctx context.Context, content []byte) ([]byte, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	read, err := start(ctx, b.tc.Opt, []string{"-S", fullNames, "-o", "-", "-"})
	if err != nil {
		return nil, err
	}
	text, err := read.finish(content)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, &readError{read.stderr.String()}
	}
	m := parseIR(text)
	if err := b.checkTriple(m); err != nil {
		return nil, err
	}
	if err := b.checkScopes(m, content); err != nil {
		return nil, err
	}
	target := m.takeTarget()
	keep := b.opt.OptLevel == ""
	if keep {
		keepEffects(m)
		widenAnew(m)
		expandCopies(m, "late")
	}
	low := lowerIR(m, b.debugInfo(m), keep, false)
	llc, err := start(ctx, b.tc.Llc, b.llcArgsFor(target))
	if err != nil {
		return nil, err
	}
	ir, err := b.registers(ctx, low)
	if err != nil {
		return nil, err
	}
	raw, err := llc.finish(ir)
	if m := unknownRE.FindStringSubmatch(llc.stderr.String()); m != nil {
		return nil, &InputError{File: b.name, Reason: fmt.Sprintf("LLVM %d does not support %s; "+
			"specify the clang of a newer LLVM with --compiler, or an older architecture with --arch",
			b.tc.Major, m[1])}
	}
	if err != nil {
		return nil, b.toolError(ctx, llc, err)
	}
	byValTypes(low.kernels, raw)
	for i := range low.kernels {
		// no debug info: use the position in the module
		if k := &low.kernels[i]; k.line == 0 || k.path == "" {
			k.path, k.line = b.name, defineLine(content, k.name)
		}
	}
	raw = retarget(raw, cmp.Or(b.archFor(target), defaultArch), b.tc.Major)
	return finishPTX(raw, low, writeFacts(low, readText), false), nil
}

// defineLine returns the line of a module's text that defines a function; 1 for bitcode.
func defineLine(content []byte, name string) int {
	at := regexp.MustCompile(`(?m)^[ \t]*define\s[^;{}\n]*@"?` + regexp.QuoteMeta(name) +
		`"?\(`).FindIndex(content)
	if at == nil {
		return 1
	}
	return 1 + bytes.Count(content[:at[0]], []byte{'\n'})
}

// target is the target that the functions of a module were compiled for.
type target struct {
	arch string // "sm_90a"; empty: unknown
	ptx  int    // 83 for +ptx83; 0: unknown
}

// unknownRE matches llc's warning about a processor or PTX version that it does not know and
// replaces by another.
var unknownRE = lazyregexp.New(`'\+?(\w+)' is not a recognized`)

// The parts of a module that specify its target.
var (
	tripleRE  = lazyregexp.New(`^target triple = "([^"]*)"`)
	cpuRE     = lazyregexp.New(` ?"target-cpu"="(sm_(\d+)[a-z]*)"`)
	featureRE = lazyregexp.New(` ?"target-features"="([^"]*)"`)
	ptxRE     = lazyregexp.New(`\+ptx(\d+)`)
)

// checkTriple reports a module that is not for NVPTX.
func (b *build) checkTriple(m *irModule) error {
	for _, line := range m.head {
		t := tripleRE.FindStringSubmatch(line)
		switch {
		case t == nil:
			continue
		case strings.HasPrefix(t[1], "nvptx64"):
			return nil
		}
		return &InputError{File: b.name, Reason: fmt.Sprintf("the module is for %s, expected nvptx64; "+
			"compile the device code of a .cu file with clang --cuda-device-only -emit-llvm", t[1]),
			NoKernel: true}
	}
	return &InputError{File: b.name,
		Reason:   `the module has no target triple; expected target triple = "nvptx64-nvidia-cuda"`,
		NoKernel: true}
}

// takeTarget removes the targets of individual functions, so that llc's flags apply to all of them,
// and returns the newest of these targets.
func (m *irModule) takeTarget() target {
	var t target
	newest := 0
	take := func(line string) string {
		if c := cpuRE.FindStringSubmatch(line); c != nil {
			if n, _ := strconv.Atoi(c[2]); n > newest {
				newest, t.arch = n, c[1]
			}
		}
		for _, p := range ptxRE.FindAllStringSubmatch(strings.Join(featureRE.FindStringSubmatch(line),
			" "), -1) {
			n, _ := strconv.Atoi(p[1])
			t.ptx = max(t.ptx, n)
		}
		return featureRE.ReplaceAllString(cpuRE.ReplaceAllString(line, ""), "")
	}
	for i, line := range m.head {
		if strings.HasPrefix(line, "attributes ") {
			m.head[i] = strings.Replace(take(line), "{ }", `{ "heddle" }`, 1) // an empty group is invalid
		}
	}
	for _, f := range m.funcs {
		f.define = take(f.define)
	}
	return t
}

// llcArgsFor is llcArgs for the target of a module, unless the user specified another architecture.
func (b *build) llcArgsFor(t target) []string {
	with := *b
	with.opt.Arch = b.archFor(t)
	args := with.llcArgs()
	if own, _ := strconv.Atoi(ptxVersion(b.tc.Major)); t.ptx > own {
		args = append([]string{"-mattr=+ptx" + strconv.Itoa(t.ptx)}, args...)
	}
	return args
}

// archFor is the architecture of a module, unless the user specified another one; "" if neither says
// it.
func (b *build) archFor(t target) string {
	if b.opt.Arch != "" {
		return b.opt.Arch
	}
	return t.arch
}

// findBackends returns the installed LLVMs that have llc and opt, newest first. If the user
// specified a clang, it returns only the LLVM of that clang. clang itself is not needed for LLVM
// IR.
func findBackends(ctx context.Context, asked string, probes *probeCache) ([]*toolchain, error) {
	if asked != "" && !isNVCC(asked) {
		tc, err := findToolchain(ctx, asked, probes)
		if err != nil {
			return nil, err
		}
		return []*toolchain{tc}, nil
	}
	var out []*toolchain
	add := func(llc string, major int) {
		opt, optStamp := findBeside(llc, "opt", major)
		stamp, err := fileStamp(llc)
		if err == nil && opt != "" {
			out = append(out, &toolchain{Llc: llc, Opt: opt, Major: major, Version: "llc",
				Stamp: stamp + "\n" + optStamp})
		}
	}
	for n := newestClang; n >= minClang; n-- {
		if llc, err := exec.LookPath("llc-" + strconv.Itoa(n)); err == nil {
			add(llc, n)
		}
	}
	if len(out) == 0 { // LLVM is not installed under its version, as on macOS
		if llc, err := exec.LookPath("llc"); err == nil {
			version, err := llcVersion(ctx, llc, probes)
			if err != nil {
				return nil, err
			}
			if version >= minClang {
				add(llc, version)
			}
		}
	}
	if len(out) == 0 {
		return nil, &MissingToolError{"llc",
			fmt.Sprintf("no llc with its opt (version %d or later) on PATH, which heddle needs to lower "+
				"LLVM IR", minClang)}
	}
	return out, nil
}

// llvmVersionRE matches the version in the output of llc --version.
var llvmVersionRE = lazyregexp.New(`LLVM version (\d+)\.`)

// llcVersion returns the major version of an llc.
func llcVersion(ctx context.Context, llc string, probes *probeCache) (int, error) {
	stamp, err := fileStamp(llc)
	if err != nil {
		return 0, err
	}
	version, ok := probes.get(stamp)
	if !ok {
		out, err := command(ctx, llc, "--version").Output()
		if err != nil {
			return 0, &MissingToolError{"llc", fmt.Sprintf("%s --version: %v", filepath.Base(llc), err)}
		}
		m := llvmVersionRE.FindStringSubmatch(string(out))
		if m == nil {
			return 0, &MissingToolError{"llc", fmt.Sprintf("%s --version prints no LLVM version", llc)}
		}
		version = m[1]
		probes.put(stamp, version)
	}
	n, _ := strconv.Atoi(version)
	return n, nil
}
