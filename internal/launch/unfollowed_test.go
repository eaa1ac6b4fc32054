package launch

import (
	"testing"

	"heddle/internal/ir"
	"heddle/internal/source"
)

// A kernel's name is used in a launch that is understood, in declarations, or in a way that may
// launch it otherwise.
func TestUnfollowed(t *testing.T) {
	const kernel = "namespace n { template <int N> __global__ void work(int *a) { a[0] = N; } }\n"
	for _, c := range []struct {
		name, text string
		line       int // of the use; 0: none
	}{
		{"a launch", "void f(int *a) { n::work<2><<<1, 32>>>(a); }\n", 0},
		{"two launches", "void f(int *a) { n::work<2><<<1, 32>>>(a);\nn::work<2><<<2, 64>>>(a); }\n", 0},
		{"a declaration", "template <int N> __global__ void work(int *a);\n", 0},
		{"a comment and a string", "// work\nconst char *s = \"work\";\n", 0},
		{"another name", "void f() { int workers = 1, homework = 2; }\n", 0},
		{"a pointer", "void (*p)(int *) = n::work<2>;\n", 2},
		{"a call of the runtime", "void f(void **a) {\n  cudaLaunchKernel((void *)n::work<2>, 1, 32, a, 0, 0);\n}\n", 3},
		{"an argument of a template", "template <void (*K)(int *)> void run();\nvoid f() { run<n::work<2>>(); }\n", 3},
		{"a macro", "#define RUN work\n", 2},
	} {
		set := source.NewSet()
		file, err := set.Add("k.cu", []byte(kernel+c.text))
		if err != nil {
			t.Fatal(err)
		}
		facts := Scan(file, nil)
		k := &ir.Func{Kernel: true, Name: "_ZN1n4workILi2EEEvPi", Demangled: "void n::work<2>(int*)"}
		if got := Unfollowed(k, file, facts).Line(); got != c.line {
			t.Errorf("%s: line %d, want %d", c.name, got, c.line)
		}
	}
}
