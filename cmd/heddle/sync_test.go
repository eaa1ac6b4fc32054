package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// syncPatches are sources with their patched forms, by file: the lines that may change are those in which a barrier comes
// to stand, and nothing else does, line ends, tabs and what follows the last brace included.
var syncPatches = []struct {
	name, input   string
	before, after map[string]string
}{
	{"line ends of Windows, tabs, trailing text", "crlf.cu",
		map[string]string{"crlf.cu": "// heddle: grid=1 block=64\r\n__global__ void k(int *A)\r\n{\r\n\tint tid = threadIdx.x;\r\n\tint x = A[tid + 1];\r\n\tA[tid] = x;\r\n}\r\n\t \r\n// end"},
		map[string]string{"crlf.cu": "// heddle: grid=1 block=64\r\n__global__ void k(int *A)\r\n{\r\n\tint tid = threadIdx.x;\r\n\tint x = A[tid + 1];\r\n\t__syncthreads();\r\n\tA[tid] = x;\r\n}\r\n\t \r\n// end"}},
	// A condition counts half, so the barrier goes where it is proved that all threads come to it.
	{"a macro around the statement that races", "macro.cu",
		map[string]string{"macro.cu": "#define STORE(i, v) \\\n    do { A[i] = v; } while (0)\n// heddle: grid=1 block=64\n__global__ void k(int *A)\n{\n\tint tid = threadIdx.x;\n\tint x = A[tid + 1];\n\tfor (int i = 0; i < 2; i++)\n\t\tSTORE(tid + i, x);\n}\n"},
		map[string]string{"macro.cu": "#define STORE(i, v) \\\n    do { A[i] = v; } while (0)\n// heddle: grid=1 block=64\n__global__ void k(int *A)\n{\n\tint tid = threadIdx.x;\n\tint x = A[tid + 1];\n\tfor (int i = 0; i < 2; i++) {\n\t\t__syncthreads();\n\t\tSTORE(tid + i, x);\n\t}\n}\n"}},
	{"two kernels", "two.cu",
		map[string]string{"two.cu": "// heddle: grid=1 block=64\n__global__ void a(int *A)\n{\n    int x = A[threadIdx.x + 1];\n    A[threadIdx.x] = x;\n}\n\n// heddle: grid=1 block=64\n__global__ void b(int *A)\n{\n    int x = A[threadIdx.x + 1]; A[threadIdx.x] = x;\n}\n"},
		map[string]string{"two.cu": "// heddle: grid=1 block=64\n__global__ void a(int *A)\n{\n    int x = A[threadIdx.x + 1];\n    __syncthreads();\n    A[threadIdx.x] = x;\n}\n\n// heddle: grid=1 block=64\n__global__ void b(int *A)\n{\n    int x = A[threadIdx.x + 1]; __syncthreads(); A[threadIdx.x] = x;\n}\n"}},
	{"a kernel in a header", "main.cu",
		map[string]string{"main.cu": "#include \"inc/body.h\"\nint main() { return 0; }\n", "inc/body.h": "// heddle: grid=1 block=64\n__global__ void k(int *A)\n{\n    int x = A[threadIdx.x + 1];\n    A[threadIdx.x] = x;\n}\n"},
		map[string]string{"main.cu": "#include \"inc/body.h\"\nint main() { return 0; }\n", "inc/body.h": "// heddle: grid=1 block=64\n__global__ void k(int *A)\n{\n    int x = A[threadIdx.x + 1];\n    __syncthreads();\n    A[threadIdx.x] = x;\n}\n"}},
}

// What sync prints is a patch that `patch -p1` and `git apply` take, with one and the same outcome, which is what -w writes;
// and the patched program, headers included, is verified in the same run.
func TestSyncPatches(t *testing.T) {
	if !hasClang() {
		t.Skip("no clang")
	}
	for _, c := range syncPatches {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			write := func() {
				for name, text := range c.before {
					if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
						t.Fatal(err)
					}
				}
			}
			compare := func(how string) {
				for name, want := range c.after {
					if got, err := os.ReadFile(name); err != nil || string(got) != want {
						t.Errorf("%s: %s is %v\n%q, want\n%q", how, name, err, got, want)
					}
				}
			}
			write()
			var stdout, stderr bytes.Buffer
			if code := run([]string{"sync", c.input}, strings.NewReader(""), &stdout, &stderr); code != 0 {
				t.Fatalf("exit code %d\n%s", code, stderr.String())
			}
			if n, want := strings.Count(stderr.String(), "\n  verified: "), strings.Count(stderr.String(), "synchronized: "); n != want || n == 0 {
				t.Errorf("%d of %d kernels verified:\n%s", n, want, stderr.String())
			}
			for _, tool := range [][]string{{"patch", "-p1", "--binary"}, {"git", "apply", "-p1"}} {
				if _, err := exec.LookPath(tool[0]); err != nil {
					continue
				}
				write()
				cmd := exec.Command(tool[0], tool[1:]...)
				cmd.Stdin = bytes.NewReader(stdout.Bytes())
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Errorf("%v: %v\n%s%s", tool, err, out, stdout.String())
				}
				compare(tool[0])
			}
			write()
			if code := run([]string{"sync", "-w", c.input}, strings.NewReader(""), &stdout, &stderr); code != 0 {
				t.Fatalf("-w: exit code %d\n%s", code, stderr.String())
			}
			compare("-w")
		})
	}
}
