package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCompile counts a directory in which one file compiles by the flags of its Makefile, one has a
// kernel that does not compile, one needs a header of another program, one is part of another file,
// one has no kernel, and one does not compile and has its kernels in a header, if it has any.
func TestCompile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"Makefile":   "CFLAGS = -O2 -DWIDTH=4 -Iinc $(EXTRA) -I$(X) # -DNOT\n",
		"inc/w.h":    "typedef int word;\n",
		"good.cu":    "#include <w.h>\n#include \"part.cu\"\n__global__ void k(word *p) { p[0] = WIDTH + two(); }\n",
		"part.cu":    "__device__ word two() { return 2; }\n__global__ void q(word *p) { p[0] = 1; }\n",
		"half.cu":    "__global__ void a(int *p) { p[0] = 1; }\n__global__ void b(int *p) { p[0] = nothing; }\n",
		"refused.cu": "__global__ void c(strange *p) { p[0] = 1; }\n",
		"host.cu":    "int main() { return 0; }\n",
		"away.cu":    "#include \"away.h\"\nint main() { return 0; }\n",
		"away.h":     "__global__ void d(strange *p) { p[0] = 1; }\n",
	} {
		file := filepath.Join(dir, name)
		if os.MkdirAll(filepath.Dir(file), 0o700) != nil ||
			os.WriteFile(file, []byte(text), 0o600) != nil {
			t.Fatal(name)
		}
	}
	var out, errs bytes.Buffer
	code := run([]string{"-suite", "dir", "-engine", "compile", "-j", "1", dir}, &out, &errs)
	for _, want := range []string{
		"files with kernels                            3\n",
		"all kernels compiled                          1  33.3%",
		"some kernels refused                          1  33.3%",
		"file refused                                  1  33.3%",
		"kernels compiled                              3  75.0%",
		"files without kernels                         1\n",
		"files refused, without kernels in their text  1  25.0% with them",
		"parts of other files                          1\n",
		"1  use of undeclared identifier 'nothing' (half.cu)",
		"1  compiler: unknown type name 'strange' (refused.cu)",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("no %q in\n%s%s", want, out.String(), errs.String())
		}
	}
	if code != 1 {
		t.Errorf("exit code %d, want 1", code)
	}
}
