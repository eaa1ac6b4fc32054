package lower

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"empty.cu": "", "blank.cu": " \n\n", "junk.cu": "\x7fELF\x02\x01\x00\x00\x00", "empty.ptx": "",
		"k.py": "x", "k.txt": "x", "noext": "x",
	} {
		writeFile(t, filepath.Join(dir, name), text)
	}
	if err := os.Mkdir(filepath.Join(dir, "dir.cu"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"empty.cu":   "the file is empty",
		"blank.cu":   "the file is empty",
		"empty.ptx":  "the file is empty",
		"junk.cu":    "not source text: byte 6 is NUL",
		"missing.cu": "no such file",
		"dir.cu":     "is a directory",
		"k.py":       "heddle reads the PTX that Triton or CuTe DSL makes from Python",
		"k.txt":      "unknown file extension .txt; specify the language with --lang",
		"noext":      "no file extension",
	} {
		_, err := File(context.Background(), filepath.Join(dir, name), Options{CacheDir: testCache})
		var ie *InputError
		if !errors.As(err, &ie) || !strings.Contains(err.Error(), want) ||
			!strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v, want an InputError that says %q", name, err, want)
		}
	}
}

func TestBadOptions(t *testing.T) {
	path := writeSource(t, "k.cu", goodKernel)
	for _, c := range []struct {
		opt  Options
		want string
	}{
		{Options{OptLevel: "9"}, "-O 9: expected 1, 2 or 3"},
		{Options{Arch: "gfx90a"}, "-arch gfx90a: expected sm_NN"},
		{Options{Compiler: "no-such-clang"}, "compiler no-such-clang not found; install it with: "},
		{Options{Compiler: "/bin/sh"}, "/bin/sh"},
	} {
		c.opt.CacheDir = testCache
		_, err := File(context.Background(), path, c.opt)
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%+v: got %v, want one line with %q", c.opt, err, c.want)
		}
	}
}

// Without a compiler the message is one line that names the packages.
func TestNoCompiler(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := File(context.Background(), writeSource(t, "k.cu", goodKernel),
		Options{CacheDir: t.TempDir()})
	var mt *MissingToolError
	if !errors.As(err, &mt) || !strings.Contains(err.Error(), "llvm") ||
		strings.Contains(err.Error(), "\n") {
		t.Errorf("got %v, want a one-line MissingToolError that names packages", err)
	}
}

// A PTX file is not changed; the facts at its head are parsed.
func TestPTXPassesThrough(t *testing.T) {
	text := "// heddle.kernel _Z1kPii 3 17 a dir/k.cu\r\n// heddle.param _Z1kPii 0 p ptr ptr\n// heddle.param _Z1kPii 1 s val [24 x i8]\n// heddle.param _Z1kPii 7 bad val i32\n// heddle.param nobody 0 x val i32\n// heddle.kernel\n.version 7.5\n// heddle.kernel late 1 1 x\n"
	path := writeSource(t, "k.ptx", text)
	r, err := File(context.Background(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if string(r.PTX) != text || r.Name != path || r.Cached {
		t.Errorf("name %q, text %q", r.Name, r.PTX)
	}
	if len(r.Kernels) != 1 || r.Kernels[0].Demangled != "k(int*, int)" ||
		len(r.Kernels[0].Params) != 2 ||
		!r.Kernels[0].Params[0].Pointer || r.Kernels[0].Params[1] != (Param{"s", false, "[24 x i8]"}) {
		t.Errorf("kernels %+v", r.Kernels)
	}
}

// A second run starts no process. It notices a change of the file, of its includes, or of an
// option, and ignores a damaged entry.
func TestCache(t *testing.T) {
	compiler := compilers(t)[0]
	dir, cache := t.TempDir(), t.TempDir()
	header, file := filepath.Join(dir, "v.h"), filepath.Join(dir, "k.cu")
	writeFile(t, header, "#define V 11\n")
	writeFile(t, file, "#include \"v.h\"\n__global__ void k(int *p) { p[0] = V; }\n")
	opt := Options{Compiler: compiler, CacheDir: cache}
	lower := func(want string, cached bool) {
		t.Helper()
		r, err := File(context.Background(), file, opt)
		if err != nil {
			t.Fatal(err)
		}
		if r.Cached != cached {
			t.Errorf("cached: %v, want %v", r.Cached, cached)
		}
		if !bytes.Contains(r.PTX, []byte(want)) {
			t.Errorf("no %q in\n%s", want, r.PTX)
		}
		if len(r.Kernels) != 1 {
			t.Errorf("kernels %v", r.Kernels)
		}
	}
	lower("%r1, 11;", false)
	lower("%r1, 11;", true)
	writeFile(t, header, "#define V 12\n") // same size, perhaps the same time
	lower("%r1, 12;", false)
	lower("%r1, 12;", true)
	opt.Defines = []string{"W=1"}
	lower("%r1, 12;", false)
	opt.Defines = nil
	opt.NoCache = true
	lower("%r1, 12;", false)
	opt.NoCache = false
	entries, err := filepath.Glob(filepath.Join(cache, "ptx-*"))
	if err != nil || len(entries) != 2 {
		t.Fatalf("entries %v, %v", entries, err)
	}
	for _, e := range entries {
		b, err := os.ReadFile(e)
		if err != nil {
			t.Fatal(err)
		}
		b[len(b)-5] ^= 1
		writeFile(t, e, string(b))
	}
	lower("%r1, 12;", false)
	if err := os.Truncate(entries[0], 10); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(entries[1], 0); err != nil {
		t.Fatal(err)
	}
	lower("%r1, 12;", false)
	lower("%r1, 12;", true)
	if left, _ := filepath.Glob(filepath.Join(cache, "*tmp*")); len(left) != 0 {
		t.Errorf("temporary files remain: %v", left)
	}
}

// A cache directory that is not writable costs time, and nothing else.
func TestUnwritableCache(t *testing.T) {
	compiler := compilers(t)[0]
	notDir := filepath.Join(t.TempDir(), "file")
	writeFile(t, notDir, "x")
	r, err := File(context.Background(), writeSource(t, "k.cu", goodKernel),
		Options{Compiler: compiler, CacheDir: notDir})
	if err != nil || len(r.Kernels) != 1 {
		t.Errorf("got %v, %v", r, err)
	}
}

// No temporary file remains after a run that succeeds, fails or is cancelled.
func TestNoTemporaryFiles(t *testing.T) {
	compiler := compilers(t)[0]
	tmp := t.TempDir()
	good := writeSource(t, "k.cu", goodKernel+"int main() { nope(); }")
	bad := writeSource(t, "k.cu", "__global__ void k() { nope(); }")
	t.Setenv("TMPDIR", tmp)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	for _, run := range []struct {
		ctx  context.Context
		file string
	}{{context.Background(), good}, {context.Background(), bad}, {cancelled, good}} {
		_, _ = File(run.ctx, run.file, Options{Compiler: compiler, NoCache: true})
	}
	if left, _ := os.ReadDir(tmp); len(left) != 0 {
		t.Errorf("temporary files remain: %v", left)
	}
}

// Cancelling kills a compiler that hangs, and its children.
func TestCancel(t *testing.T) {
	real, err := findToolchain(context.Background(), compilers(t)[0], &probeCache{testCache})
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	script := "#!/bin/sh\nif [ \"$1\" = --version ]; then exec " + real.Clang +
		" --version; fi\nsleep 60 | cat\n"
	fake := filepath.Join(dir, "clang")
	if err := os.WriteFile(fake, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = File(ctx, writeSource(t, "k.cu", goodKernel),
		Options{Compiler: fake, CacheDir: testCache})
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want %v", err, context.DeadlineExceeded)
	}
	if d := time.Since(start); d > 5*time.Second {
		t.Errorf("took %v to stop", d)
	}
}

// Options reach the compiler, and files keep the names that the user gave.
func TestOptionsPassThrough(t *testing.T) {
	compiler := compilers(t)[0]
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "inc dir"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "inc dir", "my.h"), "#define FROM_HEADER 5\n")
	writeFile(t, filepath.Join(dir, "k.cu"),
		"#include <my.h>\n#if __cplusplus < 202002L\n#error std\n#endif\n#if __CUDA_ARCH__ != 700\n#error arch\n#endif\n__global__ void k(int *p) { p[VAL] = FROM_HEADER; }\n")
	t.Chdir(dir)
	r, err := File(context.Background(), "k.cu",
		Options{Compiler: compiler, CacheDir: testCache, Arch: "sm_70", Std: "c++20",
			Includes: []string{"inc dir"}, Defines: []string{"VAL=9"}, Args: []string{"-DUNUSED"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{".target sm_70", `.file 1 "k.cu"`, "+36]",
		"heddle.kernel _Z1kPi 8 17 k.cu\n"} {
		if !bytes.Contains(r.PTX, []byte(want)) {
			t.Errorf("no %q in\n%s", want, r.PTX)
		}
	}
}

const benchSource = "#include <cuda_runtime.h>\n#include <stdio.h>\n" + goodKernel +
	"int main() { good<<<1, 32>>>(0); printf(\"x\"); }\n"

// BenchmarkCold compiles a small file that no run has seen, with the prelude precompiled by an
// earlier one.
func BenchmarkCold(b *testing.B) {
	dir, n := b.TempDir(), 0
	lower := func() {
		path := filepath.Join(dir, fmt.Sprintf("k%d.cu", n))
		n++
		if err := os.WriteFile(path, []byte(benchSource), 0o644); err != nil {
			b.Fatal(err)
		}
		if r, err := File(context.Background(), path, Options{CacheDir: testCache}); err != nil ||
			r.Cached {
			b.Fatal(err)
		}
	}
	lower()
	for b.Loop() {
		lower()
	}
}

// BenchmarkNoCache is the same without any cache: the very first run.
func BenchmarkNoCache(b *testing.B) {
	benchmarkFile(b, Options{NoCache: true})
}

// BenchmarkWarm finds the result in the cache.
func BenchmarkWarm(b *testing.B) {
	benchmarkFile(b, Options{CacheDir: testCache})
}

func benchmarkFile(b *testing.B, opt Options) {
	path := filepath.Join(b.TempDir(), "k.cu")
	if err := os.WriteFile(path, []byte(benchSource), 0o644); err != nil {
		b.Fatal(err)
	}
	lower := func() {
		if _, err := File(context.Background(), path, opt); err != nil {
			b.Fatal(err)
		}
	}
	lower()
	for b.Loop() {
		lower()
	}
}

// Results without the host code that does not compile are cached, with their warnings and the
// kernels that were left out. They are stale as soon as a header that was missing is there, or an
// included file from which something was removed has changed.
func TestCacheOfRecovered(t *testing.T) {
	compiler := compilers(t)[0]
	dir := t.TempDir()
	header, file := filepath.Join(dir, "host.h"), filepath.Join(dir, "k.cu")
	writeFile(t, header, "inline int helper() { return unknown1(); }\n#define V 11\n")
	writeFile(t, file, "#include <missing/lib.h>\n#include \"host.h\"\n"+
		"__global__ void k(int *p) { p[0] = V; }\n"+
		"__global__ void broken(int *p) { p[0] = nope(); }\n"+
		"int main() { return library(); }\n")
	opt := Options{Compiler: compiler, CacheDir: t.TempDir(), Includes: []string{dir}}
	var last *Result
	lower := func(step, want string, cached bool) {
		t.Helper()
		r, err := File(context.Background(), file, opt)
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
		if r.Cached != cached || !bytes.Contains(r.PTX, []byte(want)) {
			t.Errorf("%s: cached %v, want %v; %q in the PTX: %v", step, r.Cached, cached, want,
				bytes.Contains(r.PTX, []byte(want)))
		}
		if len(r.Omitted) != 1 || !strings.HasPrefix(r.Omitted[0].Demangled, "broken") {
			t.Errorf("%s: omitted %v", step, r.Omitted)
		}
		if last == nil {
			last = r
		}
		if cached && !slices.Equal(r.Warnings, last.Warnings) {
			t.Errorf("%s: warnings %q, before %q", step, r.Warnings, last.Warnings)
		}
		last = r
	}
	lower("first", "%r1, 11;", false)
	if len(last.Warnings) != 3 { // the header, helper and main
		t.Errorf("warnings %q", last.Warnings)
	}
	lower("again", "%r1, 11;", true)
	writeFile(t, header, "inline int helper() { return unknown2(); }\n#define V 12\n")
	lower("edited header", "%r1, 12;", false)
	lower("edited header again", "%r1, 12;", true)
	if err := os.Mkdir(filepath.Join(dir, "missing"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(dir, "missing", "lib.h"), "inline int library() { return 0; }\n")
	lower("installed", "%r1, 12;", false)
	if len(last.Warnings) != 1 {
		t.Errorf("warnings with the library: %q", last.Warnings)
	}
	lower("installed, again", "%r1, 12;", true)
}
