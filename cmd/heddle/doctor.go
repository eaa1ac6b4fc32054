package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"heddle/internal/gitrev"
	"heddle/internal/lower"
	"heddle/internal/smt/proc"
)

// A need is something outside of heddle that heddle can use.
type need struct {
	name     string
	enables  string
	optional bool // heddle check works without it
	// try returns what was found, or why it cannot be used.
	try     func(context.Context) (string, error)
	install packages
	quick   bool // try takes no time: it compiles nothing
}

// packages are what brings a program, by package manager.
type packages struct{ apt, dnf, brew string }

var (
	llvmPackages = packages{"clang-19 llvm-19", "clang llvm", "llvm"}
	hostPackages = packages{"g++ libc6-dev", "gcc-c++ glibc-devel", ""}
)

// Kernels that a compiler must accept for heddle to work: with a parameter, shared memory, a
// barrier and a built-in function.
const (
	trialCUDA = `__global__ void trial(int *p) {
    __shared__ int s[32];
    s[threadIdx.x] = 1;
    __syncthreads();
    p[threadIdx.x] = s[31 - threadIdx.x];
}
`
	trialProgram = trialCUDA + "int main() { trial<<<1, 32>>>(0); return cudaDeviceSynchronize(); }\n"
	trialOpenCL  = `kernel void trial(global int *p, local int *s) {
    s[get_local_id(0)] = 1;
    barrier(CLK_LOCAL_MEM_FENCE);
    p[get_local_id(0)] = s[31 - get_local_id(0)];
}
`
	trialLLVM = `target triple = "nvptx64-nvidia-cuda"
define void @trial() {
  ret void
}
`
)

// needs are in the order of the report.
var needs = []need{
	{"clang", "compiling; with opt and llc of the same LLVM", false, findClang, llvmPackages, true},
	{"CUDA", ".cu files", false, compiles("trial.cu", trialCUDA), llvmPackages, false},
	{"OpenCL", ".cl files", false, compiles("trial.cl", trialOpenCL), llvmPackages, false},
	{"LLVM", ".ll and .bc files", false, compiles("trial.ll", trialLLVM), llvmPackages, false},
	{"programs", "heddle exec and check --exec: whole programs", true, buildsProgram, hostPackages,
		false},
	{"z3", "proofs that heddle's own solver does not finish", true, finds(proc.Z3),
		packages{"z3", "z3", "z3"}, true},
	{"cvc5", "--solver cvc5", true, finds(proc.CVC5), packages{"cvc5", "cvc5", "cvc5/cvc5/cvc5"}, true},
	{"git", "--new-from: findings that a revision does not have", true, findGit,
		packages{"git", "git", "git"}, true},
}

// newDoctor makes the command that answers why something does not work.
func newDoctor(stdout io.Writer) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "show which compilers and solvers heddle can use",
		Long: `doctor looks for the programs that heddle uses, compiles a small kernel of each language
with them, and builds a small program, without running it. For what is missing it prints what that would
enable and how to install it. .ptx files, and programs that contain PTX, need none of them.

Exit codes: 0 heddle check works for all languages, 2 it does not.`,
		Args: exactly(0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error { return examine(cmd.Context(), stdout) },
	}
}

// examine prints a line for each need, and what to do about those that are not met.
func examine(ctx context.Context, stdout io.Writer) error {
	fmt.Fprintf(stdout, "%s\n", versionText())
	fmt.Fprintf(stdout, "ok        %-9s nothing is needed for .ptx files and programs with PTX\n",
		"PTX")
	code := exitClean
	for _, n := range needs {
		found, err := n.try(ctx)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		switch {
		case err == nil:
			fmt.Fprintf(stdout, "ok        %-9s %s\n", n.name, found)
			continue
		case n.optional:
			fmt.Fprintf(stdout, "optional  %-9s %v\n", n.name, err)
		default:
			fmt.Fprintf(stdout, "missing   %-9s %v\n", n.name, err)
			code = exitUsage
		}
		fmt.Fprintf(stdout, "          %-9s enables: %s\n", "", n.enables)
		if how := n.install.commands(system()); how != "" {
			fmt.Fprintf(stdout, "          %-9s install: %s\n", "", how)
		}
	}
	if code != exitClean {
		fmt.Fprintln(stdout, "\nheddle check does not work for all languages yet.")
		return exitError(code)
	}
	_, err := fmt.Fprintln(stdout, "\nheddle check works.")
	return err
}

// system returns the package manager of this machine; "" if none is known.
func system() string {
	for _, m := range []struct{ path, name string }{
		{"/usr/bin/apt-get", "apt"}, {"/usr/bin/dnf", "dnf"}, {"/opt/homebrew/bin/brew", "brew"},
		{"/usr/local/bin/brew", "brew"}, {"/home/linuxbrew/.linuxbrew/bin/brew", "brew"}} {
		if _, err := os.Stat(m.path); err == nil {
			return m.name
		}
	}
	return ""
}

// commands returns the command of one package manager, or those of all if it is not known.
func (p packages) commands(manager string) string {
	var all []string
	for _, m := range []struct{ name, command, packages string }{
		{"apt", "apt-get install", p.apt}, {"dnf", "dnf install", p.dnf},
		{"brew", "brew install", p.brew}} {
		if m.packages != "" && (manager == "" || manager == m.name) {
			all = append(all, m.command+" "+m.packages)
		}
	}
	return strings.Join(all, "; ")
}

// findClang looks for the compiler.
func findClang(ctx context.Context) (string, error) {
	t, err := lower.FindTools(ctx, lower.Options{})
	var missing *lower.MissingToolError
	if errors.As(err, &missing) {
		return "", errors.New(missing.Reason)
	}
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("%s (%s), %s, %s", t.Clang, t.Version, t.Opt, t.Llc), nil
}

// compiles returns a trial that compiles a file for analysis.
func compiles(name, text string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		in := lower.Input{Name: name, Content: []byte(text)}
		if _, err := lower.Lower(ctx, in, lower.Options{NoCache: true}); err != nil {
			return "", reason(err)
		}
		return "a kernel compiles", nil
	}
}

// reason is what failed, without the advice that doctor gives in its own form: of a compiler, the
// first line of its messages.
func reason(err error) error {
	var missing *lower.MissingToolError
	var rejected *lower.CompileError
	switch {
	case errors.As(err, &missing):
		return fmt.Errorf("needs %s", missing.Tool)
	case errors.As(err, &rejected):
		line, _, _ := strings.Cut(strings.TrimSpace(rejected.Output), "\n")
		return fmt.Errorf("the compiler fails: %s", line)
	}
	return err
}

// buildsProgram builds a program with host code as heddle exec does.
func buildsProgram(ctx context.Context) (string, error) {
	if runtime.GOOS != "linux" {
		return "", errors.New("runs on Linux only")
	}
	dir, err := os.MkdirTemp("", "heddle-doctor-")
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(dir)
	file := filepath.Join(dir, "trial.cu")
	if err := os.WriteFile(file, []byte(trialProgram), 0o600); err != nil {
		return "", err
	}
	var b buildFlags
	b.opt.NoCache = true
	if err := b.program(ctx, []string{file}, dir, filepath.Join(dir, "trial"), 1); err != nil {
		return "", reason(err)
	}
	return "a program builds", nil
}

// finds returns a search for a solver on PATH.
func finds(kind proc.Kind) func(context.Context) (string, error) {
	return func(context.Context) (string, error) {
		s := proc.Find(kind)
		if s == nil {
			return "", errors.New("is not on PATH")
		}
		return s.Path, nil
	}
}

// findGit looks for git.
func findGit(context.Context) (string, error) {
	return gitrev.Program()
}
