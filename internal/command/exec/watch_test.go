package exec_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"heddle/internal/command/exec"
	"heddle/internal/diag"
	"heddle/internal/source"
	"heddle/internal/testing/long"
	"heddle/internal/testing/program"
)

// watch runs a program whose kernels log into queues, with the emulator as the GPU.
func watch(t *testing.T, args []string, change func(*exec.Options)) result {
	t.Helper()
	b := program.Builder(t)
	library, err := b.WatchLibrary(t.Context())
	if err != nil {
		program.Fail(t, err)
	}
	driver, err := b.SharedRuntime(t.Context())
	if err != nil {
		program.Fail(t, err)
	}
	t.Setenv("LD_LIBRARY_PATH", driver) // where the library finds libcuda.so.1
	return start(t, args, func(o *exec.Options) {
		o.Watch, o.Library, o.Queues = true, library, exec.Queues{Number: 4, Slots: 512}
		if change != nil {
			change(o)
		}
	})
}

// dynamic builds the text of a file into a program that can be watched.
func dynamic(t testing.TB, arch, text string) string {
	t.Helper()
	return program.Dynamic(t, arch, program.Source(t, text))
}

// watchedExample says what differs for an example whose kernels log.
type watchedExample struct {
	code     int
	findings []string
	why      string // in the reason of some verdict
}

// The examples for which watching a GPU shows less than emulating them. The others must show the
// same.
var watchedExamples = map[string]watchedExample{
	// A GPU ends the launch, and says no more than that.
	"virtual_memory unmapped": {code: 3, why: "the driver ended it with error 7"},
	"overrun":                 {code: 3, why: "the driver ended it with error 7"},
	// docs/theory/queues.md, "What is not logged"
	"hopper_gemm":            {code: 3, why: "is not logged"},
	"hopper_gemm racy":       {code: 3, why: "is not logged"},
	"tensor_copy":            {code: 3, why: "is not logged"},
	"tensor_copy racy":       {code: 3, why: "is not logged"},
	"textures":               {code: 3, why: "is not logged"},
	"mipmaps":                {code: 3, why: "is not logged"},
	"mipmaps racy":           {code: 3, why: "is not logged"},
	"texture_race":           {code: 3, why: "is not logged"},
	"texture_race elsewhere": {code: 3, why: "is not logged"},
	"cooperative_sum":        {code: 3, why: "grid barriers by pragma are not logged"},
	// the kernel calls a function whose body is in another module
	"separate": {code: 3, why: "has no body"},
	// a stream would have to allocate where the graph does
	"graph_memory": {code: 3, why: "launches by a graph that has nodes that allocate or free memory"},
	// The order between launches is not examined.
	"graph_capture racy":    {},
	"pipeline_racy":         {},
	"dependent_launch racy": {},
}

// TestWatchedExamples: a program that is watched computes what it computes otherwise, and its
// findings are those of emulation, except for those of watchedExamples.
func TestWatchedExamples(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(examples)) {
		if !long.Keep(name, 3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			want := examples[name]
			if want.files == "" {
				want.files = name + ".cu"
			}
			less, differs := watchedExamples[name]
			if differs {
				want.code, want.findings = less.code, less.findings
			}
			var files []string
			for f := range strings.FieldsSeq(want.files) {
				files = append(files, filepath.Join("../../../examples/programs", f))
			}
			got := watch(t, append([]string{program.Dynamic(t, want.arch, files...)}, want.args...), nil)
			if len(want.findings) > 0 {
				want.stdout = "" // the schedule is another one, and a race may show
			}
			if code := got.Exit(); code != want.code || !strings.Contains(got.stdout, want.stdout) ||
				got.stderr != "" {
				t.Errorf("exit code %d, want %d; output %q, want %q; messages %q", code, want.code, got.stdout,
					want.stdout, got.stderr)
			}
			// Which access of a race comes second, and gives the line, is up to the schedule.
			expected := result{findings: want.findings}
			if !slices.Equal(slices.Compact(got.codes()), expected.codes()) {
				t.Errorf("findings %q, want %q", got.findings, want.findings)
			}
			checked := uint64(0)
			for _, k := range got.Kernels {
				checked += k.Checked
			}
			if !differs && checked != want.checked {
				t.Errorf("%d launches checked, want %d", checked, want.checked)
			}
			if !hasReason(&got, less.why) {
				t.Errorf("no verdict says %q: %+v", less.why, got.Verdicts)
			}
			if t.Failed() {
				t.Logf("verdicts %+v, notes %q", got.Verdicts, got.Notes)
			}
		})
	}
}

// hasReason reports whether some verdict has a text in its reason.
func hasReason(r *result, text string) bool {
	return text == "" || slices.ContainsFunc(r.Verdicts, func(v diag.Verdict) bool {
		return strings.Contains(v.Reason, text)
	})
}

// hasScope reports whether some verdict has a text in its scope.
func hasScope(r *result, text string) bool {
	return text == "" || slices.ContainsFunc(r.Verdicts, func(v diag.Verdict) bool {
		return strings.Contains(v.Scope, text)
	})
}

// TestWatchedEnds: what goes wrong between a program, its GPU and heddle has a defined end.
func TestWatchedEnds(t *testing.T) {
	const kernels = `#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <unistd.h>
#include <sys/wait.h>
__global__ void race(int *p) { p[blockIdx.x / 2] = threadIdx.x; }
__global__ void fine(int *p) { p[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
__global__ void many(int *p, int n) { for (int i = 0; i < n; i++) atomicAdd(p + i % 7, i); }
__global__ void trap(int *p) { p[threadIdx.x] = 0; __syncthreads(); p[0] = threadIdx.x; __syncthreads(); if (threadIdx.x == 5) __trap(); }
__global__ void hang(int *p) { __shared__ int s; if (threadIdx.x < 32) __syncthreads(); else asm volatile("bar.sync 1, 96;"); s = 0; p[threadIdx.x] = s; }
int *buffer(int n) { int *p; cudaMalloc(&p, n * 4); return p; }
int main(int argc, char **argv) {
`
	for _, test := range []struct {
		name, body    string
		code, program int
		findings      []string
		why           string
		stdout        string
		change        func(*exec.Options)
	}{
		{name: "its own code", body: `fine<<<2, 32>>>(buffer(64)); cudaDeviceSynchronize(); return 5;`,
			code: 5, program: 5},
		{name: "exit in the middle", body: `race<<<2, 32>>>(buffer(64)); exit(7);`, code: 1, program: 7,
			findings: []string{"race-global"}},
		{name: "crash", body: `race<<<2, 32>>>(buffer(64)); cudaDeviceSynchronize(); abort();`, code: 1,
			program: 134, findings: []string{"race-global"}},
		// The smallest queues are full all the time, and the kernel waits.
		{name: "full queues", body: `int *p = buffer(8), v; many<<<8, 128>>>(p, 40); ` +
			`cudaMemcpy(&v, p, 4, cudaMemcpyDeviceToHost); printf("%d", v);`,
			// i of 0, 7, 14, 21, 28 and 35 go to p[0]: 105 from each of 1024 threads
			stdout: "107520", change: func(o *exec.Options) { o.Queues = exec.Queues{Number: 2, Slots: 128} }},
		// The detector stops; the kernel and the program do not.
		{name: "no memory to watch", body: `int n = 1 << 20, *p = buffer(n), v;
			fine<<<n / 256, 256>>>(p); cudaMemcpy(&v, p + n - 1, 4, cudaMemcpyDeviceToHost); printf("%d", v);`,
			code: 3, stdout: "255", why: "the race detector ran out of memory",
			change: func(o *exec.Options) { o.Common.Memory = 1 << 20 }},
		// What was logged before the trap counts: lanes of one warp store different values to p[0].
		{name: "trap", body: `trap<<<1, 64>>>(buffer(64)); printf("%d", cudaDeviceSynchronize());`, code: 1,
			findings: []string{"race-global"}, stdout: "719", why: "the driver ended it with error 719"},
		// Half of the block waits at another barrier. The program is ended by its time limit.
		{name: "hang", body: `hang<<<1, 64>>>(buffer(64)); cudaDeviceSynchronize();`, code: 1,
			findings: []string{"barrier-divergence"}},
		// A thread of the program kills it while the kernel runs.
		{name: "killed", body: `std::thread([] { usleep(300000); raise(SIGKILL); }).detach();
			many<<<16, 256>>>(buffer(8), 100000); cudaDeviceSynchronize();`, code: 3, program: 137,
			why: "the program ended while the kernel was running"},
		{name: "reset", body: `fine<<<1, 32>>>(buffer(32)); cudaDeviceReset(); race<<<2, 32>>>(buffer(64));
			return cudaDeviceSynchronize();`, code: 1, findings: []string{"race-global"}},
		{name: "fork first", body: `int child = fork() == 0, status = 0; (child ? race : fine)<<<2, 32>>>(buffer(64));
			int e = cudaDeviceSynchronize(); if (child) exit(e); wait(&status); return e + status;`, code: 1,
			findings: []string{"race-global"}},
		{name: "one of three launches", body: `int *p = buffer(64); for (int i = 0; i < 3; i++) fine<<<2, 32>>>(p);`,
			change: func(o *exec.Options) { o.Check = exec.Policy{First: 1} }},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := watch(t, []string{dynamic(t, "", kernels+test.body+"}\n")}, test.change)
			if got.Exit() != test.code || got.Code() != test.program || got.stdout != test.stdout {
				t.Errorf("exit code %d, of the program %d, want %d and %d; output %q, want %q", got.Exit(),
					got.Code(), test.code, test.program, got.stdout, test.stdout)
			}
			if !slices.Equal(got.codes(), test.findings) || !hasReason(&got, test.why) {
				t.Errorf("findings %q, want %q, and %q", got.findings, test.findings, test.why)
			}
			if t.Failed() {
				t.Logf("verdicts %+v, notes %q, messages %q", got.Verdicts, got.Notes, got.stderr)
			}
		})
	}
}

// TestWatchedReport: findings name memory, launch and call as those of an emulated launch do, and
// the table has the sizes of the log and both times.
func TestWatchedReport(t *testing.T) {
	text := `__device__ int table[64];
__global__ void k(int *out) {
  __shared__ int s[64];
  s[threadIdx.x] = threadIdx.x;
  out[threadIdx.x] = s[63 - threadIdx.x];
  table[threadIdx.x / 64] = out[0];
}
void go(int *out) { k<<<1, 64>>>(out); }
int main() {
  int *d_out;
  cudaMalloc(&d_out, 64 * sizeof(int));
  go(d_out);
  go(d_out);
  return cudaDeviceSynchronize();
}
`
	var all []diag.Diagnostic
	got := watch(t, []string{dynamic(t, "", text)}, func(o *exec.Options) {
		o.Check = exec.Policy{First: 1}
		o.Printer = func(*source.Set) diag.Printer { return keeper(&all) }
	})
	var messages []string
	for i := range all {
		messages = append(messages, fmt.Sprintln(all[i].Message, all[i].Notes))
	}
	text = strings.Join(messages, "")
	for _, want := range []string{"shared s[", "global d_out[0], allocated at ", "global table[0]",
		"in launch 1 of this kernel at ", "host call stack: "} {
		if !strings.Contains(text, want) {
			t.Errorf("no finding has %q:\n%s", want, text)
		}
	}
	k := got.Kernels[0]
	if k.Launches != 2 || k.Checked != 1 || k.Logged != 1 || k.Timed != 1 || k.Records == 0 ||
		k.LogBytes < 32*k.Records || k.Time <= 0 || k.Plain <= 0 {
		t.Errorf("%+v", k)
	}
}

// TestWatchedModules: kernels of one name in two files are told apart, each with the places of its
// own file.
func TestWatchedModules(t *testing.T) {
	one := program.Source(t, `namespace { __global__ void k(int *p) { p[0] = threadIdx.x; } }
void first(int *p) { k<<<1, 32>>>(p); }
`)
	two := program.Source(t, `void first(int *p);
namespace { __global__ void k(int *p) {
  p[threadIdx.x] = 1;
  __syncthreads();
  p[threadIdx.x + 1] = 2;
  p[threadIdx.x] += 3;
} }
int main() { int *p; cudaMalloc(&p, 256); first(p); k<<<1, 32>>>(p); return cudaDeviceSynchronize(); }
`)
	got := watch(t, []string{program.Dynamic(t, "", one, two)}, nil)
	want := []string{"race-global p.cu:1", "race-global p.cu:6"}
	if !slices.Equal(slices.Compact(got.findings), want) { // line 6 reads and writes
		t.Errorf("findings %q, want %q; verdicts %+v", got.findings, want, got.Verdicts)
	}
}

// TestWatchedProofs: launches that satisfy what a proof assumes log less; one whose buffers are the
// same does not satisfy it, and its race is found.
func TestWatchedProofs(t *testing.T) {
	text := `#include <cstdio>
__global__ void shift(float *y, const float *x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i + 1 < n) y[i] = x[i + 1];
}
__global__ void reverse(float *y) {
  __shared__ float s[256];
  s[threadIdx.x] = threadIdx.x;
  __syncthreads();
  y[blockIdx.x * blockDim.x + threadIdx.x] = s[255 - threadIdx.x];
}
int main() {
  float *a, *b;
  const int n = 1000;
  cudaMalloc(&a, n * 4);
  cudaMalloc(&b, n * 4);
  reverse<<<3, 256>>>(a);
  shift<<<4, 256>>>(a, b, n);
  shift<<<4, 256>>>(b, a, n);
  cudaDeviceSynchronize();
  SAME
  return cudaDeviceSynchronize();
}
`
	for _, test := range []struct {
		same     string
		less     uint64
		findings []string
	}{
		{"", 2, nil},
		{"shift<<<4, 256>>>(a, a, n);", 2, []string{"race-global p.cu:4"}},
	} {
		built := dynamic(t, "", strings.Replace(text, "SAME", test.same, 1))
		plain := watch(t, []string{built}, nil)
		got := watch(t, []string{built}, func(o *exec.Options) { o.Prove = true })
		if !slices.Equal(got.findings, test.findings) || !slices.Equal(plain.findings, test.findings) {
			t.Errorf("findings %q, without proofs %q, want %q", got.findings, plain.findings, test.findings)
		}
		if k := got.Kernels[0]; k.Less != 1 || k.Checked != 1 || k.Records != 0 ||
			plain.Kernels[0].Records == 0 {
			t.Errorf("reverse, which is proved: %+v", k)
		}
		all, some := plain.Kernels[1], got.Kernels[1]
		if some.Less != test.less || some.Checked != all.Checked || all.Less != 0 {
			t.Errorf("%d launches log less, %d checked; without proofs %d and %d", some.Less, some.Checked,
				all.Less, all.Checked)
		}
		// Nothing of the kernel is logged where it is proved.
		launches := all.Launches
		if one := all.Records / launches; some.Records != one*(launches-test.less) {
			t.Errorf("%d records, without proofs %d", some.Records, all.Records)
		}
	}
}

// TestWatchedGraphs: the first launches of an executable graph are watched, with the line of
// cudaGraphLaunch, and all of them compute what the graph does. A graph that heddle cannot follow
// is reported.
func TestWatchedGraphs(t *testing.T) {
	const text = `#include <cstdio>
__global__ void add(int *p, int n) { p[threadIdx.x] += n; }
__global__ void race(int *p, int n) { p[threadIdx.x / 2] = threadIdx.x; }
int *p, *host;
cudaStream_t s, other;
cudaGraph_t graph;
cudaGraphExec_t exec;
template <class F> cudaGraph_t capture(F f) {
  cudaGraph_t g;
  cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal);
  f();
  cudaStreamEndCapture(s, &g);
  return g;
}
int first(int at = 0) {
  cudaDeviceSynchronize();
  return cudaMemcpy(host, p, 1024, cudaMemcpyDeviceToHost) ? -1 : host[at];
}
int main() {
  cudaMalloc(&p, 1024);
  cudaMallocHost(&host, 1024);
  cudaMemset(p, 0, 1024);
  cudaStreamCreate(&s);
  cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
`
	for _, test := range []struct {
		name, body, stdout       string
		code                     int
		launches, checked, timed uint64
		racy                     bool
		why, scope               string
	}{
		{name: "race", body: `graph = capture([] { race<<<1, 64, 0, s>>>(p, 0); });
			cudaGraphInstantiate(&exec, graph, 0);
			cudaGraphDestroy(graph);
			cudaGraphLaunch(exec, s); // line 28
			return cudaDeviceSynchronize();`, code: 1, launches: 1, checked: 1, racy: true},
		// Three are watched by the default policy, and one is timed.
		{name: "many launches", body: `graph = capture([] { add<<<1, 64, 0, s>>>(p, 1); });
			cudaGraphInstantiate(&exec, graph, 0);
			for (int i = 0; i < 10; i++) cudaGraphLaunch(exec, i % 2 ? s : other);
			printf("%d", first());`, stdout: "10", launches: 4, checked: 3, timed: 1,
			scope: "later launches of graphs were not watched, and are not counted"},
		// Each graph has launches that count for itself. The policy counts those of the kernel.
		{name: "two graphs", body: `graph = capture([] { add<<<1, 64, 0, s>>>(p, 1); });
			for (int g = 0; g < 2; g++) {
			  cudaGraphInstantiate(&exec, graph, 0);
			  for (int i = 0; i < 6; i++) cudaGraphLaunch(exec, s);
			  cudaStreamSynchronize(s);
			  cudaGraphExecDestroy(exec);
			}
			printf("%d", first());`, stdout: "12", launches: 8, checked: 3, timed: 1},
		// Rows of 10 and 20 elements of 2 bytes, which are 64 bytes apart.
		{name: "rows", body: `
			graph = capture([] {
			  cudaMemset2DAsync(p, 64, 1, 20, 2, s);
			  cudaMemcpy2DAsync((char *)p + 512, 32, p, 64, 20, 2, cudaMemcpyDeviceToDevice, s);
			  add<<<1, 1, 0, s>>>(p + 128, 1);
			});
			cudaGraphNode_t n;
			cudaMemsetParams two = {(char *)p + 256, 64, 0x203, 2, 5, 2};
			cudaGraphAddMemsetNode(&n, graph, nullptr, 0, &two);
			cudaGraphInstantiate(&exec, graph, 0);
			cudaGraphLaunch(exec, s);
			printf("%x %x %x ", first(0), first(5), first(16));
			printf("%x %x %x ", first(128), first(133), first(136));
			printf("%x %x %x %x", first(64), first(66), first(67), first(80));`,
			stdout: "1010101 0 1010101 1010102 0 1010101 2030203 203 0 2030203", launches: 1, checked: 1},
		// What the stream waits for is there, and what waits for the graph sees all of it.
		{name: "events", body: `
			cudaEvent_t before, behind;
			cudaGraphNode_t wait, kernel, record;
			cudaEventCreate(&before);
			cudaEventCreate(&behind);
			cudaGraphCreate(&graph, 0);
			int one = 1;
			void *args[] = {&p, &one};
			cudaKernelNodeParams k = {(void *)add, dim3(1), dim3(64), 0, args, nullptr};
			cudaGraphAddEventRecordNode(&record, graph, nullptr, 0, behind);
			cudaGraphAddKernelNode(&kernel, graph, nullptr, 0, &k);
			cudaGraphAddEventWaitNode(&wait, graph, nullptr, 0, before);
			cudaGraphAddDependencies(graph, &wait, &kernel, 1);
			cudaGraphAddDependencies(graph, &kernel, &record, 1);
			cudaGraphInstantiate(&exec, graph, 0);
			cudaMemsetAsync(p, 1, 256, other);
			cudaEventRecord(before, other);
			cudaGraphLaunch(exec, s);
			cudaStreamWaitEvent(other, behind, 0);
			cudaMemcpyAsync(host, p, 256, cudaMemcpyDeviceToHost, other);
			cudaStreamSynchronize(other);
			printf("%x", host[63]);`, stdout: "1010102", launches: 1, checked: 1},
		// A graph that is captured is a child of another; while it is captured, nothing runs.
		{name: "child", body: `graph = capture([] { add<<<1, 64, 0, s>>>(p, 1); });
			cudaGraphInstantiate(&exec, graph, 0);
			cudaGraphExec_t outer;
			cudaGraphInstantiate(&outer, capture([] {
			  cudaGraphLaunch(exec, s);
			  add<<<1, 32, 0, s>>>(p, 10);
			  cudaGraphLaunch(exec, s);
			}), 0);
			int before = first();
			cudaGraphLaunch(outer, s);
			printf("%d %d %d", before, first(), first(40));`, stdout: "0 12 2", launches: 3, checked: 3},
		// A graph is not replayed while another stream is captured.
		{name: "capture of another stream", body: `graph = capture([] { add<<<1, 64, 0, s>>>(p, 1); });
			cudaGraphInstantiate(&exec, graph, 0);
			cudaGraph_t another;
			cudaStreamBeginCapture(s, cudaStreamCaptureModeRelaxed);
			cudaGraphLaunch(exec, other);
			cudaError_t e = cudaStreamEndCapture(s, &another);
			printf("%d %d", e, first());`, stdout: "0 1", code: 3,
			why: "launches while a stream is captured"},
		// New parameters and a new graph are followed, and the launches count anew.
		{name: "changes", body: `
			cudaGraphNode_t n;
			cudaGraphCreate(&graph, 0);
			int one = 1;
			void *args[] = {&p, &one};
			cudaKernelNodeParams k = {(void *)add, dim3(1), dim3(64), 0, args, nullptr};
			cudaGraphAddKernelNode(&n, graph, nullptr, 0, &k);
			cudaGraphInstantiate(&exec, graph, 0);
			for (int i = 0; i < 6; i++) cudaGraphLaunch(exec, s);
			one = 10, k.blockDim = dim3(32);
			cudaGraphExecKernelNodeSetParams(exec, n, &k);
			for (int i = 0; i < 6; i++) cudaGraphLaunch(exec, s);
			cudaGraphExecUpdateResultInfo info;
			cudaGraphExecUpdate(exec, capture([] { add<<<1, 96, 0, s>>>(p, 100); }), &info);
			for (int i = 0; i < 6; i++) cudaGraphLaunch(exec, s);
			printf("%d %d", first(), first(64));`, stdout: "666 600", launches: 12, checked: 9, timed: 1},
		// What an update that fails has changed is not known.
		{name: "failed update", body: `graph = capture([] { add<<<1, 64, 0, s>>>(p, 1); });
			cudaGraphInstantiate(&exec, graph, 0);
			cudaGraphLaunch(exec, s);
			cudaGraphExecUpdateResultInfo info;
			cudaError_t e = cudaGraphExecUpdate(exec, capture([] {
			  add<<<1, 64, 0, s>>>(p, 10);
			  add<<<1, 64, 0, s>>>(p, 10);
			}), &info);
			cudaGraphLaunch(exec, other);
			printf("%d %d", e, first());`, stdout: "910 2", code: 3, launches: 1, checked: 1,
			why: "launches by a graph that was changed in a way that heddle cannot follow"},
	} {
		if !long.Keep(test.name, 2) {
			continue
		}
		t.Run(test.name, func(t *testing.T) {
			var all []diag.Diagnostic
			got := watch(t, []string{dynamic(t, "", text+test.body+"\n}\n")}, func(o *exec.Options) {
				o.Printer = func(*source.Set) diag.Printer { return keeper(&all) }
			})
			if got.Exit() != test.code || got.stdout != test.stdout || got.stderr != "" {
				t.Errorf("exit code %d, want %d; output %q, want %q; messages %q", got.Exit(), test.code,
					got.stdout, test.stdout, got.stderr)
			}
			var launches, checked, timed uint64
			for _, k := range got.Kernels {
				launches, checked, timed = launches+k.Launches, checked+k.Checked, timed+k.Timed
			}
			if launches != test.launches || checked != test.checked || timed != test.timed {
				t.Errorf("%d launches, %d checked, %d timed; want %d, %d and %d", launches, checked, timed,
					test.launches, test.checked, test.timed)
			}
			if !hasReason(&got, test.why) || !hasScope(&got, test.scope) {
				t.Errorf("no verdict says %q: %+v", test.why, got.Verdicts)
			}
			// The launch is that of the graph, in line 28.
			if (len(all) > 0) != test.racy {
				t.Errorf("%d findings", len(all))
			}
			for i := range all {
				notes := fmt.Sprint(all[i].Code, all[i].Notes)
				if !strings.Contains(notes, "race-global[") || !strings.Contains(notes, "p.cu:28 ") {
					t.Errorf("a finding has the notes %s", notes)
				}
			}
			if t.Failed() {
				t.Logf("verdicts %+v, notes %q", got.Verdicts, got.Notes)
			}
		})
	}
}
