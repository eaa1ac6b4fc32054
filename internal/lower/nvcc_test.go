package lower

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fakeNVCC writes a script that records its arguments, one per line, and copies a prepared PTX to
// the path after -o.
func fakeNVCC(t *testing.T, body string) (dir string) {
	t.Helper()
	if _, err := os.Stat("/bin/sh"); err != nil {
		t.Skip("no /bin/sh")
	}
	dir = t.TempDir()
	script := "#!/bin/sh\nprintf '%s\\n' \"$@\" > " + dir +
		"/args\nwhile [ \"$1\" != -o ]; do shift; done\nout=$2\n" + body + "\n"
	bin := filepath.Join(dir, "bin")
	if err := os.Mkdir(bin, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(bin, "nvcc"), []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "prepared.ptx"),
		".version 8.3\n.target sm_80, debug\n.address_size 64\n.visible .entry k()\n{\n\tret;\n}\n")
	return dir
}

func TestNVCC(t *testing.T) {
	dir := fakeNVCC(
		t, `cp "$(dirname "$0")/../prepared.ptx" "$out"; echo "k.cu(1): warning #177-D: unused" >&2`)
	path := writeSource(t, "k.cu", goodKernel)
	opt := Options{
		Compiler: filepath.Join(dir, "bin", "nvcc"), Arch: "sm_90", Std: "c++17",
		Includes: []string{"inc dir"}, Systems: []string{"sys"},
		Defines: []string{"A=1"}, Undefines: []string{"B"}, Forced: []string{"f.h"}, CacheDir: testCache,
	}
	r, err := File(context.Background(), path, opt)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(r.PTX), ".entry k()") || r.Lang != CUDA || len(r.Warnings) != 1 ||
		r.Cached {
		t.Errorf("%+v", r)
	}
	args := func() string {
		b, err := os.ReadFile(filepath.Join(dir, "args"))
		if err != nil {
			t.Fatal(err)
		}
		return strings.ReplaceAll(string(b), "\n", "|")
	}
	got := args()
	for _, want := range []string{"-ptx|", "|-arch=sm_90|", "|-G|", "|-std=c++17|", "|-D|A=1|",
		"|-U|B|", "|-I|inc dir|", "|-isystem|sys|", "|-include|f.h|", "|-x|cu|" + path + "|"} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in %s", want, got)
		}
	}
	if strings.Contains(got, "-lineinfo") {
		t.Error("-lineinfo beside -G, of which nvcc warns")
	}
	opt.OptLevel = "3"
	if _, err := File(context.Background(), path, opt); err != nil {
		t.Fatal(err)
	}
	if got := args(); strings.Contains(got, "-G|") || !strings.Contains(got, "|-lineinfo|") {
		t.Errorf("a release build: %s", got)
	}
	opt.OptLevel = "1"
	if _, err := File(context.Background(), path, opt); err == nil ||
		!strings.Contains(err.Error(), "level 3") {
		t.Errorf("-O 1: %v", err)
	}

	// By its name: on PATH, and in a toolkit.
	t.Setenv("PATH", filepath.Join(dir, "bin")+string(filepath.ListSeparator)+os.Getenv("PATH"))
	if _, err := File(context.Background(), path,
		Options{Compiler: "nvcc", CacheDir: testCache}); err != nil {
		t.Errorf("on PATH: %v", err)
	}
	if found, err := findNVCC("nvcc", dir); err != nil || found != filepath.Join(dir, "bin", "nvcc") {
		t.Errorf("in a toolkit: %s, %v", found, err)
	}
}

// Positions refer to the file as the user named it, even if nvcc read a temporary one.
func TestNVCCPlaces(t *testing.T) {
	dir := fakeNVCC(
		t, `d=$(dirname "$0")/..; cp "$d/prepared.ptx" "$out"; echo ".file 1 \"$(tail -n 1 "$d/args")\"" >> "$out"`)
	opt := Options{Compiler: filepath.Join(dir, "bin", "nvcc")}
	results, err := Lower(context.Background(),
		Input{Name: "<stdin>", Content: []byte(goodKernel), Lang: CUDA}, opt)
	if err != nil || !strings.Contains(string(results[0].PTX), `.file 1 "<stdin>"`) {
		t.Errorf("%+v, %v", results, err)
	}
}

func TestNVCCFails(t *testing.T) {
	path := writeSource(t, "k.cu", goodKernel)
	dir := fakeNVCC(t, `echo "k.cu(3): error: expected a \";\"" >&2; exit 2`)
	var ce *CompileError
	if _, err := File(context.Background(), path,
		Options{Compiler: filepath.Join(dir, "bin", "nvcc")}); !errors.As(err, &ce) ||
		!strings.Contains(ce.Output, "k.cu(3): error") {
		t.Errorf("its message: %v", err)
	}
	dir = fakeNVCC(t, `true`)
	var te *ToolError
	if _, err := File(context.Background(), path,
		Options{Compiler: filepath.Join(dir, "bin", "nvcc")}); !errors.As(err, &te) {
		t.Errorf("no output: %v", err)
	}
	for compiler, cuda := range map[string]string{"/nowhere/nvcc": "", "nvcc": t.TempDir()} {
		var mt *MissingToolError
		_, err := File(context.Background(), path, Options{Compiler: compiler, CUDAPath: cuda})
		if !errors.As(err, &mt) || mt.Tool != "nvcc" ||
			!strings.Contains(err.Error(), "heddle's default, clang, needs no CUDA") {
			t.Errorf("%s: %v", compiler, err)
		}
	}
}

// The headers of a toolkit in --cuda-path replace heddle's. Without it, a toolkit on the include
// path is searched after heddle's headers.
func TestCUDAPathArgs(t *testing.T) {
	toolkit := t.TempDir()
	for _, d := range []string{"include", "nvvm/libdevice"} {
		if err := os.MkdirAll(filepath.Join(toolkit, d), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	inc := filepath.Join(toolkit, "include")
	writeFile(t, filepath.Join(inc, "cuda_runtime.h"), "")
	args := func(opt Options) string {
		b := &build{tc: &toolchain{Major: 19}, opt: opt, name: "k.cu", path: "k.cu", headers: "/h"}
		return strings.Join(b.clangArgs(), " ")
	}
	with := args(Options{CUDAPath: toolkit, Includes: []string{inc}})
	for _, absent := range []string{"-nocudainc", "-nocudalib", "/h/cuda", "/h/std", "/h/heddle",
		"-idirafter"} {
		if strings.Contains(with, absent) {
			t.Errorf("%s in %s", absent, with)
		}
	}
	if !strings.Contains(with, "--cuda-path="+toolkit) || !strings.Contains(with, "-I "+inc) {
		t.Error(with)
	}
	without := args(Options{Systems: []string{inc, "other"}})
	if !strings.Contains(without, "-idirafter "+inc) || !strings.Contains(without, "-isystem other") ||
		!strings.Contains(without, "-nocudainc") {
		t.Error(without)
	}
	_, err := File(context.Background(), writeSource(t, "k.cu", goodKernel),
		Options{CUDAPath: t.TempDir()})
	if err == nil || !strings.Contains(err.Error(), "include/cuda_runtime.h not found") {
		t.Errorf("no toolkit: %v", err)
	}
}
