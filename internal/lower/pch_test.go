package lower

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The first compilation leaves a mark, the second precompiles the prelude, the third uses it: all
// give the same PTX. A precompiled prelude that clang rejects is removed.
func TestPrelude(t *testing.T) {
	compiler := compilers(t)[0]
	cache := t.TempDir()
	path := writeSource(t, "k.cu", goodKernel)
	compile := func() string {
		t.Helper()
		old, _ := filepath.Glob(filepath.Join(cache, "ptx-*"))
		for _, f := range old {
			if err := os.Remove(f); err != nil {
				t.Fatal(err)
			}
		}
		r, err := File(context.Background(), path, Options{Compiler: compiler, CacheDir: cache})
		if err != nil || r.Cached {
			t.Fatalf("%+v, %v", r, err)
		}
		return string(r.PTX)
	}
	size := func() int64 {
		t.Helper()
		found, _ := filepath.Glob(filepath.Join(cache, "pch-*"))
		if len(found) != 1 {
			t.Fatalf("precompiled: %q", found)
		}
		fi, err := os.Stat(found[0])
		if err != nil {
			t.Fatal(err)
		}
		return fi.Size()
	}
	first := compile()
	if n := size(); n != 0 {
		t.Errorf("after the first: %d bytes, want a mark", n)
	}
	second := compile()
	if n := size(); n < 10_000 {
		t.Errorf("after the second: %d bytes, want the precompiled prelude", n)
	}
	if third := compile(); first != second || second != third {
		t.Error("the PTX differs")
	}
	found, _ := filepath.Glob(filepath.Join(cache, "pch-*"))
	writeFile(t, found[0], "not precompiled")
	if compile() != first {
		t.Error("the PTX differs with a broken precompiled prelude")
	}
	if found, _ := filepath.Glob(filepath.Join(cache, "pch-*")); len(found) != 0 {
		t.Errorf("a broken one is still there: %q", found)
	}
}

// TestPreludeOfCopy: the PTX is that without a cache, also if the cache is a copy of the one for
// which the prelude was precompiled, or if its directory has another name as well. Otherwise heddle
// would find the code of its own headers at places in those headers.
func TestPreludeOfCopy(t *testing.T) {
	compiler := compilers(t)[0]
	compile := func(comment string, opt Options) string {
		t.Helper()
		opt.Compiler = compiler
		r, err := File(context.Background(), writeSource(t, "k.cu",
			"__global__ void k(int *p) { if (*p == 1) __trap(); }\n// "+comment+"\n"), opt)
		if err != nil || r.Cached {
			t.Fatalf("%+v, %v", r, err)
		}
		_, code, _ := strings.Cut(string(r.PTX), "\n.visible") // behind the path of the source
		return code
	}
	want := compile("", Options{NoCache: true})
	first := t.TempDir()
	for _, what := range []string{"text", "text, and precompiled", "precompiled"} {
		if got := compile(what, Options{CacheDir: first}); got != want {
			t.Errorf("prelude as %s: %s\nwant: %s", what, got, want)
		}
	}
	link, duplicate := filepath.Join(t.TempDir(), "link"), t.TempDir()
	if err := os.Symlink(first, link); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("cp", "-a", first+"/.", duplicate).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	for _, dir := range []string{link, duplicate} {
		if got := compile(dir, Options{CacheDir: dir}); got != want {
			t.Errorf("%s for %s: %s\nwant: %s", dir, first, got, want)
		}
	}
}

// TestPreludeOfCXX20: a file that needs C++20 gets the prelude as text, also behind an attempt as
// C++17 with the precompiled one: clang takes its overloads for host and device for two definitions
// in C++20, and crashed at a delete expression after that.
func TestPreludeOfCXX20(t *testing.T) {
	opt := Options{Compiler: compilers(t)[0], CacheDir: t.TempDir()}
	for i := range 4 {
		src := fmt.Sprintf("#include <span>\ntemplate <class T> concept any = true;\n"+
			"__global__ void k%d(any auto *p) { *p = min(2.f, 3.f); delete p; }\n"+
			"template __global__ void k%d<float>(float *);\nint main() { missing(); try { delete new int; } catch (...) {} }\n", i, i)
		r, err := File(context.Background(), writeSource(t, "k.cu", src), opt)
		if err != nil || len(r.Kernels) != 1 {
			t.Fatalf("compilation %d: %+v, %v", i, r, err)
		}
		plain, err := File(context.Background(), writeSource(t, "p.cu",
			fmt.Sprintf("__global__ void p(int *p) { *p = %d; }", i)), opt)
		if err != nil || len(plain.Kernels) != 1 {
			t.Fatalf("C++17, compilation %d: %+v, %v", i, plain, err)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(opt.CacheDir, "pch-*")); len(found) != 1 {
		t.Errorf("precompiled: %q, want one for C++17", found)
	}
}
