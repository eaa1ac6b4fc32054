package lower

import (
	"context"
	"os"
	"path/filepath"
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
