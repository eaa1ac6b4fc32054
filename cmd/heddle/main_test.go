package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"

	"heddle/internal/check"
	"heddle/internal/command/exec"
	"heddle/internal/diag"
	"heddle/internal/driver"
	"heddle/internal/lower"
	"heddle/internal/testing/long"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"heddle": main})
}

// TestScripts runs the command as users do. The scripts have commands of our own:
//
//	exits CODE COMMAND ARGS...     runs the command and demands that exit code
//	fatbin [-elf] OUT IMAGE...     writes a fatbin (fatbin_test.go)
//	saved OUT KERNEL ...           writes a saved launch (saved_test.go)
//	reapi start|stop|...          a server of the Remote Execution API (remote_test.go)
//
// They share a cache, so that heddle's headers and the runtime library of heddle exec are compiled
// once. A script about the cache sets a directory of its own.
func TestScripts(t *testing.T) {
	cache := t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits": exits, "fatbin": fatbinCommand(t), "saved": savedCommand, "reapi": reapiCommand(),
		},
		Condition: func(cond string) (bool, error) {
			switch cond {
			case "clang":
				return hasClang(), nil
			case "llc":
				return hasLLC(), nil
			case "long": // the parts of long scripts that the ordinary run leaves out
				return long.All(), nil
			case "cccl:installed": // where heddle finds a copy of CCCL that nothing names
				return installedCCCL() != "", nil
			case "cccl": // $CCCL_COPY is a copy of CCCL
				return copyOfCCCL() != "", nil
			}
			return false, errors.New("unknown condition")
		},
		Setup: func(env *testscript.Env) error {
			env.Setenv("XDG_CACHE_HOME", cache)
			env.Setenv("HOME", env.WorkDir)
			env.Setenv("CCCL_COPY", copyOfCCCL())
			return nil
		},
		UpdateScripts: os.Getenv("HEDDLE_UPDATE") != "",
	})
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE COMMAND ARGS...")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	got := 0
	err = ts.Exec(args[1], args[2:]...)
	var exit *osexec.ExitError
	switch {
	case errors.As(err, &exit):
		got = exit.ExitCode()
	case err != nil:
		ts.Fatalf("%v", err)
	}
	if got != want {
		ts.Fatalf("%s exits with %d, want %d", strings.Join(args[1:], " "), got, want)
	}
}

// copyOfCCCL returns the directory of a copy of CCCL: that of the user's environment, or an
// installed one.
func copyOfCCCL() string { return cmp.Or(os.Getenv(lower.CCCLVar), installedCCCL()) }

// installedCCCL returns the directory of a copy of CUB that an installer has put there; "" if there
// is none.
func installedCCCL() string {
	for _, dir := range []string{"/usr/local/cuda/include", "/usr/local/cuda/include/cccl",
		"/usr/include"} {
		if _, err := os.Stat(dir + "/cub/cub.cuh"); err == nil {
			return dir
		}
	}
	return ""
}

func hasClang() bool {
	_, err := osexec.LookPath("clang")
	return err == nil || hasTool("clang", 14)
}

// hasLLC reports an llc with its opt that reads opaque pointers.
func hasLLC() bool { return hasTool("llc", 15) && hasTool("opt", 15) }

// hasTool reports a tool of LLVM from a version on.
func hasTool(tool string, oldest int) bool {
	for n := oldest; n < 30; n++ {
		if _, err := osexec.LookPath(fmt.Sprintf("%s-%d", tool, n)); err == nil {
			return true
		}
	}
	return false
}

// A panic ends with code 4 and says how to report it; the user's code is not blamed.
func TestCrash(t *testing.T) {
	var out, errs bytes.Buffer
	code := guarded([]string{"check", "k.cu"}, &errs, func() int { panic("no such register") })
	if code != exitInternal || out.Len() > 0 {
		t.Errorf("exit code %d", code)
	}
	for _, want := range []string{"internal error: no such register", "bug in heddle", "heddle check k.cu", "main_test.go"} {
		if !strings.Contains(errs.String(), want) {
			t.Errorf("no %q in %s", want, errs.String())
		}
	}
}

func TestExitCode(t *testing.T) {
	verdicts := func(kinds ...diag.VerdictKind) *check.Summary {
		s := &check.Summary{}
		for _, k := range kinds {
			s.Verdicts = append(s.Verdicts, diag.Verdict{Kind: k})
		}
		return s
	}
	mistake := verdicts(diag.Clean)
	mistake.InputErrors = 1
	bugAndMistake := verdicts(diag.Bug)
	bugAndMistake.InputErrors = 1
	tests := []struct {
		name  string
		sum   *check.Summary
		early bool
		want  int
	}{
		{"clean", verdicts(diag.Clean, diag.Verified), false, exitClean},
		{"bug", verdicts(diag.Unsupported, diag.Clean, diag.Bug), false, exitBugs},
		{"unknown", verdicts(diag.Clean, diag.Unknown), false, exitUnknown},
		{"unsupported", verdicts(diag.Unsupported, diag.Clean), false, exitUnknown},
		{"mistake", mistake, false, exitUsage},
		{"bug and mistake", bugAndMistake, false, exitBugs},
		{"ended early", verdicts(diag.Clean), true, exitUnknown},
		{"bug, then ended early", verdicts(diag.Bug), true, exitBugs},
		{"nothing", verdicts(), false, exitUnknown},
	}
	for _, tt := range tests {
		if got := (&checkCommand{}).exitCode(tt.sum, tt.early); got != tt.want {
			t.Errorf("%s: %d, want %d", tt.name, got, tt.want)
		}
	}
}

func TestLongForms(t *testing.T) {
	got := longForms([]string{"-std=c++17", "-arch", "sm_80", "-I", "x", "--", "-std=x"})
	want := "--std=c++17 --arch sm_80 -I x -- -std=x"
	if strings.Join(got, " ") != want {
		t.Errorf("got %q", got)
	}
}

// While an engine has nothing to tell, the time goes on; nothing is drawn after the end.
func TestProgressRefresh(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b)
	p.tty, p.started, p.width = true, time.Now().Add(-3*time.Second), 24
	p.callback()(driver.Progress{Kernel: "k", Engine: driver.Proof, Kernels: 12, KernelsDone: 3})
	drawn := func() int {
		p.mu.Lock()
		defer p.mu.Unlock()
		return strings.Count(b.String(), "\r\x1b[K3 of 12 kernels, ") // the rest is the time
	}
	for deadline := time.Now().Add(30 * time.Second); drawn() < 3; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the line was drawn %d times", drawn())
		}
	}
	p.stop()
	end := b.Len()
	time.Sleep(2 * progressInterval)
	if b.Len() != end {
		t.Error("something was drawn after the end")
	}
	p.stop()
}

func TestProgressText(t *testing.T) {
	for _, c := range []struct {
		p    driver.Progress
		want string
	}{
		{driver.Progress{Kernel: "k", Engine: driver.Proof, Kernels: 1, Files: 1}, "k: proof, 2 s"},
		{driver.Progress{Kernel: "k", Engine: driver.Emulation, Kernels: 3, KernelsDone: 1, Files: 2, FilesDone: 1, Steps: 1_500_000, Blocks: 8}, "1 of 3 kernels, 1 of 2 files, k: emulation, 0 of 8 blocks, 1.5 M warp instructions, 2 s"},
	} {
		if got := progressText(c.p, 2*time.Second)[0]; got != c.want {
			t.Errorf("got  %q\nwant %q", got, c.want)
		}
	}
}

// TestProgressFits: a line is narrower than the terminal, and its end, which says how far the run is,
// stays as long as there is room for anything.
func TestProgressFits(t *testing.T) {
	check := progressText(driver.Progress{Kernels: 12, KernelsDone: 3, Files: 2, FilesDone: 1,
		Kernel: "void merge<float, 32>(float const*, float*, int)", Engine: driver.Emulation, Blocks: 64,
		BlocksDone: 5, Steps: 2_500_000}, 9*time.Second)
	launch := launchText(&exec.Progress{Kernel: "void merge<float, 32>(float const*, float*, int)", Launch: 117,
		Blocks: 64, BlocksDone: 5, Steps: 2_500_000}, 9*time.Second)
	for _, texts := range [][]string{check, launch} {
		for width := 1; width < 160; width++ {
			got := fit(texts, width)
			if utf8.RuneCountInString(got) >= width {
				t.Errorf("%d columns: %q", width, got)
			}
			if width >= 54 && (!strings.HasSuffix(got, "5 of 64 blocks, 9 s") &&
				!strings.HasSuffix(got, "warp instructions, 9 s")) {
				t.Errorf("%d columns: %q", width, got)
			}
		}
	}
	if got, want := fit(check, 60), "3 of 12 kernels, 5 of 64 blocks, 9 s"; got != want {
		t.Errorf("60 columns: %q, want %q", got, want)
	}
}

// The progress line appears after a second only, is removed before other output, and never comes back.
func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := newProgress(&b)
	if p.callback() != nil {
		t.Error("progress without a terminal")
	}
	s := driver.Progress{Kernel: strings.Repeat("k", 50), Engine: driver.Emulation, Steps: 2_500_000, BlocksDone: 1, Blocks: 4}
	p.show(s)
	if b.Len() > 0 {
		t.Errorf("progress at once: %q", b.String())
	}
	p.started = time.Now().Add(-3 * time.Second)
	p.show(s)
	p.show(s) // too soon
	want := "\r\x1b[K" + strings.Repeat("k", 37) + "...: emulation, 1 of 4 blocks, 2.5 M warp instructions, 3 s"
	if b.String() != want {
		t.Errorf("got  %q\nwant %q", b.String(), want)
	}
	b.Reset()
	if _, err := p.wrap(&b).Write([]byte("printf\n")); err != nil || b.String() != "\r\x1b[Kprintf\n" {
		t.Errorf("%q, %v", b.String(), err)
	}
	b.Reset()
	p.stop()
	p.last = time.Time{}
	p.show(s)
	if b.Len() > 0 {
		t.Errorf("progress after the end: %q", b.String())
	}
}

func TestUseColor(t *testing.T) {
	var b bytes.Buffer
	if !useColor("always", &b) || useColor("never", &b) || useColor("auto", &b) {
		t.Error("colour without being asked, or not when asked")
	}
}
