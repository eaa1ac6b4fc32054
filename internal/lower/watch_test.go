package lower

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The library for programs on a GPU, with a fake driver and runtime (testdata/watch) in place of
// CUDA's, and a fake heddle, which speaks headers/gpu/protocol.h. The expectations are those of the
// protocol and of CUDA's documentation.

// Numbers of the protocol.
const (
	watchExit, watchAlloc, watchFree, watchVariable, watchUnwatched           = 1, 2, 3, 4, 5
	watchHello, watchQueues, watchImage, watchKernel, watchLaunch, watchEnded = 64, 65, 66, 67, 68, 69

	watchNothing, watchLog, watchTime = 0, 1, 2
)

// The sizes of the memories of the fake heddle.
const watchHostBytes, watchDeviceBytes = 8192, 96

// fakeHeddle is the other side of the connections of programs.
type fakeHeddle struct {
	do      uint32 // for each launch
	noFile  bool   // no file descriptor of the host memory
	replays uint64 // launches of each graph to make node by node
	dieAt   uint32 // end the connection in place of a reply to this

	t       *testing.T
	memory  *os.File
	mu      sync.Mutex
	said    []string // a line for each message
	callers []uint64 // of the last launch: first that of the launch itself
	changes []uint64 // who allocates and frees
	open    []*net.UnixConn
}

// hangUp ends all connections.
func (h *fakeHeddle) hangUp() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.open {
		c.Close()
	}
}

// say records a message.
func (h *fakeHeddle) say(format string, args ...any) {
	h.said = append(h.said, fmt.Sprintf(format, args...))
}

// serve answers the programs that connect to a socket.
func (h *fakeHeddle) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go h.connection(c.(*net.UnixConn))
	}
}

func (h *fakeHeddle) connection(c *net.UnixConn) {
	defer c.Close()
	h.mu.Lock()
	h.open = append(h.open, c)
	h.mu.Unlock()
	for {
		var head [8]byte
		if _, err := io.ReadFull(c, head[:]); err != nil {
			h.mu.Lock()
			h.say("end")
			h.mu.Unlock()
			return
		}
		op := binary.LittleEndian.Uint32(head[:])
		body := make([]byte, binary.LittleEndian.Uint32(head[4:]))
		if _, err := io.ReadFull(c, body); err != nil {
			return
		}
		h.mu.Lock()
		reply := h.message(op, body)
		h.mu.Unlock()
		if op == h.dieAt {
			return
		}
		if op < watchHello {
			continue
		}
		var rights []byte
		if op == watchHello && !h.noFile {
			rights = syscall.UnixRights(int(h.memory.Fd()))
		}
		reply = append(numbers(uint32(len(reply))), reply...)
		if _, _, err := c.WriteMsgUnix(reply, rights, nil); err != nil {
			return
		}
	}
}

// numbers returns the bytes of numbers.
func numbers(all ...any) []byte {
	var out bytes.Buffer
	for _, n := range all {
		if binary.Write(&out, binary.LittleEndian, n) != nil {
			panic("no number")
		}
	}
	return out.Bytes()
}

// message records a message and returns the body of its reply.
func (h *fakeHeddle) message(op uint32, body []byte) []byte {
	u32 := func(at int) uint32 { return binary.LittleEndian.Uint32(body[at:]) }
	u64 := func(at int) uint64 { return binary.LittleEndian.Uint64(body[at:]) }
	switch op {
	case watchHello:
		h.say("hello %d %s", u32(0), filepath.Base(string(body[16:])))
		return numbers(uint64(watchHostBytes), uint64(watchDeviceBytes), h.replays)
	case watchQueues:
		h.say("queues")
	case watchImage:
		return h.image(body)
	case watchKernel:
		name := string(body[8:])
		h.say("kernel %d %s", u32(0), name)
		id := uint32(1)
		if u32(0) == 2 { // machine code
			id = 0
		}
		return numbers(id, uint32(1), uint32(2), uint32(0), uint32(0), uint32(8), uint32(8), uint32(4))
	case watchLaunch:
		n := int(u32(44))
		h.callers = []uint64{u64(64)}
		for i := range n {
			h.callers = append(h.callers, u64(72+8*i))
		}
		area := body[72+8*n:]
		h.say("launch %d flags %d %v stream %#x shared %d area %d n %d", u32(0), u32(4),
			[]uint32{u32(8), u32(12), u32(16), u32(20), u32(24), u32(28), u32(32), u32(36), u32(40)},
			u64(56), u64(48), len(area), binary.LittleEndian.Uint32(area[8:]))
		h.mark(make([]byte, 16))
		return numbers(h.do, uint32(0))
	case watchEnded:
		marks := make([]byte, 8)
		if _, err := h.memory.ReadAt(marks, 64); err != nil {
			h.t.Error(err)
		}
		device := ""
		if len(body) > 16 {
			device = fmt.Sprintf(" device %d %q", len(body)-16, body[16:20])
		}
		h.say("ended %d timed %v%s host %q", u32(0), u64(8) > 0, device, bytes.Trim(marks, "\x00"))
	case watchAlloc:
		h.say("alloc %d kind %d", u64(8), u32(16))
		h.changes = append(h.changes, u64(24))
	case watchFree:
		h.say("free")
		h.changes = append(h.changes, u64(8))
	case watchVariable:
		h.say("variable %d %s size %d", u32(0), body[24:], u64(16))
	case watchUnwatched:
		h.say("unwatched %d %s", u32(0), body[8:])
	case watchExit:
		h.say("exit %d", u32(0))
	default:
		h.t.Errorf("operation %d", op)
	}
	return nil
}

// mark writes where the fake kernels log.
func (h *fakeHeddle) mark(b []byte) {
	if _, err := h.memory.WriteAt(b, 64); err != nil {
		h.t.Error(err)
	}
}

// image records an image, and returns one in its place with its text in it.
func (h *fakeHeddle) image(body []byte) []byte {
	text, form := bytes.TrimRight(body, "\x00"), "text"
	switch {
	case bytes.HasPrefix(body, numbers(uint32(0xba55ed50))):
		text, form = bytes.TrimRight(body[16:], "\x00"), "container"
	case bytes.HasPrefix(body, []byte("\x7fELF")):
		h.say("image of %d bytes of machine code", len(body))
		return numbers(uint32(2), uint32(0))
	}
	h.say("image %s %s", form, text)
	text = append([]byte("instrumented "), text...)
	head := numbers(uint32(0xba55ed50), uint16(1), uint16(16), uint64(len(text)))
	return slices.Concat(numbers(uint32(1), uint32(2)), []byte("counter\x00absent\x00"), head, text)
}

func watchBuilder(t *testing.T) *Builder {
	t.Helper()
	opt := Options{Compiler: compilers(t)[0], CacheDir: testCache}
	b, err := NewBuilder(t.Context(), BuildOptions{Options: opt})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	return b
}

// watchPrograms compiles the fakes and the programs into a directory.
func watchPrograms(t *testing.T) (dir, library string) {
	t.Helper()
	b := watchBuilder(t)
	var err error
	if library, err = b.WatchLibrary(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	source, err := filepath.Abs("testdata/watch")
	if err != nil {
		t.Fatal(err)
	}
	cc := func(out string, args ...string) {
		t.Helper()
		args = append([]string{"-std=gnu11", "-w", "-O1", "-o", filepath.Join(dir, out)}, args...)
		cmd := exec.Command(b.tc.Clang, append(args, "-ldl", "-lpthread")...)
		cmd.Dir = source
		if text, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
	}
	shared := []string{"-shared", "-fPIC"}
	cc("libcuda.so.1", append(shared, "-Wl,-soname,libcuda.so.1", "driver.c")...)
	cc("libcudart.so.12", append(shared, "-Wl,-soname,libcudart.so.12", "runtime.c")...)
	cc("libcudart.so.10.2", append(shared, "-DOLD", "-Wl,-soname,libcudart.so.10.2", "runtime.c")...)
	cc("old", "-rdynamic", "runtime_program.c", filepath.Join(dir, "libcudart.so.10.2"))
	cc("libunrelated.so", append(shared, "unrelated.c")...)
	cc("shared", "-rdynamic", "runtime_program.c", filepath.Join(dir, "libcudart.so.12"))
	static := []string{"-rdynamic", `-DAPI=__attribute__((visibility("hidden")))`,
		"runtime_program.c", "runtime.c"}
	cc("static", static...)
	cc("readonly", append([]string{"-no-pie", "-fno-pic", "-DREADONLY=const"}, static...)...)
	graphs := []string{"-rdynamic", "graph_program.c", filepath.Join(dir, "libcuda.so.1")}
	cc("graph", append(graphs, filepath.Join(dir, "libcudart.so.12"))...)
	cc("static_graph", append(graphs, `-DAPI=__attribute__((visibility("hidden")))`, "runtime.c")...)
	cc("linked", "-DLINKED", "driver_program.c", filepath.Join(dir, "libcuda.so.1"))
	cc("found", "driver_program.c")
	cc("unrelated", "unrelated_program.c", filepath.Join(dir, "libunrelated.so"))
	return dir, library
}

// watchRun is what a program did.
type watchRun struct {
	stdout, stderr string
	calls          []string // of the fake driver
	said           []string // to the fake heddle
}

// runWatched runs a program under the library.
func runWatched(t *testing.T, dir, library string, h *fakeHeddle, env []string,
	args ...string) watchRun {
	t.Helper()
	tmp := t.TempDir()
	socket, log := filepath.Join(tmp, "s"), filepath.Join(tmp, "log")
	memory, err := os.Create(filepath.Join(tmp, "memory"))
	if err != nil {
		t.Fatal(err)
	}
	defer memory.Close()
	if err := memory.Truncate(watchHostBytes); err != nil {
		t.Fatal(err)
	}
	h.t, h.memory = t, memory
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go h.serve(l)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, filepath.Join(dir, args[0]), args[1:]...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.Dir = &stdout, &stderr, tmp
	cmd.Env = append(os.Environ(), append([]string{"LD_PRELOAD=" + library, "LD_LIBRARY_PATH=" + dir,
		"FAKE_LOG=" + log, "HEDDLE_GPU_SOCKET=" + socket}, env...)...)
	if err := cmd.Run(); err != nil {
		t.Errorf("%v: %v, stderr %q", args, err, stderr.String())
	}
	text, _ := os.ReadFile(log) // a program that does nothing writes none
	h.waitForEnds()
	h.mu.Lock()
	defer h.mu.Unlock()
	return watchRun{stdout.String(), stderr.String(),
		strings.FieldsFunc(string(text), func(r rune) bool { return r == '\n' }), slices.Clone(h.said)}
}

// waitForEnds waits until all connections have ended, which the end of the program makes.
func (h *fakeHeddle) waitForEnds() {
	for range 500 {
		h.mu.Lock()
		opened, ended := 0, 0
		for _, s := range h.said {
			if strings.HasPrefix(s, "hello") {
				opened++
			} else if s == "end" {
				ended++
			}
		}
		h.mu.Unlock()
		if ended >= opened || h.dieAt != 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// equalLines compares what was said or called with the expectation.
func equalLines(t *testing.T, what string, got []string, want string) {
	t.Helper()
	if text := strings.Join(got, "\n"); text != strings.TrimSpace(want) {
		t.Errorf("%s:\n%s\nwant:\n%s", what, text, strings.TrimSpace(want))
	}
}

// TestWatchWarnings: the C code has no warnings.
func TestWatchWarnings(t *testing.T) {
	b := watchBuilder(t)
	out := filepath.Join(t.TempDir(), "watch.so")
	if err := b.compileWatch(t.Context(), out, "-Wall", "-Wextra", "-Werror"); err != nil {
		t.Fatalf("%+v", err)
	}
}

const logged = "cuCtxSynchronize\ncuMemAlloc_v2 96\ncuMemHostRegister_v2 8192 3\n" +
	"cuMemHostGetDevicePointer_v2\n" + loggedAgain

// The second synchronization is for streams that do not wait for the copies to the variables.
const loggedAgain = "cuMemsetD8_v2 0 96\ncuMemcpyHtoD_v2 8 set\ncuMemcpyHtoD_v2 8 set\n" +
	"cuCtxSynchronize\n"

const loggedEnd = "cuCtxSynchronize\ncuMemcpyHtoD_v2 8 zero\ncuMemcpyHtoD_v2 8 zero\n" +
	"cuMemcpyDtoH_v2 96\n"

// runtimeSaid is what programs of runtime_program.c say. Their images come at different times.
const runtimeSaid = "hello 2 %s\nimage container runtime\nalloc 16 kind 0\nalloc 32 kind 1\n" +
	"alloc 48 kind 2\nkernel 1 fill\nvariable 1 counter size 4\n" +
	"launch 1 flags 0 [2 1 1 3 1 1 1 1 1] stream 0x0 shared 0 area 12 n 7\n" +
	"ended 0 timed true device 96 \"DDDD\" host \"HHHHHHHH\"\nfree\nexit 1\nend"

const runtimeCalls = "cuMemAlloc_v2 16\ncuMemAllocManaged 32\ncuMemAllocHost_v2 48\n" +
	"cuLibraryLoadData instrumented runtime\n" + logged +
	"launch fill of instrumented runtime on (nil), logging\n" + loggedEnd + "cuMemFree_v2\n"

// TestWatchRuntime: programs with the shared and the static runtime.
func TestWatchRuntime(t *testing.T) {
	t.Parallel()
	dir, library := watchPrograms(t)
	for _, name := range []string{"shared", "static", "readonly", "old"} {
		t.Run(name, func(t *testing.T) {
			h := &fakeHeddle{do: watchLog}
			r := runWatched(t, dir, library, h, nil, name)
			equalLines(t, "messages", r.said, fmt.Sprintf(runtimeSaid, name))
			equalLines(t, "calls", r.calls, runtimeCalls)
			if !strings.HasPrefix(r.stdout, "8\n") || r.stderr != "" {
				t.Errorf("output %q, errors %q", r.stdout, r.stderr)
			}
			if name == "shared" || name == "old" {
				checkCallers(t, h.callers, h.changes, r.stdout)
			}
		})
	}
	t.Run("time", func(t *testing.T) {
		r := runWatched(t, dir, library, &fakeHeddle{do: watchTime}, nil, "shared")
		equalLines(t, "messages", r.said, strings.Replace(fmt.Sprintf(runtimeSaid, "shared"),
			`device 96 "DDDD" host "HHHHHHHH"`, `host ""`, 1))
		equalLines(t, "calls", r.calls, strings.NewReplacer(logged, "cuCtxSynchronize\n", ", logging", "",
			loggedEnd, "cuCtxSynchronize\n").Replace(runtimeCalls))
	})
	t.Run("nothing to do", func(t *testing.T) {
		r := runWatched(t, dir, library, &fakeHeddle{do: watchNothing}, nil, "shared")
		equalLines(t, "calls", r.calls, strings.NewReplacer(logged, "", ", logging", "",
			loggedEnd, "").Replace(runtimeCalls))
	})
	t.Run("no CUDA", func(t *testing.T) {
		r := runWatched(t, dir, library, &fakeHeddle{}, nil, "unrelated")
		equalLines(t, "messages", r.said, "")
		if r.stdout != "next: hello\n1 1 1\n" || r.stderr != "" {
			t.Errorf("output %q, errors %q", r.stdout, r.stderr)
		}
	})
	t.Run("child before use", func(t *testing.T) {
		r := runWatched(t, dir, library, &fakeHeddle{do: watchLog}, nil, "shared", "fork")
		all := strings.Join(r.said, "\n")
		if strings.Count(all, "hello") != 2 || strings.Count(all, "image container runtime") != 2 ||
			strings.Count(all, `ended 0 timed true device 96 "DDDD"`) != 1 || r.stderr != "" {
			t.Errorf("messages:\n%s\nerrors %q", all, r.stderr)
		}
	})
	t.Run("child after use", func(t *testing.T) {
		r := runWatched(t, dir, library, &fakeHeddle{do: watchLog}, nil, "shared", "late")
		if strings.Count(strings.Join(r.said, "\n"), "launch") != 1 || r.stdout != "8\n9\n" ||
			strings.Count(r.stderr, "it was forked after CUDA was used") != 1 {
			t.Errorf("messages %q, output %q, errors %q", r.said, r.stdout, r.stderr)
		}
	})
}

// checkCallers checks that the launch is in launches and its caller in outer, by the addresses of
// the functions outer, launches and stub that the program has printed in this order. What changes
// allocations is the program too.
func checkCallers(t *testing.T, callers, changes []uint64, stdout string) {
	t.Helper()
	var at []uint64
	for _, m := range regexp.MustCompile(`0x[0-9a-f]+`).FindAllString(stdout, -1) {
		n, err := strconv.ParseUint(m, 0, 64)
		if err != nil {
			t.Fatal(err)
		}
		at = append(at, n)
	}
	in := func(call uint64) int { // the last function that begins before the call
		last := 0
		for i, f := range at {
			if f < call && (at[last] >= call || f > at[last]) {
				last = i
			}
		}
		return last
	}
	if len(at) != 3 || len(callers) < 3 || in(callers[0]) != 1 || in(callers[1]) != 0 {
		t.Fatalf("callers %x, functions %x", callers, at)
	}
	for _, c := range changes {
		if c&^0xffff != at[0]&^0xffff && (c+0x8000)&^0xffff != (at[0]+0x8000)&^0xffff {
			t.Errorf("%x changes allocations, which is far from %x", c, at[0])
		}
	}
}

// driverSaid is what programs of driver_program.c say, with the launch left to the case.
const driverSaid = "hello 2 %s\nimage text .version 7.5 // driver\nalloc 16 kind 0\n" +
	"kernel 1 fill\nvariable 1 counter size 4\n%s\nfree\nexit 1\nend"

const driverOne = "launch 1 flags 0 [1 1 1 1 1 1 1 1 1] stream 0x0 shared 0 area 12 n 7\n"
const driverEnded = `ended 0 timed true device 96 "DDDD" host "HHHHHHHH"`

// TestWatchDriver: programs that use the driver, in each of the ways to find its functions.
func TestWatchDriver(t *testing.T) {
	t.Parallel()
	dir, library := watchPrograms(t)
	const image = "cuModuleLoadData instrumented .version 7.5 // driver\ncuMemAlloc_v2 16\n"
	const tail = "cuCtxSynchronize\ncuMemFree_v2\ncuModuleUnload\n"
	const launched = "launch fill of instrumented .version 7.5 // driver on "
	for _, c := range []struct {
		name, program, mode string
		env                 []string
		said, calls, stdout string
	}{
		{"linked", "linked", "", nil, driverOne + driverEnded,
			logged + launched + "(nil), logging\n" + loggedEnd, "error 0, value 7, then error 0\n"},
		{"dlsym", "found", "", nil, driverOne + driverEnded,
			logged + launched + "(nil), logging\n" + loggedEnd, "error 0, value 7, then error 0\n"},
		{"cuGetProcAddress", "found", "", []string{"BY_NUMBER=1"}, driverOne + driverEnded,
			logged + launched + "(nil), logging\n" + loggedEnd, "error 0, value 7, then error 0\n"},
		{"per thread", "found", "", []string{"BY_NUMBER=1", "PER_THREAD=1"},
			strings.Replace(driverOne, "stream 0x0", "stream 0x2", 1) + driverEnded,
			logged + "per thread\n" + launched + "(nil), logging\n" + loggedEnd,
			"error 0, value 7, then error 0\n"},
		{"extra", "linked", "extra", nil, strings.Replace(driverOne, "n 7", "n 9", 1) + driverEnded,
			logged + launched + "(nil), logging\n" + loggedEnd, "error 0, value 9, then error 0\n"},
		{"config", "linked", "config", nil,
			"launch 1 flags 1 [4 1 1 5 1 1 2 1 1] stream 0x51 shared 64 area 12 n 7\n" + driverEnded,
			logged + "attribute 2 1\nattribute 4 2\n" + launched + "0x51, logging\n" + loggedEnd,
			"error 0, value 7, then error 0\n"},
		{"cooperative", "linked", "cooperative", nil,
			strings.Replace(driverOne, "flags 0", "flags 1", 1) + driverEnded,
			logged + launched + "(nil), logging\n" + loggedEnd, "error 0, value 7, then error 0\n"},
		// The program gets the error of the launch; CUDA_ERROR_INVALID_VALUE stands for it here.
		{"invalid", "linked", "invalid", nil, strings.Replace(driverOne, "[1 1", "[0 1", 1) +
			`ended 9 timed false device 96 "\x00\x00\x00\x00" host ""`,
			logged + launched + "(nil), logging\n" + strings.TrimPrefix(loggedEnd, "cuCtxSynchronize\n"),
			"error 9, value 0, then error 0\n"},
		{"a new context", "linked", "reset", nil,
			driverOne + driverEnded + "\nvariable 1 counter size 4\n" + driverOne + driverEnded,
			logged + launched + "(nil), logging\n" + loggedEnd +
				"cuMemHostUnregister\ncuCtxDestroy_v2 0xc0\n" + logged + launched +
				"(nil), logging\n" + loggedEnd, "error 0, value 7, then error 0\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			args := []string{c.program}
			if c.mode != "" {
				args = append(args, c.mode)
			}
			r := runWatched(t, dir, library, &fakeHeddle{do: watchLog}, c.env, args...)
			equalLines(t, "messages", r.said, fmt.Sprintf(driverSaid, c.program, c.said))
			equalLines(t, "calls", r.calls, image+c.calls+tail)
			if r.stdout != c.stdout || r.stderr != "" {
				t.Errorf("output %q, errors %q", r.stdout, r.stderr)
			}
		})
	}
}

// graphCalls are those of a launch of the graph of graph_program.c by nodes, in the only order that
// its dependencies allow.
const graphCalls = "launch fill of instrumented runtime on %[1]s\n" +
	"cuMemcpy3DAsync_v2 of 200 bytes on %[1]s\n" +
	"cuMemsetD2D16Async 0x1000 pitch 64 value 0x203 of 5 by 7 on %[1]s\n" +
	"attribute 2 1\nattribute 4 2\nlaunch fill of instrumented runtime on %[1]s\n" +
	"cuEventRecord 0xe7 on %[1]s\nlaunch fill of instrumented runtime on %[1]s\n" +
	"cuLaunchHostFunc on %[1]s\n" + graphDone

const graphDone = "cuEventRecord 0xe0 on %[1]s\n"

// graphSaid is what it says. The second kernel is cooperative and has clusters.
const graphSaid = "launch 1 flags 0 [1 2 3 4 5 1 1 1 1] stream %[1]s shared 16 area 12 n 1\n" +
	"launch 1 flags 1 [2 2 3 4 5 2 2 0 0] stream %[1]s shared 32 area 12 n 2\n" +
	"launch 1 flags 0 [3 2 3 4 5 3 1 1 1] stream %[1]s shared 48 area 12 n 3\n"

// TestWatchGraphs: the first launches of an executable graph are made node by node, as long as that
// is possible, and the others are left to the driver. Launches of it follow each other.
func TestWatchGraphs(t *testing.T) {
	t.Parallel()
	dir, library := watchPrograms(t)
	on := func(stream string, parts ...string) string {
		return fmt.Sprintf(strings.Join(parts, ""), stream)
	}
	const begin, load = "hello 2 graph\nimage container runtime\nalloc 16 kind 0\n",
		"cuMemAlloc_v2 16\ncuLibraryLoadData instrumented runtime\n"
	const asked = "kernel 1 fill\nvariable 1 counter size 4\n"
	const waits = "cuStreamWaitEvent 0xe0 by %[1]s\n"
	four := on("0x51", graphCalls) + on("0x52", waits, graphCalls) +
		on("0x51", waits) + "cuGraphLaunch\ncuGraphLaunch\n"
	const more = "unwatched 7 \n" // launches behind those by nodes
	fourSaid := begin + asked + on("0x51", graphSaid) + on("0x52", graphSaid) + more + "exit 1\nend"
	refused := func(why string) string { return begin + "unwatched 2 " + why + "\nexit 1\nend" }
	refusedLater := func(why string) string {
		return begin + asked + on("0x51", graphSaid) + "unwatched 2 " + why + "\nexit 1\nend"
	}
	const forwarded = "cuGraphLaunch\ncuGraphLaunch\ncuGraphLaunch\ncuGraphLaunch\n"
	later := on("0x51", graphCalls) + on("0x51", waits) + forwarded
	for _, c := range []struct {
		mode, env   string
		replays     uint64
		said, calls string
	}{
		{"", "", 2, fourSaid, four},
		{"flags", "", 2, fourSaid, four},
		{"params", "", 2, fourSaid, four},
		{"", "", 0, begin + "exit 1\nend", forwarded},
		{"allocates", "", 9, refused("has nodes that allocate or free memory"), forwarded},
		{"conditional", "", 9, refused("has nodes other than kernels, copies, memsets, host " +
			"functions, events and child graphs"), forwarded},
		{"updatable", "", 9, refused("has a node that kernels can change"), forwarded},
		{"device", "", 9, refused("can be launched by kernels"), forwarded},
		// Edges that make a kernel wait for a part of another one.
		{"", "FAKE_FAIL=cuGraphGetEdges", 9, refused("has dependencies between parts of kernels"),
			forwarded},
		{"disabled", "", 9, refusedLater("has nodes that were disabled"), later},
		{"not updated", "", 9, refusedLater("was changed in a way that heddle cannot follow"), later},
		// The first kernel gets 9 for 1. It is launched again although it was launched once.
		{"changed", "", 1, begin + asked + on("0x51", graphSaid) +
			strings.Replace(on("0x51", graphSaid),
				"[1 2 3 4 5 1 1 1 1] stream 0x51 shared 16 area 12 n 1",
				"[9 2 3 4 5 9 1 1 1] stream 0x51 shared 144 area 12 n 9", 1) + more + "exit 1\nend",
			on("0x51", graphCalls, waits, graphCalls) + on("0x52", waits) +
				strings.Repeat("cuGraphLaunch\n", 3)},
		// The driver does not know that the graph may be in use.
		{"destroyed", "", 9, begin + asked + on("0x51", graphSaid) + "exit 1\nend",
			on("0x51", graphCalls) +
				"cuEventSynchronize 0xe0\ncuEventDestroy_v2 0xe0\ncuGraphExecDestroy\n"},
		// One launch is while another stream is captured, and one is captured. The first by nodes waits
		// for both.
		{"capture", "", 1, begin + "unwatched 3 \n" + asked + on("0x51", graphSaid) + more +
			"exit 1\nend",
			"cuStreamBeginCapture_v2\ncuGraphLaunch\ncuGraphLaunch\ncuStreamEndCapture\n" +
				"cuCtxSynchronize\n" + on("0x51", graphCalls) + on("0x52", waits) + strings.Repeat("cuGraphLaunch\n", 3)},
		{"per thread", "", 1, begin + asked + on("0x2", graphSaid) + "exit 1\nend",
			on("0x2", graphCalls)},
	} {
		t.Run(fmt.Sprintf("%d %s %s", c.replays, c.mode, c.env), func(t *testing.T) {
			args := []string{"graph"}
			if c.mode != "" {
				args = append(args, c.mode)
			}
			h := &fakeHeddle{replays: c.replays}
			r := runWatched(t, dir, library, h, []string{c.env}, args...)
			equalLines(t, "messages", r.said, c.said)
			equalLines(t, "calls", r.calls, load+c.calls)
			if r.stderr != "" {
				t.Errorf("errors %q", r.stderr)
			}
			if c.mode == "" && c.replays > 0 && c.env == "" {
				checkCallers(t, h.callers, h.changes, r.stdout)
			}
		})
	}
	t.Run("watched", func(t *testing.T) {
		r := runWatched(t, dir, library, &fakeHeddle{do: watchLog, replays: 1}, nil, "graph")
		const ended = `ended 0 timed true device 96 "DDDD" host "HHHHHHHH"` + "\n"
		equalLines(t, "messages", r.said, begin+asked+strings.ReplaceAll(on("0x51", graphSaid),
			"\nlaunch", "\n"+ended+"launch")+ended+more+"exit 1\nend")
		if n := strings.Count(strings.Join(r.calls, "\n"), ", logging"); n != 3 ||
			!strings.HasPrefix(r.stdout, "host 3\n0x") {
			t.Errorf("%d launches log; output %q, calls %q", n, r.stdout, r.calls)
		}
	})
	// What the runtime in the program asks the driver for is not known to be a graph of the program.
	t.Run("static", func(t *testing.T) {
		r := runWatched(t, dir, library, &fakeHeddle{replays: 9}, nil, "static_graph")
		equalLines(t, "calls", r.calls, load+forwarded)
		if n := strings.Count(strings.Join(r.said, "\n"), "unwatched 2 \n"); n != 1 {
			t.Errorf("messages %q", r.said)
		}
	})
}

// TestWatchThreads: launches of several threads do not log into each other's queues.
func TestWatchThreads(t *testing.T) {
	t.Parallel()
	dir, library := watchPrograms(t)
	r := runWatched(t, dir, library, &fakeHeddle{do: watchLog}, nil, "linked", "threads")
	const launched = "launch fill of instrumented .version 7.5 // driver on (nil), logging\n" +
		loggedEnd
	equalLines(t, "calls", r.calls[2:], logged+launched+
		strings.Repeat("cuCtxSynchronize\n"+loggedAgain+launched, 99)+
		"cuCtxSynchronize\ncuMemFree_v2\ncuModuleUnload\n")
	const ended = `ended 0 timed true device 96 "DDDD" host "HHHHHHHH"`
	if n := strings.Count(strings.Join(r.said, "\n"), ended); n != 100 || r.stderr != "" {
		t.Errorf("%d launches logged, errors %q", n, r.stderr)
	}
}

// TestWatchObstacles: what cannot be watched is said, and the program goes on with right results.
func TestWatchObstacles(t *testing.T) {
	t.Parallel()
	dir, library := watchPrograms(t)
	const right = "error 0, value 7, then error 0\n"
	for _, c := range []struct {
		name   string
		heddle *fakeHeddle
		env    []string
		args   []string
		said   []string // with the number of times
		stdout string
		stderr string
	}{
		// What is captured executes nothing; the graph of it is launched by the driver.
		{"capture", &fakeHeddle{do: watchLog}, nil, []string{"linked", "capture"},
			[]string{"0 unwatched 2 fill", "1 unwatched 3 fill", "1 unwatched 2 \n", "1 launch"}, right,
			""},
		{"no registered memory", &fakeHeddle{do: watchLog}, []string{"FAKE_FAIL=cuMemHostRegister_v2"},
			[]string{"linked"},
			[]string{"1 unwatched 5 cuMemHostRegister: error 801", "1 ended 801"}, right, ""},
		{"no file", &fakeHeddle{do: watchLog, noFile: true}, nil, []string{"linked"},
			[]string{"1 queues", `1 ended 0 timed true device 96 "DDDD"`}, right, ""},
		{"error of the kernel", &fakeHeddle{do: watchLog}, nil, []string{"linked", "fails"},
			[]string{"1 ended 700 timed false host"}, "error 0, value 0, then error 700\n", ""},
		{"image that the driver rejects", &fakeHeddle{do: watchLog}, []string{"FAKE_FAIL=instrumented"},
			[]string{"found"}, []string{"1 unwatched 6 fill", "0 launch"}, right, ""},
		{"a wrapper", &fakeHeddle{do: watchLog}, nil, []string{"linked", "wrapper"},
			[]string{"1 image container wrapped", "1 launch", "1 ended 0 timed true device"}, right, ""},
		{"a library", &fakeHeddle{do: watchLog}, nil, []string{"found", "library"},
			[]string{"1 image container wrapped", "1 kernel 1 fill", "1 variable 1 counter", "1 launch",
				"1 ended 0 timed true device"}, right, ""},
		{"a file", &fakeHeddle{do: watchLog}, nil, []string{"linked", "file"},
			[]string{"1 image text .version 7.5 // file", "1 ended 0 timed true device"}, right, ""},
		{"machine code", &fakeHeddle{do: watchLog}, nil, []string{"linked", "machine"},
			[]string{
				fmt.Sprintf("1 image of %d bytes of machine code", size(t, filepath.Join(dir, "linked"))),
				"1 kernel 2 fill", "0 launch"}, right, ""},
		{"another device", &fakeHeddle{do: watchLog}, []string{"FAKE_DEVICES=1"},
			[]string{"linked", "reset"}, []string{"1 unwatched 4 fill", "1 launch"}, right, ""},
		{"heddle ends at a launch", &fakeHeddle{do: watchLog, dieAt: watchLaunch}, nil,
			[]string{"linked"}, nil, right, "the connection to heddle was lost"},
		{"heddle ends at an image", &fakeHeddle{do: watchLog, dieAt: watchImage}, nil, []string{"static"},
			nil, "8\n", "the connection to heddle was lost"},
		{"heddle ends later", &fakeHeddle{do: watchLog, dieAt: watchEnded}, nil,
			[]string{"shared", "again"}, nil, "8\n", "the connection to heddle was lost"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := runWatched(t, dir, library, c.heddle, c.env, c.args...)
			all := strings.Join(r.said, "\n") + "\n"
			for _, s := range c.said {
				n, text, _ := strings.Cut(s, " ")
				if want, err := strconv.Atoi(n); err != nil || strings.Count(all, text) != want {
					t.Errorf("%q is not said %s times:\n%s", text, n, all)
				}
			}
			if !strings.HasPrefix(r.stdout, c.stdout) ||
				strings.Count(r.stderr, "\n") != min(len(c.stderr), 1) ||
				!strings.Contains(r.stderr, c.stderr) {
				t.Errorf("output %q, errors %q, calls %q", r.stdout, r.stderr, r.calls)
			}
		})
	}
	t.Run("heddle ends while a kernel waits for it", func(t *testing.T) {
		h := &fakeHeddle{do: watchLog}
		closed := time.AfterFunc(500*time.Millisecond, func() { h.hangUp() })
		defer closed.Stop()
		r := runWatched(t, dir, library, h, []string{"FAKE_WAIT=1"}, "linked")
		if r.stdout != right || strings.Count(r.stderr, "the connection to heddle was lost") != 1 {
			t.Errorf("output %q, errors %q", r.stdout, r.stderr)
		}
	})
	t.Run("no heddle", func(t *testing.T) {
		r := runWatched(t, dir, library, &fakeHeddle{}, []string{"HEDDLE_GPU_SOCKET=/nowhere"}, "shared")
		if !strings.HasPrefix(r.stdout, "8\n") ||
			strings.Count(r.stderr, "heddle cannot be reached") != 1 {
			t.Errorf("output %q, errors %q", r.stdout, r.stderr)
		}
	})
}

func size(t *testing.T, name string) int64 {
	t.Helper()
	info, err := os.Stat(name)
	if err != nil {
		t.Fatal(err)
	}
	return info.Size()
}
