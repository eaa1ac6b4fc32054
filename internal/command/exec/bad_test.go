package exec_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"heddle/internal/command/exec"
	"heddle/internal/diag"
	"heddle/internal/testing/program"
)

// prologue begins the programs of these tests: work is a kernel with a race if there are two blocks.
const prologue = `#include <cstdio>
#include <csignal>
#include <thread>
#include <vector>
#include <sys/wait.h>
#include <unistd.h>
#include <cuda.h>
#include <cusparse.h>
#include <nvml.h>
__global__ void work(int *p, int n) { if (threadIdx.x < n) p[threadIdx.x] = threadIdx.x; }
__global__ void last(int *p) { p[0] = threadIdx.x; } // heddle:ignore race-global the last one counts
__global__ void forever(int *p) { while (p[0] == 0) p[1]++; }
__global__ void bad(int *p, int n) { p[threadIdx.x] = n; }
__global__ void fill(int *p, int by) { int i = blockIdx.x * 256 + threadIdx.x; p[i] = i + by; }
__global__ void print(int i) { printf("kernel %d\n", i); }
__global__ void until(const volatile int *flag, int n) { while (*flag != n) {} }
__global__ void check(int *p) { if (p[0] != 1) __trap(); }
int *buffer(int n) { int *p; cudaMalloc(&p, n * 4); return p; }
int main(int argc, char **argv) {
`

// badEnds are the programs of TestBadEnds, as bodies of a block in main.
var badEnds = []struct {
	name, body string
	code       int // of heddle
	program    int // of the program
	stdout     string
	stderr     string
	findings   []string // codes
	reason     string   // in that of some verdict
	change     func(*exec.Options)
}{
	{name: "exit in the middle", body: `work<<<2, 32>>>(buffer(32), 32); exit(7);`, code: 1, program: 7,
		findings: []string{"race-global"}},
	{name: "its own code", body: `work<<<1, 32>>>(buffer(32), 32); return 5;`, code: 5, program: 5},
	// What was launched before the crash was received, and is executed: a GPU may have done as much.
	{name: "crash", body: `work<<<2, 32>>>(buffer(32), 32); cudaDeviceSynchronize(); raise(SIGSEGV);`, code: 1,
		program: 139, findings: []string{"race-global"}},
	{name: "crash without a bug", body: `work<<<1, 32>>>(buffer(32), 32); raise(SIGSEGV);`, code: 139, program: 139},
	// The race detector runs out of memory: the program gets its results, the kernel no verdict, and
	// no further launch of the shape is watched.
	{name: "too large to watch", body: `int n = 1 << 22, *p = buffer(n), v;
			for (int i = 0; i < 3; i++) fill<<<n / 256, 256>>>(p, i);
			cudaMemcpy(&v, p + n - 1, 4, cudaMemcpyDeviceToHost); printf("%d\n", v);`,
		code: 3, stdout: "4194305\n",
		reason: "launch 1: the race detector ran out of memory, after ",
		change: func(o *exec.Options) { o.Common.Memory = 8 << 20 }},
	// Fork after CUDA was used: cudaErrorInitializationError (CUDA C++ Programming Guide: a child cannot use
	// the context of its parent). Nothing hangs, and the parent goes on.
	{name: "fork", body: `int *p = buffer(32); work<<<1, 32>>>(p, 32);
			if (fork() == 0) { cudaError_t e = cudaDeviceSynchronize(); _exit(e); }
			int status; wait(&status); printf("%d\n", WEXITSTATUS(status));
			work<<<1, 32>>>(p, 32); return cudaDeviceSynchronize();`, stdout: "3\n", stderr: "was forked after CUDA was used"},
	// Before CUDA was used, parent and child have a GPU each.
	{name: "fork first", body: `int child = fork() == 0; work<<<1, 32>>>(buffer(32), 32);
			int e = cudaDeviceSynchronize(), status = 0; if (child) exit(e); wait(&status); return e + status;`},
	{name: "unsupported function", body: `cudaIpcMemHandle_t h;
			for (int i = 0; i < 3; i++) printf("%s\n", cudaGetErrorName(cudaIpcGetMemHandle(&h, buffer(32))));
			work<<<1, 32>>>(buffer(32), 32);`, code: 3, stdout: "cudaErrorNotSupported\n",
		stderr: "heddle: cudaIpcGetMemHandle is not supported\n"},
	// A library that heddle declares and does not compute: CUBLAS_STATUS_NOT_SUPPORTED is 15.
	{name: "unsupported library", body: `cusparseHandle_t h; printf("%d\n", cusparseCreate(&h));
			work<<<1, 32>>>(buffer(32), 32);`, code: 3, stdout: "10\n",
		stderr: "heddle: cusparseCreate is not supported\n"},
	// A function of the driver by its name, with the version of its symbol or without; a pool of the
	// driver is one of the runtime. CUDA_ERROR_NOT_FOUND is 500.
	{name: "driver by name", body: `void *f, *g; CUdriverProcAddressQueryResult r;
			int missing = cuGetProcAddress("cuNothing", &f, 12000, 0, &r);
			cudaGetDriverEntryPoint("cuMemAlloc", &f, cudaEnableDefault);
			cuGetProcAddress("cuMemAlloc_v2", &g, 12000, 0, &r);
			cudaMemPool_t a; CUmemoryPool b; cudaDeviceGetDefaultMemPool(&a, 0); cuDeviceGetDefaultMemPool(&b, 0);
			printf("%d %d %d %d\n", missing, f == g, r, a == b); work<<<1, 32>>>(buffer(32), 32);`,
		stdout: "500 1 0 1\n"},
	// NVML is asked by programs that also run without it: no driver, without a message.
	{name: "no NVML", body: `printf("%d\n", nvmlInit()); work<<<1, 32>>>(buffer(32), 32);`,
		stdout: "9\n"},
	// A launch that does not end is unknown; the error stays, and the copy does not deliver data.
	{name: "no end", body: `int *p = buffer(32), h = 5; cudaMemset(p, 0, 128); forever<<<1, 1>>>(p);
			printf("%s ", cudaGetErrorName(cudaMemcpy(&h, p + 1, 4, cudaMemcpyDeviceToHost)));
			printf("%s %d\n", cudaGetErrorName(cudaMemset(p, 0, 4)), h);
			cudaDeviceReset(); work<<<1, 32>>>(buffer(32), 32); printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));`,
		code: 3, stdout: "cudaErrorLaunchFailure cudaErrorLaunchFailure 5\ncudaSuccess\n",
		change: func(o *exec.Options) { o.Common.MaxSteps = 10_000 }},
	{name: "trap", body: `int *p = buffer(1); cudaMemset(p, 0, 4); check<<<1, 1>>>(p);
			printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));`, code: 1, stdout: "cudaErrorLaunchFailure\n",
		findings: []string{"trap"}},
	{name: "use after free", body: `int *p = buffer(32); cudaFree(p); bad<<<1, 32>>>(p, 1);
			printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));`, code: 1, stdout: "cudaErrorIllegalAddress\n",
		findings: []string{"out-of-bounds"}},
	// The message says which call has freed the memory.
	{name: "freed memory", body: `int *p = buffer(32); cudaFree(p);
			bad<<<1, 32>>>(p, 1);`, code: 1, findings: []string{"out-of-bounds"}},
	// cudaFree of what is freed fails (CUDA Runtime API); that alone is no finding.
	{name: "double free", body: `int *p = buffer(32); work<<<1, 32>>>(p, 32); cudaFree(p);
			printf("%s\n", cudaGetErrorName(cudaFree(p)));`, stdout: "cudaErrorInvalidValue\n"},
	{name: "leaks", body: `int *p, *q; for (int i = 0; i < 3; i++) p = buffer(32);
			cudaMallocHost(&q, 4); work<<<1, 32>>>(p, 32); cudaFree(p);`, code: 1, findings: []string{"leak"},
		change: func(o *exec.Options) { o.Leaks = true }},
	{name: "no leaks", body: `int *p = buffer(32); work<<<1, 32>>>(p, 32); cudaDeviceReset();`,
		change: func(o *exec.Options) { o.Leaks = true }},
	{name: "host pointer", body: `int h[32]; bad<<<1, 32>>>(h, 1);
			printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));`, code: 1, stdout: "cudaErrorIllegalAddress\n",
		findings: []string{"out-of-bounds"}},
	// cudaHostRegister: kernels see what the host wrote, and the host what they wrote, also through the
	// host's pointer; after cudaHostUnregister the memory is the host's alone, with its contents.
	{name: "registered memory", body: `int *h = (int *)malloc(40000), *d; h[0] = 1; h[9999] = 7;
			if (cudaHostRegister(h, 40000, cudaHostRegisterMapped)) return 1;
			if (cudaHostRegister(h, 4, 0) != cudaErrorHostMemoryAlreadyRegistered) return 2;
			cudaHostGetDevicePointer(&d, h, 0); check<<<1, 1>>>(d); work<<<1, 32>>>(h + 32, 32); cudaDeviceSynchronize();
			if (h[63] != 31 || cudaHostUnregister(h) || h[63] != 31 || h[9999] != 7) return 3;
			free(h); return cudaGetLastError() != cudaErrorHostMemoryAlreadyRegistered;`},
	// The same for variables of main and of a function that registers its own, on the stack of the main
	// thread and of another one. The stack goes on to grow.
	{name: "registered stack", body: `auto all = [] {
				struct in { static int depth(int n) { volatile char big[4096]; big[n] = (char)n; return n ? depth(n - 1) + big[n] : 0; } };
				int h[2] = {1, 5}, *d; volatile int other = 3;
				if (cudaHostRegister(h, sizeof h, cudaHostRegisterMapped) || cudaHostGetDevicePointer(&d, h, 0)) return 1;
				other = 4; check<<<1, 1>>>(d); work<<<1, 2>>>(d, 2);
				if (cudaDeviceSynchronize() || h[0] != 0 || h[1] != 1 || other != 4) return 2;
				h[0] = in::depth(100) ? 7 : 8;
				if (cudaHostUnregister(h) || h[0] != 7 || h[1] != 1 || other != 4) return 3;
				return in::depth(200) ? 0 : 4; };
			int one = all(), two = -1;
			std::thread([&] { two = all(); }).join();
			return one * 10 + two;`},
	// Two ranges within one page may both be registered (CUB's test_allocator does it), one byte twice
	// may not, and neither may pages of which some only are registered.
	{name: "registered page", body: `char *h = (char *)aligned_alloc(4096, 12288); int *a = (int *)(h + 16), *b = (int *)(h + 64), *d;
			*a = 1; *b = 7;
			if (cudaHostRegister(a, 8, cudaHostRegisterMapped) || cudaHostRegister(b, 128, cudaHostRegisterMapped)) return 1;
			if (cudaHostRegister(b + 2, 4, 0) != cudaErrorHostMemoryAlreadyRegistered) return 2;
			if (cudaHostRegister(h + 4000, 4096, 0) != cudaErrorHostMemoryAlreadyRegistered) return 3;
			cudaGetLastError();
			cudaHostGetDevicePointer(&d, a, 0); check<<<1, 1>>>(d);
			if (cudaHostUnregister(a) || *a != 1 || cudaHostGetDevicePointer(&d, b, 0)) return 4;
			work<<<1, 32>>>(d, 32);
			if (cudaDeviceSynchronize() || b[31] != 31 || cudaHostUnregister(b) || b[31] != 31 || *a != 1) return 5;
			free(h); return cudaGetLastError() != cudaSuccess;`},
	// A kernel waits for flags that the host sets while it runs, in pinned and in registered memory, also
	// one thread of the host while another waits for the kernel.
	{name: "host flag", body: `int *f, r = 0, *d; cudaHostAlloc((void **)&f, 4, cudaHostAllocMapped);
			if (cudaHostRegister(&r, 4, cudaHostRegisterMapped) || cudaHostGetDevicePointer(&d, &r, 0)) return 1;
			for (int i = 1; i < 20; i++) {
				until<<<1, 1>>>(i % 2 ? f : d, i); usleep(i * 1000); *(volatile int *)(i % 2 ? f : &r) = i;
				if (cudaDeviceSynchronize()) return 2; }
			until<<<1, 1>>>(f, 30);
			std::thread t([&] { usleep(50000); *(volatile int *)f = 30; });
			int e = cudaDeviceSynchronize(); t.join(); return e;`},
	// Meanwhile the program may ask what does not depend on the kernel's end: an event or stream behind
	// the kernel is not ready (CUDA Runtime API, cudaEventQuery), one before it or beside it is, and
	// memory, another kernel and its attributes are there. What is in the stream is done afterwards, in
	// its order.
	{name: "asking", body: `int *f, *d, *e, h = 0; cudaStream_t s, other; cudaEvent_t before, behind; size_t room, all;
			cudaFuncAttributes a; cudaHostAlloc((void **)&f, 4, cudaHostAllocMapped); *f = 0; cudaMalloc(&d, 128);
			cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking); cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
			cudaEventCreate(&before); cudaEventCreate(&behind);
			cudaEventRecord(before, s); until<<<1, 1, 0, s>>>(f, 1); cudaEventRecord(behind, s);
			if (cudaEventQuery(behind) != cudaErrorNotReady || cudaGetLastError() != cudaErrorNotReady) return 1;
			if (cudaStreamQuery(s) != cudaErrorNotReady || cudaEventQuery(before) || cudaStreamQuery(other)) return 2;
			cudaGetLastError();
			if (cudaMalloc(&e, 4096) || cudaMemGetInfo(&room, &all) || cudaFuncGetAttributes(&a, work)) return 3;
			work<<<1, 32, 0, s>>>(d, 32); work<<<1, 32, 0, s>>>(e, 32);
			for (int i = 0; i < 20; i++) if (cudaStreamQuery(s) != cudaErrorNotReady) return 4;
			*(volatile int *)f = 1;
			while (cudaStreamQuery(s) == cudaErrorNotReady) {}
			cudaGetLastError();
			if (cudaEventQuery(behind)) return 5;
			cudaMemcpy(&h, e + 31, 4, cudaMemcpyDeviceToHost);
			return h != 31 || cudaFree(e) || cudaFree(d) || cudaDeviceSynchronize();`},
	// If it never does, that is said after a while.
	{name: "no host flag", body: `int *f; cudaHostAlloc((void **)&f, 4, cudaHostAllocMapped); *f = 0;
			until<<<1, 1>>>(f, 1); printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));`,
		code: 3, stdout: "cudaErrorLaunchFailure\n"},
	// A heddle:ignore comment covers findings of programs as it does those of check.
	{name: "suppressed", body: `last<<<1, 64>>>(buffer(1)); return cudaDeviceSynchronize();`},
	{name: "no launch", body: `int n; cudaGetDeviceCount(&n); printf("%d\n", n);`, code: 3, stdout: "1\n"},
	{name: "no CUDA", body: `return argc;`, code: 3, program: 2},
	{name: "threads", body: `std::vector<std::thread> all;
			for (int k = 0; k < 8; k++) all.emplace_back([] {
				int *p = buffer(64), h[64]; for (int i = 0; i < 20; i++) work<<<1, 64>>>(p, 64);
				cudaMemcpy(h, p, 256, cudaMemcpyDeviceToHost); if (h[63] != 63) abort(); cudaFree(p); });
			for (auto &t : all) t.join();`},
	// Errors belong to the thread that made them.
	{name: "errors of threads", body: `std::thread([] { cudaFree((void *)1); }).join();
			printf("%s\n", cudaGetErrorName(cudaGetLastError())); work<<<1, 32>>>(buffer(32), 32);`, stdout: "cudaSuccess\n"},
	{name: "printf", body: `printf("a\n"); print<<<1, 1>>>(1); print<<<1, 1>>>(2); printf("b\n");
			cudaDeviceSynchronize(); printf("c\n");`, stdout: "a\nb\nkernel 1\nkernel 2\nc\n"},
	// 2000 launches of one shape: the first three are watched.
	{name: "many launches", body: `int *p = buffer(32); for (int i = 0; i < 2000; i++) work<<<1, 32>>>(p, 32);
			return cudaDeviceSynchronize();`},
}

// TestBadEnds: programs that end in unusual ways, or that use what heddle does not support, have a
// defined result, and what was found before is reported.
func TestBadEnds(t *testing.T) {
	text := prologue
	for _, c := range badEnds { // one program, which takes the name of a case
		text += fmt.Sprintf("if (!strcmp(argv[1], %q)) {\n%s\nreturn 0;\n}\n", c.name, c.body)
	}
	built := program.OfText(t, text+"return 99;\n}\n")
	for _, c := range badEnds {
		t.Run(c.name, func(t *testing.T) {
			got := start(t, []string{built, c.name}, c.change)
			codes := got.codes()
			if code := got.Exit(); code != c.code || got.Code() != c.program ||
				!slices.Equal(slices.Compact(codes), c.findings) {
				t.Errorf("exit code %d of heddle, %d of the program, findings %q; want %d, %d, %q; verdicts %+v", code,
					got.Code(), codes, c.code, c.program, c.findings, got.Verdicts)
			}
			if !slices.ContainsFunc(got.Verdicts, func(v diag.Verdict) bool {
				return strings.Contains(v.Reason, c.reason)
			}) && c.reason != "" {
				t.Errorf("verdicts %+v, want %q", got.Verdicts, c.reason)
			}
			if !strings.Contains(got.stdout, c.stdout) || !strings.Contains(got.stderr, c.stderr) ||
				c.stderr == "" && got.stderr != "" || strings.Count(got.stderr, "not supported") > 1 {
				t.Errorf("output %q, messages %q; want %q, %q", got.stdout, got.stderr, c.stdout, c.stderr)
			}
		})
	}
}

// TestInterrupted: a program that never ends is ended with the context, and what was found is there.
func TestInterrupted(t *testing.T) {
	text := prologue + "work<<<2, 32>>>(buffer(32), 32); cudaDeviceSynchronize(); for (;;) sleep(1);\n}\n"
	built := program.OfText(t, text)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
	defer cancel()
	var found []string
	opt := options(t, &found)
	sum, err := exec.Run(ctx, exec.Program{Args: []string{built}}, opt)
	if err != nil || sum.Bugs == 0 || sum.Exit() != 1 || len(found) == 0 {
		t.Errorf("error %v, %d bugs, exit code %d, findings %q", err, sum.Bugs, sum.Exit(), found)
	}
}

// TestPolicies: which launches are watched.
func TestPolicies(t *testing.T) {
	for text, want := range map[string]string{"first:3": "11100000", "first:1": "10000000", "every:3": "10010010",
		"every:1": "11111111", "all": "11111111"} {
		p, err := exec.ParsePolicy(text)
		if err != nil || p.String() != text {
			t.Errorf("%s: %v, %v", text, p, err)
		}
		got := ""
		for n := range uint64(8) {
			got += map[bool]string{true: "1", false: "0"}[p.Watches(n)]
		}
		if got != want {
			t.Errorf("%s watches %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", "first", "first:0", "every:-1", "some", "all:3"} {
		if p, err := exec.ParsePolicy(text); err == nil {
			t.Errorf("%q is read as %v", text, p)
		}
	}
}

// halves compares conversions of the host with those of the device, whose instructions the emulator
// has by itself: infinities, the largest number, denormal numbers, ties.
const halves = `#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdio>
__global__ void convert(const float *f, unsigned short *h, float *back, unsigned short *b, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  half x = __float2half(f[i]);
  __nv_bfloat16 y = __float2bfloat16(f[i]);
  memcpy(h + i, &x, 2), memcpy(b + i, &y, 2), back[i] = __half2float(x);
}
int main() {
  const int n = 6000;
  float *f, *back;
  unsigned short *h, *b;
  cudaMallocManaged(&f, n * 4), cudaMallocManaged(&back, n * 4);
  cudaMallocManaged(&h, n * 2), cudaMallocManaged(&b, n * 2);
  unsigned seed = 1, wrong = 0;
  for (int i = 0; i < n; i++) {
    seed = seed * 1664525 + 1013904223;
    unsigned bits = seed << 31 | (95 + (seed >> 27) * 2) << 23 | (seed >> 3 & 0x7fffff);
    if (i % 5 == 0) bits &= ~0xfffu;
    if (i % 7 == 0) bits |= 0x1000;
    f[i] = __builtin_bit_cast(float, bits);
  }
  f[0] = 0, f[1] = -0.0f, f[2] = INFINITY, f[3] = 65519.99f, f[4] = 65520, f[5] = 5.9604645e-8f, f[6] = 2.9802322e-8f;
  f[7] = 2.98053e-8f, f[8] = 6.1e-5f, f[9] = NAN;
  convert<<<(n + 127) / 128, 128>>>(f, h, back, b, n);
  cudaDeviceSynchronize();
  for (int i = 0; i < n; i++) {
    half x = f[i];
    __nv_bfloat16 y = f[i];
    float z = x;
    wrong += memcmp(&x, h + i, 2) || memcmp(&y, b + i, 2) || (z == z && memcmp(&z, back + i, 4));
  }
  printf("%u wrong\n", wrong);
  return wrong != 0;
}
`

// TestHalves: host code converts as devices do (PTX ISA 9.7.9.21, cvt).
func TestHalves(t *testing.T) {
	source := filepath.Join(t.TempDir(), "h.cu")
	if err := os.WriteFile(source, []byte(halves), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := start(t, []string{program.Build(t, source)}, nil); got.Exit() != 0 {
		t.Errorf("exit code %d: %s %q", got.Exit(), got.stdout, got.findings)
	}
}

// TestPacked: SIMD and DPX functions, and the formats of 4 and 6 bits, have the values that their
// definitions give (CUDA Math API).
func TestPacked(t *testing.T) {
	got := start(t, []string{program.Build(t, "testdata/packed.cu")}, nil)
	if got.stdout != "0 wrong\n0 wrong\n" {
		t.Error(got.stdout, got.stderr, got.findings)
	}
}

// TestHostHalves: a file without device code has the types and their conversions, too. 1 + 2^-11 +
// 2^-30 is nearer to 1 + 2^-10 than to 1, and a tie as a float.
func TestHostHalves(t *testing.T) {
	source := filepath.Join(t.TempDir(), "h.cpp")
	const text = `#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <cuda_bf16.h>
#include <cstdio>
#include <vector>
int main() {
  std::vector<half> v(2, __float2half(1.5f));
  __nv_bfloat162 b(__nv_bfloat16(2.25f), __nv_bfloat16(3));
  printf("%g %g %g %g", __half2float(v[1]), (float)b.x, (float)half(1 + 0x1p-11 + 0x1p-30),
         (float)__nv_fp8_e5m2(100.f));
}
`
	if err := os.WriteFile(source, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := start(t, []string{program.Build(t, source)}, nil); got.stdout != "1.5 2.25 1.00098 96" {
		t.Error(got.stdout, got.stderr)
	}
}
