package lower

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// annotated uses every form of heddle.h at least once, in text that is both C and CUDA C++.
const annotated = `#include "heddle.h"
#include <assert.h>
DECLARE_UF_BINARY(between, int, int, int);
__axiom(1 + 1 == 2);
KERNEL void k(int *p, int n) {
  __requires(n == 4); __global_requires(n > 0); __assume(__is_pow2(n)); __requires_fresh_array(p);
  __ensures(__return_val_int() == __old_int(n)); __global_ensures(1); __reads_from(p); __writes_to(p);
  __function_wide_invariant(n > 0); __function_wide_candidate_invariant(n > 1); __array_snapshot(p, p);
  __read_permission(int, p[0]); __write_permission(int, p[0]);
  for (int i = 0; __invariant(__uniform_int(i) & __implies(__enabled(), __distinct_int(i))), __global_invariant(i < 9),
       __candidate_invariant(i < 4), __candidate_global_invariant(i < 5), i < 4; i++)
    p[i] = __mod_pow2(i, 4) + __ite(i > 2, 1, 2) + __add_noovfl_int(i, 1) + (__add_noovfl(i, 1, 2) ? 1 : 0);
  __assert(__read_implies(p, __read_offset_bytes(p) == 0) & __write_implies(p, __write_offset_bytes(p) == 0));
  __global_assert(__no_read(p) | __no_write(p) | __same_group | __all(n > 0) | __exclusive(n == 1));
  __assert(__other_bool(n > 0) | (__ptr_base(p) == 0) | (__ptr_offset_bytes(p) == 0) | __atomic_has_taken_value(p, 0, 1));
  __barrier_invariant_3(p[0] == 1, 0, 1, 2); __barrier_invariant_binary_1(p[0] == 1, 0, 1);
  assert(n); p[0] = n;
}
`

// For other compilers the annotations are empty: the file compiles without warnings and without
// calls.
func TestAnnotationsElsewhere(t *testing.T) {
	clang := compilers(t)[0]
	dir := t.TempDir()
	for _, lang := range []string{"c", "c++"} {
		for _, std := range map[string][]string{"c": {"c11"}, "c++": {"c++14", "c++20"}}[lang] {
			file := filepath.Join(dir, "k."+lang)
			if err := os.WriteFile(file, []byte(annotated), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(clang, "-x", lang, "-std="+std, "-Wall", "-Wextra", "-Werror", "-DKERNEL=",
				"-DNDEBUG", "-I", "headers/api", "-S", "-emit-llvm", "-O0", "-o", "-", file)
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("%s: %v\n%s", std, err, out)
			}
			if regexp.MustCompile(`@__heddle|call .*__assert|heddle_axiom`).Match(out) {
				t.Errorf("%s: something is left:\n%s", std, out)
			}
		}
	}
}

// heddle compiles every annotation to calls in the PTX, whose names the engines interpret.
func TestAnnotationsSurvive(t *testing.T) {
	want := strings.Fields(`ghost assert assume requires ensures invariant candidate function_wide barrier_invariant instance permission
		read write read_offset write_offset ptr_base ptr_offset fresh reads_from writes_to snapshot
		enabled same_group all exclusive uniform distinct other old return taken`)
	for _, ext := range []string{".cu", ".cl"} {
		t.Run(ext, func(t *testing.T) {
			text := strings.ReplaceAll(annotated, "KERNEL", `__global__`)
			if ext == ".cl" {
				text = strings.ReplaceAll(annotated, "KERNEL", `__kernel`)
				text = strings.ReplaceAll(text, "int *p", "__global int *p")
				text = strings.ReplaceAll(strings.ReplaceAll(text, "#include <assert.h>\n", ""), "assert(n);",
					"")
			}
			file := filepath.Join(t.TempDir(), "k"+ext)
			if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
			res, err := File(t.Context(), file, Options{Compiler: compilers(t)[0], CacheDir: testCache})
			if err != nil {
				t.Fatal(err)
			}
			for _, name := range want {
				if !regexp.MustCompile(`(?m)^\s*__heddle_` + name + `(_global)?, *$`).Match(res.PTX) {
					t.Errorf("no call of __heddle_%s", name)
				}
			}
			if !strings.Contains(string(res.PTX), "__heddle_axiom_") {
				t.Error("the axiom is missing")
			}
		})
	}
}
