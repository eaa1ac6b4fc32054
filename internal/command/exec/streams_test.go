package exec_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"heddle/internal/lower"
	"heddle/internal/testing/program"
)

// streamsPrologue begins the programs of TestStreams: streams a and b synchronize with the default
// stream, c and d, which do not exist if there is a second argument, do not. p has 64 numbers in device memory, h as many in pinned and q in pageable
// memory.
const streamsPrologue = `#include <cstdio>
#include <cstring>
#include <thread>
#include <vector>
__global__ void put(int *p, int from, int n) { if (threadIdx.x < n) p[from + threadIdx.x] = threadIdx.x; }
__global__ void bytes(char *p, int from, int n) { if (threadIdx.x < n) p[from + threadIdx.x] = 1; }
__global__ void get(const int *p, int *to, int n) { if (threadIdx.x < n) to[threadIdx.x] = p[threadIdx.x]; }
__global__ void count(int *p) { atomicAdd(p, 1); }
__global__ void give(int *p, int *flag) { p[0] = 1; __threadfence(); atomicExch(flag, 1); }
__global__ void take(int *p, int *flag) { while (atomicAdd(flag, 0) == 0); __threadfence(); p[0]++; }
__global__ void show(int *p, volatile int *flag) { p[0] = 1; __threadfence_system(); *flag = 1; }
static void CUDART_CB done(void *flag) { *(int *)flag = 1; }
int main(int argc, char **argv) {
	cudaStream_t a, b, c, d;
	cudaEvent_t e, f;
	int *p, *o, *h, *r, q[64];
	cudaMalloc(&p, 64 * 64 * 4); cudaMalloc(&o, 256); cudaMalloc(&r, 256); cudaMallocHost(&h, 64 * 64 * 4);
	cudaStreamCreate(&a); cudaStreamCreate(&b);
	if (argc == 2) {
		cudaStreamCreateWithFlags(&c, cudaStreamNonBlocking);
		cudaStreamCreateWithFlags(&d, cudaStreamNonBlocking);
	}
	cudaEventCreate(&e); cudaEventCreate(&f);
	cudaMemset(p, 0, 64 * 64 * 4); cudaMemset(o, 0, 256); memset(h, 0, 256); memset(q, 0, 256);
	cudaDeviceSynchronize();
`

// streamCases are bodies of a block in main. Their expectations are those of the CUDA Runtime API:
// "Stream synchronization behavior", "API synchronization behavior" (for copies and memsets),
// cudaStreamWaitEvent, cudaLaunchHostFunc, cudaFreeAsync, and of the PTX ISA, 8.7, for atomics.
var streamCases = []struct {
	name, body string
	race       bool
}{
	{"one stream", `put<<<1, 64, 0, a>>>(p, 0, 64); get<<<1, 64, 0, a>>>(p, o, 64);`, false},
	{"two streams", `put<<<1, 64, 0, a>>>(p, 0, 64); get<<<1, 64, 0, b>>>(p, o, 64);`, true},
	{"read and write", `get<<<1, 64, 0, a>>>(p, o, 64); put<<<1, 64, 0, b>>>(p, 0, 64);`, true},
	{"two readers", `get<<<1, 64, 0, a>>>(p, o, 64); get<<<1, 64, 0, b>>>(p, r, 64);`, false},
	{"halves", `put<<<1, 64, 0, a>>>(p, 0, 32); put<<<1, 64, 0, b>>>(p, 32, 32);`, false},
	{"one element of both", `put<<<1, 64, 0, a>>>(p, 0, 33); put<<<1, 64, 0, b>>>(p, 32, 32);`, true},
	{"halves of bytes", `bytes<<<1, 64, 0, a>>>((char *)p, 0, 33); bytes<<<1, 64, 0, b>>>((char *)p, 33, 31);`, false},
	{"one byte of both", `bytes<<<1, 64, 0, a>>>((char *)p, 0, 33); bytes<<<1, 64, 0, b>>>((char *)p, 32, 31);`, true},
	{"event", `put<<<1, 64, 0, a>>>(p, 0, 64); cudaEventRecord(e, a); cudaStreamWaitEvent(b, e, 0);
			get<<<1, 64, 0, b>>>(p, o, 64);`, false},
	{"event recorded too early", `cudaEventRecord(e, a); put<<<1, 64, 0, a>>>(p, 0, 64);
			cudaStreamWaitEvent(b, e, 0); get<<<1, 64, 0, b>>>(p, o, 64);`, true},
	{"event waited for too early", `cudaStreamWaitEvent(b, e, 0); put<<<1, 64, 0, a>>>(p, 0, 64);
			cudaEventRecord(e, a); get<<<1, 64, 0, b>>>(p, o, 64);`, true},
	{"event of another stream", `put<<<1, 64, 0, a>>>(p, 0, 64); cudaEventRecord(e, c);
			cudaStreamWaitEvent(b, e, 0); get<<<1, 64, 0, b>>>(p, o, 64);`, true},
	// cudaEventRecord: a wait uses the most recently recorded state at the time of the call.
	{"event recorded again", `put<<<1, 64, 0, a>>>(p, 0, 64); cudaEventRecord(e, a);
			cudaStreamWaitEvent(b, e, 0); cudaEventRecord(e, c); get<<<1, 64, 0, b>>>(p, o, 64);`, false},
	{"fork and join", `put<<<1, 64, 0, a>>>(p, 0, 64); cudaEventRecord(e, a);
			cudaStreamWaitEvent(c, e, 0); cudaStreamWaitEvent(d, e, 0);
			put<<<1, 64, 0, c>>>(p, 0, 32); put<<<1, 64, 0, d>>>(p, 32, 32);
			cudaEventRecord(e, c); cudaEventRecord(f, d); cudaStreamWaitEvent(a, e, 0);
			cudaStreamWaitEvent(a, f, 0); get<<<1, 64, 0, a>>>(p, o, 64);`, false},
	{"fork without one join", `put<<<1, 64, 0, a>>>(p, 0, 64); cudaEventRecord(e, a);
			cudaStreamWaitEvent(c, e, 0); cudaStreamWaitEvent(d, e, 0);
			put<<<1, 64, 0, c>>>(p, 0, 32); put<<<1, 64, 0, d>>>(p, 32, 32);
			cudaEventRecord(e, c); cudaStreamWaitEvent(a, e, 0); get<<<1, 64, 0, a>>>(p, o, 64);`, true},
	{"ping-pong", `for (int i = 0; i < 5; i++) { cudaStreamWaitEvent(c, f, 0); put<<<1, 64, 0, c>>>(p, 0, 64);
			cudaEventRecord(e, c); cudaStreamWaitEvent(d, e, 0); get<<<1, 64, 0, d>>>(p, o, 64); cudaEventRecord(f, d); }`, false},
	{"default stream", `put<<<1, 64, 0, a>>>(p, 0, 64); get<<<1, 64>>>(p, o, 64); put<<<1, 64, 0, b>>>(p, 0, 64);`, false},
	{"between by the default stream", `put<<<1, 64, 0, a>>>(p, 0, 64); put<<<1, 64>>>(o, 0, 64);
			put<<<1, 64, 0, b>>>(p, 0, 64);`, false},
	{"non-blocking", `put<<<1, 64>>>(p, 0, 64); get<<<1, 64, 0, c>>>(p, o, 64);`, true},
	{"non-blocking first", `get<<<1, 64, 0, c>>>(p, o, 64); put<<<1, 64>>>(p, 0, 64);`, true},
	{"stream synchronized", `put<<<1, 64, 0, c>>>(p, 0, 64); cudaStreamSynchronize(c);
			get<<<1, 64, 0, d>>>(p, o, 64);`, false},
	{"another stream synchronized", `put<<<1, 64, 0, c>>>(p, 0, 64); cudaStreamSynchronize(a);
			get<<<1, 64, 0, d>>>(p, o, 64);`, true},
	{"event synchronized", `put<<<1, 64, 0, c>>>(p, 0, 64); cudaEventRecord(e, c); cudaEventSynchronize(e);
			get<<<1, 64, 0, d>>>(p, o, 64);`, false},
	{"queries", `put<<<1, 64, 0, c>>>(p, 0, 64); while (cudaStreamQuery(c) != cudaSuccess);
			get<<<1, 64, 0, d>>>(p, o, 64); cudaEventRecord(e, d); while (cudaEventQuery(e) != cudaSuccess);
			put<<<1, 64, 0, c>>>(p, 0, 64);`, false},
	{"device synchronized", `put<<<1, 64, 0, c>>>(p, 0, 64); cudaDeviceSynchronize(); get<<<1, 64, 0, d>>>(p, o, 64);`, false},
	// A host function runs after the work of its stream; the host may wait for it in any way.
	{"host function", `int flag = 0; put<<<1, 64, 0, c>>>(p, 0, 64); cudaLaunchHostFunc(c, done, &flag);
			while (!flag); get<<<1, 64, 0, d>>>(p, o, 64);`, false},
	// From pageable memory, cudaMemcpy returns when the data has been staged.
	{"copy from pageable memory", `cudaMemcpy(p, q, 256, cudaMemcpyHostToDevice); get<<<1, 64, 0, c>>>(p, o, 64);`, true},
	{"copy from pageable memory, blocking stream", `cudaMemcpy(p, q, 256, cudaMemcpyHostToDevice);
			get<<<1, 64, 0, a>>>(p, o, 64);`, false},
	{"copy from pinned memory", `cudaMemcpy(p, h, 256, cudaMemcpyHostToDevice); get<<<1, 64, 0, c>>>(p, o, 64);`, false},
	{"copy within the device", `cudaMemcpy(p, o, 256, cudaMemcpyDeviceToDevice); get<<<1, 64, 0, c>>>(p, r, 64);`, true},
	{"copy to the host", `cudaMemcpy(q, p, 256, cudaMemcpyDeviceToHost); put<<<1, 64, 0, c>>>(p, 0, 64);`, false},
	{"copy to the host too early", `put<<<1, 64, 0, c>>>(p, 0, 64); cudaMemcpy(q, p, 256, cudaMemcpyDeviceToHost);`, true},
	{"asynchronous copy to pageable memory", `cudaMemcpyAsync(q, p, 256, cudaMemcpyDeviceToHost, c);
			put<<<1, 64, 0, d>>>(p, 0, 64);`, false},
	{"asynchronous copy to pinned memory", `cudaMemcpyAsync(h, p, 256, cudaMemcpyDeviceToHost, c);
			put<<<1, 64, 0, d>>>(p, 0, 64);`, true},
	{"asynchronous copies", `cudaMemcpyAsync(p, h, 256, cudaMemcpyHostToDevice, c);
			cudaMemcpyAsync(o, p, 256, cudaMemcpyDeviceToDevice, d);`, true},
	{"memset", `cudaMemset(p, 0, 256); get<<<1, 64, 0, c>>>(p, o, 64);`, true},
	{"memset of pinned memory", `cudaMemset(h, 0, 256); get<<<1, 64, 0, c>>>(h, o, 64);`, false},
	{"asynchronous memset", `cudaMemsetAsync(p, 0, 256, a); get<<<1, 64, 0, b>>>(p, o, 64);`, true},
	// Columns 0 to 31 of 64 rows by the kernels, 32 to 63 by the copy.
	{"other columns", `for (int i = 0; i < 64; i++) put<<<1, 32, 0, c>>>(p, i * 64, 32);
			cudaMemcpy2DAsync(p + 32, 256, h, 256, 128, 64, cudaMemcpyHostToDevice, d);`, false},
	{"one column of both", `for (int i = 0; i < 64; i++) put<<<1, 64, 0, c>>>(p, i * 64, 33);
			cudaMemcpy2DAsync(p + 32, 256, h, 256, 128, 64, cudaMemcpyHostToDevice, d);`, true},
	{"atomics", `count<<<2, 32, 0, c>>>(p); count<<<2, 32, 0, d>>>(p);`, false},
	{"atomic and plain", `count<<<2, 32, 0, c>>>(p); get<<<1, 1, 0, d>>>(p, o, 1);`, true},
	{"flag with fences", `give<<<1, 1, 0, c>>>(p, o); take<<<1, 1, 0, d>>>(p, o);`, false},
	// The host sees the flag, and then enqueues what depends on it.
	{"flag in host memory", `show<<<1, 1, 0, c>>>(p, h); while (!*(volatile int *)h); get<<<1, 1, 0, d>>>(p, o, 1);`, false},
	{"freed between", `int *x; cudaMalloc(&x, 4); put<<<1, 64, 0, c>>>(p, 0, 64); cudaFree(x);
			get<<<1, 64, 0, d>>>(p, o, 64);`, false},
	{"freed too early", `int *x; cudaMallocAsync(&x, 256, c); put<<<1, 64, 0, c>>>(x, 0, 64); cudaFreeAsync(x, d);`, true},
	{"freed in order", `int *x; cudaMallocAsync(&x, 256, c); put<<<1, 64, 0, c>>>(x, 0, 64); cudaEventRecord(e, c);
			cudaStreamWaitEvent(d, e, 0); cudaFreeAsync(x, d);`, false},
	{"used before it is allocated", `int *x; cudaMallocAsync(&x, 256, c); put<<<1, 64, 0, d>>>(x, 0, 64);`, true},
	// CUDA C++ Programming Guide, "Implicit Synchronization".
	{"allocation between", `int *x; put<<<1, 64, 0, a>>>(p, 0, 64); cudaMalloc(&x, 4); get<<<1, 64, 0, b>>>(p, o, 64);`, false},
	{"destroyed stream", `cudaStreamDestroy(d); put<<<1, 64, 0, c>>>(p, 0, 64); cudaStreamDestroy(c);
			cudaStreamCreateWithFlags(&d, cudaStreamNonBlocking); get<<<1, 64, 0, d>>>(p, o, 64);`, true},
	// The default streams of threads are streams of their own, which synchronize with the default stream.
	{"threads", `put<<<1, 64, 0, cudaStreamPerThread>>>(p, 0, 64);
			std::thread([&] { put<<<1, 64, 0, cudaStreamPerThread>>>(p, 0, 64); }).join();`, true},
	{"threads that synchronize", `std::thread([&] { put<<<1, 64, 0, cudaStreamPerThread>>>(p, 0, 64);
			cudaStreamSynchronize(cudaStreamPerThread); }).join(); put<<<1, 64, 0, cudaStreamPerThread>>>(p, 0, 64);`, false},
	{"thread and default stream", `put<<<1, 64, 0, cudaStreamPerThread>>>(p, 0, 64); get<<<1, 64>>>(p, o, 64);`, false},
	// A copy to the host waits for what the default stream waits for, also after other copies.
	{"non-blocking later", `put<<<1, 64, 0, a>>>(p, 0, 64); cudaMemcpy(o, r, 4, cudaMemcpyDeviceToDevice);
			cudaMemcpy(q, r, 4, cudaMemcpyDeviceToHost); cudaStreamCreateWithFlags(&d, cudaStreamNonBlocking);
			get<<<1, 64, 0, d>>>(p, o, 64);`, false},
	{"non-blocking later, no copy to the host", `put<<<1, 64, 0, a>>>(p, 0, 64);
			cudaMemcpy(o, r, 4, cudaMemcpyDeviceToDevice); cudaStreamCreateWithFlags(&d, cudaStreamNonBlocking);
			get<<<1, 64, 0, d>>>(p, o, 64);`, true},
	{"reset", `put<<<1, 64, 0, a>>>(p, 0, 64); cudaDeviceReset(); cudaMalloc(&p, 256);
			put<<<1, 64>>>(p, 0, 64);`, false},
}

// nonBlocking matches the streams that the second argument leaves out.
var nonBlocking = regexp.MustCompile(`\b[cd]\b`)

// TestStreams: what orders the work of streams is known, and nothing else.
func TestStreams(t *testing.T) {
	text := streamsPrologue
	for _, c := range streamCases {
		text += fmt.Sprintf("if (!strcmp(argv[1], %q)) {\n%s\nreturn cudaDeviceSynchronize();\n}\n", c.name, c.body)
	}
	text += "put<<<1, 64, 0, a>>>(p, 0, 64);\n" +
		"get<<<1, 64, 0, b>>>(p, o, 64); // heddle:ignore race-stream the test wants it\n" +
		"return cudaDeviceSynchronize();\n}\n"
	built := program.OfText(t, text)
	for _, c := range streamCases {
		if !nonBlocking.MatchString(c.body) {
			checkStreams(t, []string{built, c.name, "blocking"}, c.race)
		}
		args := []string{built, c.name}
		if strings.HasPrefix(c.name, "non-blocking later") {
			args = append(args, "blocking")
		}
		checkStreams(t, args, c.race)
	}
	if got := start(t, []string{built, "suppressed"}, nil); len(got.findings) > 0 || got.Exit() != 0 {
		t.Errorf("suppressed: findings %q, exit code %d", got.findings, got.Exit())
	}
}

// checkStreams runs a program that has a race or not, and nothing else.
func checkStreams(t *testing.T, args []string, race bool) {
	t.Helper()
	got := start(t, args, nil)
	var want []string
	code := 0
	if race {
		want, code = []string{"race-stream"}, 1
	}
	for i, f := range got.findings {
		got.findings[i], _, _ = strings.Cut(f, " ")
	}
	if !slices.Equal(slices.Compact(got.findings), want) || got.Exit() != code || got.End != nil {
		t.Errorf("%q: findings %q, exit code %d (%v); want %q, %d; messages %q", args[1:], got.findings,
			got.Exit(), got.End, want, code, got.stderr)
	}
}

// perThreadCases are those of a program that is compiled with --default-stream per-thread: each
// thread has a default stream, which synchronizes with the legacy one and with no other (CUDA
// Runtime API, "Stream synchronization behavior", "Per-thread default stream").
var perThreadCases = []struct {
	name, body string
	race       bool
}{
	{"one thread", `put<<<1, 64>>>(p, 0, 64); get<<<1, 64>>>(p, o, 64);`, false},
	{"threads", `put<<<1, 64>>>(p, 0, 64);
			std::thread([&] { put<<<1, 64>>>(p, 0, 64); }).join();`, true},
	{"threads that synchronize", `std::thread([&] { put<<<1, 64>>>(p, 0, 64);
			cudaStreamSynchronize(0); }).join(); put<<<1, 64>>>(p, 0, 64);`, false},
	{"thread that copies", `std::thread([&] { put<<<1, 64>>>(p, 0, 64);
			cudaMemcpy(q, p, 256, cudaMemcpyDeviceToHost); }).join(); put<<<1, 64>>>(p, 0, 64);`, false},
	{"copy within the device", `std::thread([&] { cudaMemcpy(p, o, 256, cudaMemcpyDeviceToDevice);
			}).join(); put<<<1, 64>>>(p, 0, 64);`, true},
	{"blocking stream", `put<<<1, 64, 0, a>>>(p, 0, 64); get<<<1, 64>>>(p, o, 64);`, true},
	{"event", `put<<<1, 64, 0, a>>>(p, 0, 64); cudaEventRecord(e, a); cudaStreamWaitEvent(0, e, 0);
			get<<<1, 64>>>(p, o, 64);`, false},
	{"event of the default stream", `put<<<1, 64>>>(p, 0, 64); cudaEventRecord(e);
			cudaStreamWaitEvent(a, e, 0); get<<<1, 64, 0, a>>>(p, o, 64);`, false},
	{"legacy stream", `put<<<1, 64>>>(p, 0, 64); get<<<1, 64, 0, cudaStreamLegacy>>>(p, o, 64);`,
		false},
}

// TestPerThread runs perThreadCases. A program of which only a part has default streams of threads
// ends with a message: what its streams mean depends on the file.
func TestPerThread(t *testing.T) {
	b, err := lower.NewBuilder(t.Context(), lower.BuildOptions{Options: lower.Options{
		Defines: []string{"CUDA_API_PER_THREAD_DEFAULT_STREAM=1"}}})
	if err != nil {
		t.Skip(err)
	}
	defer b.Close()
	text := streamsPrologue
	for _, c := range perThreadCases {
		text += fmt.Sprintf("if (!strcmp(argv[1], %q)) {\n%s\nreturn cudaDeviceSynchronize();\n}\n",
			c.name, c.body)
	}
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	object := func(b *lower.Builder, source string) string {
		out := source + ".o"
		if _, err := b.Object(t.Context(), source, out, false); err != nil {
			program.Fail(t, err)
		}
		return out
	}
	link := func(name string, objects ...string) string {
		out := filepath.Join(dir, name)
		if err := b.Link(t.Context(), objects, nil, out); err != nil {
			program.Fail(t, err)
		}
		return out
	}
	main := object(b, file("p.cu", text+"return 0;\n}\n"))
	built := link("program", main)
	for _, c := range perThreadCases {
		checkStreams(t, []string{built, c.name, "blocking"}, c.race)
	}
	other := object(program.Builder(t), file("other.cpp", "#include <cuda_runtime.h>\n"+
		"int other() { return cudaDeviceSynchronize(); }\n"))
	got := start(t, []string{link("mixed", main, other), "one thread", "blocking"}, nil)
	if got.Exit() != 3 || !strings.Contains(got.stderr, "compile all of them in one way") {
		t.Errorf("mixed: exit code %d, messages %q", got.Exit(), got.stderr)
	}
}
