package launch

import (
	"testing"

	"heddle/internal/source"
)

// A cooperative launch is read like any other if its array of arguments is plain.
func TestCooperativeLaunch(t *testing.T) {
	const kernel = "__global__ void k(float *a, int n) {}\n"
	for _, c := range []struct {
		name, host string
		grid       int64 // 0: the launch is not understood
	}{
		{"plain", "void *args[] = {&d, &n};\n" +
			"cudaLaunchCooperativeKernel((void *)k, n / 256, 256, args);", 4},
		{"shared memory and stream", "void *args[] = {&d, (void *)&n};\n" +
			"cudaLaunchCooperativeKernel((const void *)k, dim3(3), dim3(256), args, 16, 0);", 3},
		{"two launches", "void *args[2] = {&d, &n};\ncudaLaunchCooperativeKernel(k, 2, 256, args);\n" +
			"cudaLaunchCooperativeKernel(k, 5, 256, args);", 2},
		{"not cooperative", "void *args[] = {(void *)&d, (void *)&n};\n" +
			"cudaLaunchKernel((const void *)&k, dim3(6), dim3(256), args, 0, 0);", 6},
		{"not cooperative, changed array", "void *args[] = {&d, &n};\nargs[1] = &d;\n" +
			"cudaLaunchKernel((void *)k, 4, 256, args);", 0},
		{"by a configuration", "void *args[] = {&d, &n};\ncudaLaunchConfig_t c = {};\n" +
			"cudaLaunchKernelExC(&c, (void *)k, args);", 0},
		{"changed array", "void *args[] = {&d, &n};\nargs[1] = &d;\n" +
			"cudaLaunchCooperativeKernel((void *)k, 4, 256, args);", 0},
		{"array of a caller", "cudaLaunchCooperativeKernel((void *)k, 4, 256, args);", 0},
		{"not an address", "void *args[] = {d, &n};\n" +
			"cudaLaunchCooperativeKernel((void *)k, 4, 256, args);", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := kernel + "int main() {\nint n = 1024;\nfloat *d;\ncudaMalloc(&d, n * sizeof(float));\n" +
				c.host + "\n}\n"
			set := source.NewSet()
			f, err := set.Add("k.cu", []byte(text))
			if err != nil {
				t.Fatal(err)
			}
			facts := ScanCUDA(f, nil)
			if c.grid == 0 {
				if n := len(facts.Launches); n != 0 {
					t.Errorf("%d launches", n)
				}
				return
			}
			if len(facts.Launches) == 0 {
				t.Fatal("no launch")
			}
			l := facts.Launches[0]
			grid, _ := l.Grid[0].Constant()
			n, known := l.Args[1].Value.Constant()
			if l.Kernel != "k" || grid != c.grid || !known || n != 1024 || l.Args[0].Pointer == nil {
				t.Errorf("%s, grid %d, n %d: %+v", l.Kernel, grid, n, l.Args)
			}
		})
	}
}
