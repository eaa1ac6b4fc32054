package host_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"heddle/internal/host"
	"heddle/internal/testing/program"
)

// fake is a device that executes a kernel called fill by hand and notes what it is asked.
type fake struct {
	hello   host.Hello
	arena   *host.Arena
	sites   *host.Sites
	callers []uint64 // of the launches
	log     []string
	vars    map[string]host.Allocation
	printed []byte
	regular bool
}

func (f *fake) note(s string) { f.log = append(f.log, s) }

func (f *fake) Load(_ uint32, image []byte, managed []string) {
	if bytes.Contains(image, []byte(".entry")) {
		f.note("load")
	}
	for _, name := range managed {
		a, _ := f.arena.Memory.AllocPages(4096)
		f.vars[name] = a
		f.note("managed " + name)
	}
}

func (f *fake) Kernel(_ uint32, name string) (*host.Kernel, host.Error) {
	f.note("kernel " + name)
	if strings.Contains(name, "missing") {
		return nil, host.InvalidDeviceFunction
	}
	return &host.Kernel{ID: 7, Bytes: 16, Parameters: []host.Parameter{{0, 8}, {8, 4}, {12, 4}}},
		host.Success
}

func (f *fake) Symbol(_ uint32, name string) (uint64, uint64, host.Error) {
	if a, ok := f.vars[name]; ok {
		return a.Addr, a.Size, host.Success
	}
	a, err := f.arena.Memory.Alloc(64, host.Variable, 0)
	f.vars[name] = a
	return a.Addr, a.Size, err
}

// Launch writes the value to the first n words of the buffer, n = 0: fails.
func (f *fake) Launch(l *host.Launch) host.Error {
	p := binary.LittleEndian.Uint64(l.Params)
	n := binary.LittleEndian.Uint32(l.Params[8:])
	v := binary.LittleEndian.Uint32(l.Params[12:])
	f.note("launch at line " + line(f.sites.Of(l.Caller)))
	f.callers = append(f.callers, l.Caller)
	if n == 0 {
		return host.LaunchFailure
	}
	for i := range uint64(n) {
		binary.LittleEndian.PutUint32(f.arena.Bytes[p-host.ArenaBase+4*i:], v)
	}
	f.printed = append(f.printed, "from the kernel\n"...)
	return host.Success
}

func line(s host.Site) string {
	if s.Line == 0 {
		return "unknown"
	}
	text, err := os.ReadFile(s.File)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(string(text), "\n")
	_, mark, _ := strings.Cut(lines[s.Line-1], "// ")
	return mark
}

func (f *fake) Order(*host.Order) {}
func (f *fake) Waited()           {}
func (f *fake) Resume()           {}
func (f *fake) Work(w *host.Work) ([]byte, host.Error) {
	f.note(fmt.Sprintf("%s, function %d", w.Name, w.Function))
	return nil, host.Success
}
func (f *fake) BadFree(uint64, uint64) {}

func (f *fake) Allocated(a host.Allocation, _ bool) {
	f.note(a.Kind.String() + " at line " + line(f.sites.Of(a.Caller)))
}
func (f *fake) Freed(host.Allocation, uint64, bool) { f.note("freed") }
func (f *fake) Reset()                              { f.note("reset") }
func (f *fake) Unsupported(name string)             { f.note("unsupported " + name) }
func (f *fake) Object(h uint64, o *host.Object) {
	f.note(fmt.Sprintf("object %v, %d layers, %d channels of %d bits", o.Size, o.Layers, o.Channels,
		o.Bits))
}
func (f *fake) Compile(name, source string, options []string) (host.CompileResult, []byte, []byte) {
	f.note(fmt.Sprintf("compile %s: %s, %q", name, source, options))
	return host.NotCompiled, []byte("ptx"), []byte("messages")
}
func (f *fake) Loaded(uint32) host.Error { return host.Success }
func (f *fake) ObjectGone(uint64)        { f.note("object gone") }

func (f *fake) Printed() []byte {
	out := f.printed
	f.printed = nil
	return out
}

func (f *fake) Ended(regular bool) { f.regular = regular }

// outcome is how a program ended.
type outcome struct {
	stdout, stderr string
	code           int
	devices        []*fake
}

// start builds a program and runs it against fake devices.
func start(t *testing.T, text string, args ...string) outcome {
	t.Helper()
	built := program.OfText(t, text)
	var out outcome
	var mu sync.Mutex
	gpu, err := host.FindGPU("a100")
	if err != nil {
		t.Fatal(err)
	}
	s, err := host.Listen(gpu, false, func(h host.Hello, a *host.Arena) (host.Device, error) {
		mu.Lock()
		defer mu.Unlock()
		f := &fake{hello: h, arena: a, sites: host.NewSites(h), vars: map[string]host.Allocation{}}
		out.devices = append(out.devices, f)
		return f, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, built, args...)
	cmd.Env = append(os.Environ(), host.Socket+"="+s.Path)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err = cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	out.stdout, out.stderr, out.code = stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()
	return out
}

// head begins the programs of these tests.
const head = `#include <cstdio>
__global__ void fill(int *p, int n, int v) { if (threadIdx.x < n) p[threadIdx.x] = v; }
#define OK(x) do { cudaError_t e_ = (x); if (e_) { printf("%s: %s\n", #x, cudaGetErrorName(e_)); return 9; } } while (0)
`

// TestProgram runs a program with memory of each kind, a symbol, events and launches: what it reads
// is what the device wrote, texts of kernels come at the next synchronization, and places are those
// of the calls.
func TestProgram(t *testing.T) {
	got := start(t, head+`
#include <vector>
__managed__ int shared[3] = {1, 2, 3};
__device__ int counter;
template <typename T> T *get(int n) {
  T *p;
  cudaMalloc(&p, n * sizeof(T)); // get
  return p;
}
int main() {
  int *d = get<int>(100), *m, *h;
  OK(cudaMallocManaged(&m, 400)); // managed
  OK(cudaMallocHost(&h, 400)); // pinned
  std::vector<int> v(100);
  cudaEvent_t a, b;
  OK(cudaEventCreate(&a));
  OK(cudaEventCreate(&b));
  OK(cudaEventRecord(a));
  fill<<<1, 128>>>(d, 100, 42); // first
  fill<<<1, 128>>>(m, 100, 43); // second
  OK(cudaEventRecord(b));
  printf("before\n");
  OK(cudaMemcpy(v.data(), d, 400, cudaMemcpyDeviceToHost));
  OK(cudaDeviceSynchronize());
  printf("%d %d\n", v[99], m[99]);
  float ms;
  OK(cudaEventElapsedTime(&ms, a, b));
  int c = 5;
  OK(cudaMemcpyToSymbol(counter, &c, 4));
  c = 0;
  OK(cudaMemcpyFromSymbol(&c, counter, 4));
  shared[1] += c;
  fill<<<1, 128>>>(shared, 0, 0); // third: not in the arena, and fails
  printf("%d %s\n", shared[1], cudaGetErrorName(cudaDeviceSynchronize()));
  printf("%s\n", cudaGetErrorName(cudaFree(d)));
  OK(cudaDeviceReset());
  return ms >= 0 ? 4 : 5;
}
`)
	want := "before\nfrom the kernel\nfrom the kernel\n42 43\n5 cudaErrorLaunchFailure\n" +
		"cudaErrorLaunchFailure\n"
	if got.stdout != want || got.code != 4 || got.stderr != "" {
		t.Errorf("output %q, code %d, messages %q; want %q, 4", got.stdout, got.code, got.stderr, want)
	}
	if len(got.devices) != 1 {
		t.Fatalf("%d devices, want 1", len(got.devices))
	}
	f := got.devices[0]
	wantLog := []string{"load", "managed shared", "device memory at line get",
		"managed memory at line managed", "pinned memory at line pinned", "kernel _Z4fillPiii",
		"launch at line first", "launch at line second",
		"launch at line third: not in the arena, and fails", "freed", "freed", "freed", "reset"}
	if !slices.Equal(f.log, wantLog) || !f.regular {
		t.Errorf("the device was asked\n%q, regular %v; want\n%q", f.log, f.regular, wantLog)
	}
}

// broken is a device with a mistake.
type broken struct{ fake }

func (b *broken) Launch(*host.Launch) host.Error { panic("a mistake") }

// A panic of a device reaches the caller of Close with its stack, and the program ends: a panic in
// the goroutine of a connection would end heddle without a word about the command.
func TestCrash(t *testing.T) {
	built := program.OfText(t, head+`int main() { fill<<<1, 1>>>(0, 1, 1); cudaDeviceSynchronize(); }`)
	gpu, err := host.FindGPU("a100")
	if err != nil {
		t.Fatal(err)
	}
	s, err := host.Listen(gpu, false, func(h host.Hello, a *host.Arena) (host.Device, error) {
		return &broken{fake{hello: h, arena: a, sites: host.NewSites(h)}}, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, built)
	cmd.Env = append(os.Environ(), host.Socket+"="+s.Path)
	if err := cmd.Run(); err == nil {
		t.Error("the program has exit code 0")
	}
	defer func() {
		text := fmt.Sprint(recover())
		if !strings.HasPrefix(text, "a mistake\n") || !strings.Contains(text, "(*broken).Launch") {
			t.Errorf("the panic is %q", text)
		}
	}()
	t.Errorf("Close returned %v", s.Close(ctx))
}
