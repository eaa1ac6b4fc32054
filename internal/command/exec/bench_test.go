package exec_test

import (
	"fmt"
	"strings"
	"testing"

	"heddle/internal/command/exec"
	"heddle/internal/testing/program"
)

// benchProgram repeats something and prints the nanoseconds that all repetitions took.
const benchProgram = `#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
__global__ void empty() {}
__global__ void small(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x]++; }
__global__ void other(int *p, int *q) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  q[i] = p[i];
}
int main(int argc, char **argv) {
  const char *what = argv[1];
  int n = atoi(argv[2]), *p, h[16] = {};
  cudaStream_t s = 0;
  cudaMalloc(&p, 4096);
  if (strstr(what, "non-blocking")) cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
  else if (strstr(what, "stream")) cudaStreamCreate(&s);
  cudaDeviceSynchronize();
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < n; i++) {
    if (strstr(what, "copy")) cudaMemcpy(p, h, sizeof h, cudaMemcpyHostToDevice);
    if (strstr(what, "empty")) empty<<<1, 32, 0, s>>>();
    if (strstr(what, "small")) small<<<4, 64, 0, s>>>(p);
    if (strstr(what, "repeat")) other<<<4, 64, 0, s>>>(p, p + 512);
    if (strstr(what, "waiting")) cudaDeviceSynchronize();
  }
  cudaDeviceSynchronize();
  printf("%lld\n", (long long)std::chrono::nanoseconds(std::chrono::steady_clock::now() - start).count());
}
`

// BenchmarkProgram is the cost of heddle exec as a program sees it, for each call: launches that the
// program does not wait for and such that it does, copies of 64 bytes, and the same in programs with
// streams, in which races between streams are looked for. The detector watches only those whose
// name says so. Those that repeat others are not executed.
func BenchmarkProgram(b *testing.B) {
	built := program.OfText(b, benchProgram)
	for _, what := range []string{"empty", "empty waiting", "small", "small waiting", "copy", "small stream",
		"copy stream", "copy non-blocking", "small copy", "small copy non-blocking", "small watched",
		"repeat"} {
		b.Run(strings.ReplaceAll(what, " ", "-"), func(b *testing.B) {
			got := start(b, []string{built, what, fmt.Sprint(b.N)}, func(o *exec.Options) {
				o.Check = exec.Policy{} // all
				if !strings.Contains(what, "watched") {
					o.Check.Every = 1 << 62
				}
				o.ExecuteRepeats = what != "repeat"
			})
			var ns float64
			if _, err := fmt.Sscan(got.stdout, &ns); err != nil {
				b.Fatal(err, got.stdout, got.stderr)
			}
			b.ReportMetric(ns/float64(b.N), "ns/call")
			b.ReportMetric(0, "ns/op") // includes the start of the program
		})
	}
}
