package exec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"heddle/internal/testing/program"
)

// pointers are two files that are compiled separately (nvcc -rdc=true). Kernels of the first one
// call functions of the second through a variable of the second, through one of their own, and
// through one to which the host has copied the address that another one holds.
var pointers = [2]string{`#include <cstdio>
typedef int (*op)(int);
extern __device__ op theirs;
extern __device__ int twice(int), thrice(int);
__device__ op mine = twice, other = thrice, changed = twice;
__device__ op both[2] = {thrice, twice};
__global__ void by_theirs(int *p) { p[threadIdx.x] = theirs(threadIdx.x); }
__global__ void by_mine(int *p) { p[threadIdx.x] = mine(threadIdx.x); }
__global__ void by_changed(int *p) { p[threadIdx.x] = changed(threadIdx.x); }
__global__ void by_both(int *p) { p[threadIdx.x] = both[threadIdx.x % 2](threadIdx.x); }
int main() {
  int *p, h[32];
  op f;
  cudaMalloc(&p, 128);
  cudaMemcpyFromSymbol(&f, other, sizeof f);
  cudaMemcpyToSymbol(changed, &f, sizeof f);
  void (*kernels[])(int *) = {by_theirs, by_mine, by_changed, by_both};
  for (auto k : kernels) {
    k<<<1, 32>>>(p);
    cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost);
    printf("%d %d, ", h[4], h[5]);
  }
  printf("%s\n", cudaGetErrorString(cudaGetLastError()));
}
`, `typedef int (*op)(int);
__device__ int twice(int i) { return 2 * i; }
__device__ int thrice(int i) { return 3 * i; }
__device__ int squared(int i) { return i * i; }
__device__ op theirs = squared;
`}

// sources writes texts to a.cu, b.cu and so on, and returns these files.
func sources(t *testing.T, texts ...string) []string {
	t.Helper()
	dir := t.TempDir()
	var files []string
	for i, text := range texts {
		f := filepath.Join(dir, fmt.Sprintf("%c.cu", 'a'+i))
		if err := os.WriteFile(f, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

// TestPointersOfOtherFiles: a pointer to a device function means the same in all files.
func TestPointersOfOtherFiles(t *testing.T) {
	got := start(t, []string{program.Build(t, sources(t, pointers[:]...)...)}, nil)
	const want = "16 25, 8 10, 12 15, 12 10, no error\n"
	if got.stdout != want || got.Exit() != 0 {
		t.Errorf("output %q, exit code %d, verdicts %+v; want %q", got.stdout, got.Exit(),
			got.Verdicts, want)
	}
}

// TestFunctionsOfOtherFiles: files with nothing but device functions, which clang does not register
// by itself, are part of the program.
func TestFunctionsOfOtherFiles(t *testing.T) {
	texts := []string{`#include <cstdio>
extern __device__ int twice(int), plus(int);
__global__ void k(int *p) { p[threadIdx.x] = twice(plus(threadIdx.x)); }
int main() {
  int *p, h[32];
  cudaMalloc(&p, 128);
  k<<<1, 32>>>(p);
  cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost);
  printf("%d %d\n", h[4], h[5]);
}
`, `extern __device__ int plus(int);
__device__ int twice(int i) { return plus(2 * i) - 1; }
`, `__device__ int plus(int i) { return i + 1; }
void unused() {}
`}
	got := start(t, []string{program.Build(t, sources(t, texts...)...)}, nil)
	if got.stdout != "10 12\n" || got.Exit() != 0 {
		t.Errorf("output %q, exit code %d, verdicts %+v", got.stdout, got.Exit(), got.Verdicts)
	}
}

// TestFunctionsBesideKernels: a file may call any function of another file that is not static:
// one that the kernels of that file call and that is inlined there, one that they do not need, and
// one that calls a static function. A function that llc rejects, here for a computed goto, does not
// keep the kernels of its file from running.
func TestFunctionsBesideKernels(t *testing.T) {
	texts := []string{`#include <cstdio>
__device__ int twice(int), plus(int), square(int);
__global__ void k(int *p) { p[threadIdx.x] = square(twice(plus(threadIdx.x))); }
__global__ void other(int *);
__global__ void fourth(int *);
int main() {
  int *p, h[32];
  cudaMalloc(&p, 128);
  k<<<1, 32>>>(p);
  cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost);
  printf("%d %d, ", h[4], h[5]);
  other<<<1, 32>>>(p);
  cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost);
  printf("%d %d, ", h[4], h[5]);
  fourth<<<1, 32>>>(p);
  cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost);
  printf("%d %d\n", h[4], h[5]);
}
`, `__device__ int twice(int i) { return 2 * i; }
static __device__ int product(int a, int b) { return a * b; }
__device__ int square(int i) { return product(i, i); }
__global__ void other(int *p) { p[threadIdx.x] = twice(threadIdx.x); }
`, `__device__ int plus(int i) { return i + 1; }
`, `__device__ int jump(int i) {
  goto *(i ? &&one : &&two);
one:
  return 1;
two:
  return 2;
}
__global__ void fourth(int *p) { p[threadIdx.x] = 4 * threadIdx.x; }
`}
	got := start(t, []string{program.Build(t, sources(t, texts...)...)}, nil)
	if got.stdout != "100 144, 8 10, 16 20\n" || got.Exit() != 0 {
		t.Errorf("output %q, exit code %d, verdicts %+v", got.stdout, got.Exit(), got.Verdicts)
	}
}
