package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/internal/command/bugreport"
)

// faulty runs command lines as within does, except for an injected fault: a panic, in a function of
// this file, for PTX in which an xor follows a mad.
func faulty(ctx context.Context, words []string, stdin []byte) bugreport.Outcome {
	text := stdin
	if name := words[len(words)-1]; name != "-" {
		text, _ = os.ReadFile(name)
	}
	if !regexp.MustCompile(`(?s)\bmad\b.*\bxor\b`).Match(text) {
		return within(ctx, words, stdin)
	}
	var errs bytes.Buffer
	code := guarded(words, &errs, func() int { return combine(nil, len(text)) })
	return bugreport.Outcome{Code: code, Stderr: errs.Bytes()}
}

// combine panics with an error of Go's runtime.
func combine(list []int, i int) int { return list[i] }

// crashing is a kernel with a mad before an xor.
const crashing = `.version 8.3
.target sm_80
.address_size 64
.visible .entry secretKernel(.param .u64 secretOut, .param .u32 secretCount)
{
	.reg .pred %p<2>;
	.reg .b32 %r<9>;
	.reg .b64 %rd<9>;
	ld.param.u64 %rd1, [secretOut];
	ld.param.u32 %r7, [secretCount];
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, %ctaid.x;
	mad.lo.s32 %r3, %r2, 64, %r1;
	setp.ge.u32 %p1, %r3, %r7;
	@%p1 bra $secretLabel;
	xor.b32 %r4, %r3, 1;
	mul.wide.u32 %rd2, %r4, 4;
	add.s64 %rd3, %rd1, %rd2;
	st.global.u32 [%rd3], %r4;
$secretLabel:
	ret;
}
`

// reported runs bug-report on a command line and returns the exit code, the standard output and the
// directory of the report.
func reported(t *testing.T, ctx context.Context, run func(context.Context, []string,
	[]byte) bugreport.Outcome, args ...string) (int, string, string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "report")
	var out, errs bytes.Buffer
	c := &bugReportCommand{stdin: strings.NewReader(""), stdout: &out, stderr: &errs, run: run}
	cmd := c.command()
	cmd.SilenceUsage, cmd.SilenceErrors = true, true
	cmd.SetArgs(append([]string{"-o", dir}, args...))
	code := exitClean
	if err := cmd.ExecuteContext(ctx); err != nil {
		code = exitUsage
		if exit, ok := err.(exitError); ok {
			code = int(exit)
		} else {
			t.Log(err)
		}
	}
	return code, out.String() + errs.String(), dir
}

// file reads a file of a report.
func file(t *testing.T, dir, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// without fails if a file of a report contains one of some words, in any case.
func without(t *testing.T, dir string, words ...string) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files++
		text, err := os.ReadFile(path)
		for _, w := range words {
			if bytes.Contains(bytes.ToLower(text), []byte(strings.ToLower(w))) {
				t.Errorf("%s contains %q:\n%s", path, w, text)
			}
		}
		return err
	})
	if err != nil || files < 5 {
		t.Errorf("%d files, error %v", files, err)
	}
}

// secretInput writes a file for a test, in a directory whose name the report must not have.
func secretInput(t *testing.T, name, text string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "secretProject")
	if err := os.Mkdir(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// A panic needs the two instructions that cause it: mad and xor, with constants for what they read.
func TestBugReportCrash(t *testing.T) {
	name := secretInput(t, "secret.ptx", crashing)
	code, out, dir := reported(t, t.Context(), faulty, "check", "--grid", "4", "--block", "64", name)
	if code != exitClean ||
		!strings.Contains(out, "an internal error in heddle/cmd/heddle.combine") ||
		!strings.Contains(out, "reduced.ptx: 2 of 12 instructions (minimal") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	summary := file(t, dir, "original.txt")
	for _, want := range []string{"exit code 4\n", "cmd/heddle.combine\n",
		"runtime error: index out of range"} {
		if !strings.Contains(summary, want) {
			t.Errorf("no %q in\n%s", want, summary)
		}
	}
	if stack := file(t, dir, "reduced-stderr.txt"); !strings.Contains(stack, "combine(") {
		t.Errorf("no stack in\n%s", stack)
	}
	without(t, dir, "secret", filepath.Dir(name))
}

// A failure that no PTX shows, because it happens before there is any, has a report all the same.
func TestBugReportEarlyCrash(t *testing.T) {
	run := func(ctx context.Context, words []string, stdin []byte) bugreport.Outcome {
		if !strings.HasSuffix(words[len(words)-1], ".cu") {
			return within(ctx, words, stdin)
		}
		var errs bytes.Buffer
		code := guarded(words, &errs, func() int { panic("secret token") })
		return bugreport.Outcome{Code: code, Stderr: errs.Bytes()}
	}
	name := secretInput(t, "secret.cu", "this is no CUDA")
	code, out, dir := reported(t, t.Context(), run, "check", name)
	if code != exitUnknown || !strings.Contains(out, "without a reduced program: ") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	without(t, dir, "secret")
}

// A prover that calls every kernel verified contradicts a run that finds a bug: here an access out
// of bounds, which needs one store.
func TestBugReportContradiction(t *testing.T) {
	run := func(ctx context.Context, words []string, stdin []byte) bugreport.Outcome {
		if words[0] != "verify" {
			return within(ctx, words, stdin)
		}
		if !slices.Contains(words, "--format=json") {
			return bugreport.Outcome{}
		}
		return bugreport.Outcome{Stdout: []byte(
			`{"type":"verdict","verdict":"verified","kernel":"secretKernel"}` + "\n")}
	}
	name := secretInput(t, "secret.ptx", crashing)
	code, out, dir := reported(t, t.Context(), run, "--keep", "contradiction", "verify", "--grid",
		"4", "--block", "64", "--arg", "secretOut=zero:4", "--arg", "secretCount=256", name)
	if code != exitClean || !strings.Contains(out, "reduced.ptx: 1 of 12 instructions (minimal") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	lines := strings.Fields(file(t, dir, "reproduce.txt"))
	if !slices.Contains(lines, "verify") || !slices.Contains(lines, "run") {
		t.Errorf("commands %v", lines)
	}
	without(t, dir, "secret")
}

// An interrupted reduction writes the smallest program so far, renamed like any other.
func TestBugReportInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	calls := 0
	run := func(ctx context.Context, words []string, stdin []byte) bugreport.Outcome {
		if calls++; calls == 9 {
			cancel()
		}
		return faulty(ctx, words, stdin)
	}
	name := secretInput(t, "secret.ptx", crashing)
	code, out, dir := reported(t, ctx, run, "check", "--grid", "4", "--block", "64", name)
	if code != exitClean || !strings.Contains(out, "the smallest program so far") {
		t.Errorf("exit code %d:\n%s", code, out)
	}
	text := file(t, dir, "reduced.ptx")
	if !strings.Contains(text, "mad") || !strings.Contains(text, "xor") {
		t.Errorf("the program does not show it:\n%s", text)
	}
	without(t, dir, "secret")
}

// secretCUDA has names of all kinds, each with "secret" in it, a race in a called function, and an
// access that a proof does not decide.
const secretCUDA = `#include <cstdio>
// secret comment
struct SecretPair { int secretA; float secretB; };
__device__ int secretGlobal[4];
__constant__ int secretTable[4] = {1, 2, 3, 4};
namespace secretSpace {
template <typename SecretType>
__device__ void secretHelper(SecretType *secretPointer, int secretIndex) {
  secretPointer[secretIndex] = secretPointer[secretIndex + 1] + secretTable[secretIndex & 3];
}
}
__global__ void secretKernel(int *secretIn, SecretPair secretPair, int secretCount) {
  __shared__ int secretTile[65];
  int secretThread = threadIdx.x;
  secretTile[secretThread] = secretIn[secretThread];
  secretSpace::secretHelper(secretTile, secretThread);
  if (secretThread == secretPair.secretA) printf("secret %d\n", secretTile[secretThread]);
  secretGlobal[secretThread & 3] = secretCount;
}
int main() { secretKernel<<<1, 64>>>(nullptr, SecretPair{3, 1.5f}, 64); }
`

// Nothing of the source, its names, its texts and its path is in a report of any command.
func TestBugReportNames(t *testing.T) {
	if !hasClang() {
		t.Skip("no clang")
	}
	name := secretInput(t, "secret.cu", secretCUDA)
	for _, args := range [][]string{
		{"check", "-D", "SECRET=1", "--arg", "secretCount=7", name}, {"verify", name},
		{"run", "--kernel", "secretKernel", "--seeds", "2", name}, {"trace", name},
		{"fix", "--timeout", "5s", name},
		{"verify", "--assume", "secretCount < 100", "--block", "64", name},
		{"sync", "--block", "64", name},
	} {
		words := slices.Concat([]string{"--attempts", "60"}, args)
		_, out, dir := reported(t, t.Context(), within, words...)
		without(t, dir, "secret", filepath.Dir(name))
		if !strings.Contains(out, "reduced.ptx: ") {
			t.Errorf("%v:\n%s", args, out)
		}
	}
}

// Names in the text of a program that does not change the result are gone after any number of
// attempts, as renaming is not part of the reduction.
func TestBugReportKeepsDebugInformation(t *testing.T) {
	name := secretInput(t, "secret.ptx", strings.Replace(crashing, ".visible", `.file 1 "secret.cu"
.global .align 1 .b8 secretText[7] = {115, 101, 99, 114, 101, 116, 0};
.visible`, 1))
	_, _, dir := reported(t, t.Context(), faulty, "--attempts", "1", "check", name)
	without(t, dir, "secret", "115, 101")
	text := file(t, dir, "reduced.ptx")
	if !strings.Contains(text, "{120, 120, 120, 120, 120, 120, 0}") {
		t.Errorf("no masked text in\n%s", text)
	}
}

// The hint of a crash is a command that a shell reads as the same arguments.
func TestCrashHint(t *testing.T) {
	var errs bytes.Buffer
	guarded([]string{"check", "--arg", "a b", "k.cu"}, &errs, func() int { panic("x") })
	lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
	if last := lines[len(lines)-1]; !strings.HasSuffix(last,
		"heddle bug-report -- check --arg 'a b' k.cu") {
		t.Errorf("the last line is %q", last)
	}
	errs.Reset()
	guarded([]string{"init", "k.cu"}, &errs, func() int { panic("x") })
	if strings.Contains(errs.String(), "bug-report") {
		t.Errorf("bug-report does not run init:\n%s", errs.String())
	}
}

// Archives of equal reports are equal, so that nothing about the machine or the time is in them.
func TestBugReportArchive(t *testing.T) {
	files := []bugreport.File{{Name: "a.txt", Data: []byte("x")}, {Name: "source/b", Data: nil}}
	var one, two bytes.Buffer
	for _, w := range []io.Writer{&one, &two} {
		if err := bugreport.WriteArchive(w, "report", files); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) || one.Len() == 0 {
		t.Error("they differ")
	}
}
