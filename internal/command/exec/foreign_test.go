package exec_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"heddle/internal/command/exec"
	"heddle/internal/host"
	"heddle/internal/lower/fatbin/fatbintest"
	"heddle/internal/testing/program"
)

// foreignPTX is the device code of testdata/foreign.c: each thread adds n to a managed variable.
const foreignPTX = `.version 7.5
.target sm_75
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 counter;
.visible .entry bump(.param .u32 bump_param_0) {
	.reg .b32 %r<2>;
	.reg .b64 %rd<2>;
	ld.param.u32 %r1, [bump_param_0];
	mov.u64 %rd1, counter;
	red.global.add.u32 [%rd1], %r1;
	ret;
}
`

// foreignStubs stand for NVIDIA's runtime: a program that reaches one of them fails.
const foreignStubs = `#include <stdlib.h>
#define STUB(NAME) VISIBILITY void *NAME(void) { volatile int n = 0; n++; abort(); }
STUB(__cudaRegisterFatBinary) STUB(__cudaRegisterFatBinaryEnd) STUB(__cudaRegisterFunction)
STUB(__cudaRegisterManagedVar) STUB(__cudaInitModule) STUB(cudaLaunchKernel)
STUB(cudaDeviceSynchronize) STUB(cudaGetDeviceProperties)
#ifndef OLD
STUB(cudaGetDeviceProperties_v2)
#endif
`

// foreign builds the programs of TestForeign in a directory.
type foreign struct {
	t   *testing.T
	dir string
}

// cc runs the C compiler of the machine in the directory, or skips the test if there is none.
func (f foreign) cc(args ...string) {
	f.t.Helper()
	path, err := osexec.LookPath("cc")
	if err != nil {
		f.t.Skip("no C compiler")
	}
	cmd := osexec.Command(path, args...)
	cmd.Dir = f.dir
	if out, err := cmd.CombinedOutput(); err != nil {
		f.t.Fatalf("cc %q: %v\n%s", args, err, out)
	}
}

// write writes a file of the directory.
func (f foreign) write(name, text string) {
	f.t.Helper()
	if err := os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600); err != nil {
		f.t.Fatal(err)
	}
}

// TestForeign: programs that heddle has not built run with its runtime, if they need libcudart.so
// of CUDA 11 or 12, or contain NVIDIA's runtime with the names of its functions; others end with a
// message that says what to do. 64 threads add 5 to 40; an A100 has 108 multiprocessors. The
// structure of CUDA 11 has 728 bytes and that of CUDA 12 1032: no byte behind them is written.
func TestForeign(t *testing.T) {
	builder := program.Builder(t)
	source, err := os.ReadFile("testdata/foreign.c")
	if err != nil {
		t.Fatal(err)
	}
	var image strings.Builder
	for _, b := range fatbintest.Region(t, fatbintest.Image{Kind: 1, Arch: 75, Comp: "lz4",
		Data: []byte(foreignPTX)}) {
		fmt.Fprintf(&image, "%d,", b)
	}
	f := foreign{t, t.TempDir()}
	f.write("foreign.c", string(source))
	f.write("image.h", image.String())
	f.write("stubs.c", foreignStubs)
	library := func(name string, args ...string) {
		f.write(name+".map", name+" { global: *; };")
		f.cc(append(args, "-DVISIBILITY=", "-shared", "-fPIC", "-Wl,--version-script="+name+".map",
			"-Wl,-soname,"+name, "-o", name, "stubs.c")...)
	}
	library("libcudart.so.11.0", "-DOLD")
	library("libcudart.so.12")
	library("libcudart.so.13")
	f.cc("-DOLD", "-o", "shared11", "foreign.c", "libcudart.so.11.0")
	f.cc("-o", "shared12", "foreign.c", "libcudart.so.12")
	f.cc("-o", "shared13", "foreign.c", "libcudart.so.13")
	hidden := `-DVISIBILITY=__attribute__((visibility("hidden")))`
	f.cc("-o", "static12", hidden, "foreign.c", "stubs.c")
	f.cc("-no-pie", "-o", "fixed12", hidden, "foreign.c", "stubs.c")
	f.cc("-DOLD", "-o", "static11", hidden, "foreign.c", "stubs.c")
	f.cc("-s", "-o", "stripped", hidden, "foreign.c", "stubs.c")

	const launched = "error 0, counter 360\n"
	const old = "error 0, 108 multiprocessors, then 0x5a\n"
	const both = launched + old + "error 0, 108 multiprocessors, 0, then 0x5a\n"
	for _, c := range []struct {
		name    string
		linkage host.Linkage
		stdout  string
		code    int
		stderr  string
	}{
		{"shared11", host.Shared, launched + old, 0, ""},
		{"shared12", host.Shared, both, 0, ""},
		{"static12", host.Static, both, 0, ""},
		{"fixed12", host.Static, both, 0, ""},
		// CUDA 11 or 13: the structure is not known (cudaErrorNotSupported is 801).
		{"static11", host.Static, launched + "error 801, ", 3, "cudaGetDeviceProperties of CUDA 11"},
		{"shared13", host.Newer, "", 0, "build it with heddle nvcc"},
		{"stripped", host.Stripped, "", 0, "--cudart shared"},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(f.dir, c.name)
			if got := host.LinkageOf(path); got != c.linkage {
				t.Errorf("linkage %d, want %d", got, c.linkage)
			}
			env, err := exec.Environment(t.Context(), path, builder.SharedRuntime)
			if c.stdout == "" {
				var failed *exec.ForeignError
				if !errors.As(err, &failed) || !strings.Contains(err.Error(), c.stderr) {
					t.Errorf("error %v, want one with %q", err, c.stderr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			var found []string
			var stdout, stderr bytes.Buffer
			sum, err := exec.Run(t.Context(), exec.Program{Args: []string{path}, Env: env, Stdout: &stdout,
				Stderr: &stderr}, options(t, &found))
			if err != nil {
				t.Fatal(err)
			}
			if sum.Exit() != c.code || !strings.HasPrefix(stdout.String(), c.stdout) || len(found) > 0 ||
				!strings.Contains(stderr.String(), c.stderr) || c.stderr == "" && stderr.Len() > 0 {
				t.Errorf("exit code %d, output %q, messages %q, findings %q, verdicts %+v; want %d, %q, %q",
					sum.Exit(), stdout.String(), stderr.String(), found, sum.Verdicts, c.code, c.stdout, c.stderr)
			}
		})
	}
}

// TestLinkages: what is no program of NVIDIA's.
func TestLinkages(t *testing.T) {
	if got := host.LinkageOf("foreign_test.go"); got != host.NoCUDA {
		t.Errorf("a text: %d", got)
	}
	if got := host.LinkageOf("/bin/sh"); got != host.NoCUDA {
		t.Errorf("a shell: %d", got)
	}
	built := program.OfText(t, "__global__ void k() {}\nint main() { k<<<1, 1>>>(); }\n")
	if got := host.LinkageOf(built); got != host.Own {
		t.Errorf("a program that heddle has built: %d", got)
	}
	env, err := exec.Environment(t.Context(), built, program.Builder(t).SharedRuntime)
	if len(env) > 0 || err != nil {
		t.Errorf("environment %q, error %v", env, err)
	}
}
