package host

import (
	"encoding/binary"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestMemory: allocations are aligned, lie in the arena, never overlap, and the device's memory is
// never exceeded, whatever the order of requests. After all are freed all room is there again.
func TestMemory(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := &Memory{Limit: 1 << 20}
		m.next = ArenaSize - 1<<19 // close to the end, so that freed ranges are used again
		live := map[uint64]Allocation{}
		used := func() (n uint64) {
			for _, a := range live {
				if a.Kind != PinnedMemory {
					n += a.Size
				}
			}
			return n
		}
		for range rapid.IntRange(1, 60).Draw(t, "operations") {
			if len(live) > 0 && rapid.Bool().Draw(t, "free") {
				addr := rapid.SampledFrom(sortedKeys(live)).Draw(t, "which")
				if _, err := m.Free(addr); err != Success {
					t.Fatalf("free of %#x: error %d", addr, err)
				}
				if _, err := m.Free(addr); err != InvalidValue {
					t.Fatalf("second free of %#x: error %d", addr, err)
				}
				delete(live, addr)
				continue
			}
			size := rapid.Uint64Range(1, 200_000).Draw(t, "size")
			kind := Kind(rapid.IntRange(0, 2).Draw(t, "kind"))
			a, err := m.Alloc(size, kind, 0)
			if err == MemoryAllocation {
				continue
			}
			if kind != PinnedMemory && used()+size > m.Limit {
				t.Fatalf("%d bytes allocated with %d of %d used", size, used(), m.Limit)
			}
			if err != Success || a.Size != size || a.Addr%align != 0 || a.Addr < ArenaBase ||
				a.Addr+size+gap > ArenaBase+ArenaSize {
				t.Fatalf("%+v, error %d", a, err)
			}
			for _, b := range live {
				if a.Addr < b.Addr+b.Size && b.Addr < a.Addr+a.Size {
					t.Fatalf("%+v overlaps %+v", a, b)
				}
			}
			live[a.Addr] = a
			if free, _ := m.Room(); free != m.Limit-used() {
				t.Fatalf("%d bytes free, want %d", free, m.Limit-used())
			}
		}
		freed := m.Reset()
		if len(freed) != len(live) {
			t.Fatalf("reset freed %d of %d", len(freed), len(live))
		}
		if free, total := m.Room(); free != total {
			t.Fatalf("%d of %d free after reset", free, total)
		}
	})
}

func sortedKeys(m map[uint64]Allocation) []uint64 {
	var out []uint64
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// TestPages: a variable that the host maps has pages of its own.
func TestPages(t *testing.T) {
	m := &Memory{Limit: 1 << 20}
	if _, err := m.Alloc(100, DeviceMemory, 0); err != Success {
		t.Fatal(err)
	}
	a, err := m.AllocPages(5)
	b, err2 := m.Alloc(8, DeviceMemory, 0)
	if err != Success || err2 != Success || a.Addr%page != 0 || b.Addr < a.Addr+page {
		t.Errorf("%+v, %+v", a, b)
	}
	if _, err := m.Free(a.Addr); err != InvalidValue { // a variable is not the program's to free
		t.Errorf("free of a variable: %d", err)
	}
}

// header returns the text of a file of the runtime.
func header(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../lower/headers/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// sameDefines compares the numbers that a header defines with those here. pattern matches a
// definition: its name and its number. Those of which other is true, if given, belong to others.
func sameDefines(t *testing.T, text, pattern string, want map[string]uint32,
	other func(string) bool) {
	t.Helper()
	for _, m := range regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1) {
		if other != nil && other(m[1]) {
			continue
		}
		n, _ := strconv.ParseUint(m[2], 10, 32)
		if w, ok := want[m[1]]; !ok || uint64(w) != n {
			t.Errorf("%s is %d in C, %d here (%v)", m[1], n, w, ok)
		}
		delete(want, m[1])
	}
	for name := range want {
		t.Errorf("the header has no %s", name)
	}
}

// TestProtocol: both sides have the same numbers and structs.
func TestProtocol(t *testing.T) {
	text := header(t, "exec/protocol.h")
	want := map[string]uint32{"HEDDLE_PROTOCOL_VERSION": protocolVersion, "HEDDLE_OP_MODULE": uint32(opModule),
		"HEDDLE_OP_VARIABLE": uint32(opVariable), "HEDDLE_OP_LAUNCH": uint32(opLaunch),
		"HEDDLE_OP_RECORD": uint32(opRecord), "HEDDLE_OP_UNSUPPORTED": uint32(opUnsupported),
		"HEDDLE_OP_EXIT": uint32(opExit), "HEDDLE_OP_ORDER": uint32(opOrder),
		"HEDDLE_OP_BAD_FREE": uint32(opBadFree),
		"HEDDLE_MAX_LEVELS":  maxLevels,
		"HEDDLE_OP_WORK":     uint32(opWork), "HEDDLE_OP_WORK_RESULT": uint32(opResult),
		"HEDDLE_OP_QUERY":     uint32(opQuery),
		"HEDDLE_ORDER_CREATE": uint32(CreateStream), "HEDDLE_ORDER_DESTROY": uint32(DestroyStream),
		"HEDDLE_ORDER_WAIT": uint32(WaitEvent), "HEDDLE_ORDER_SYNC_EVENT": uint32(SyncEvent),
		"HEDDLE_ORDER_SYNC_STREAM": uint32(SyncStream), "HEDDLE_ORDER_SYNC_ALL": uint32(SyncAll),
		"HEDDLE_ORDER_COPY": uint32(CopyMemory), "HEDDLE_ORDER_SET": uint32(SetMemory),
		"HEDDLE_ORDER_ALLOC": uint32(AllocAsync), "HEDDLE_ORDER_FREE": uint32(FreeAsync),
		"HEDDLE_ORDER_NON_BLOCKING": uint32(NonBlocking), "HEDDLE_ORDER_BEFORE": uint32(HostBefore),
		"HEDDLE_ORDER_AFTER": uint32(HostAfter), "HEDDLE_ORDER_STAGED": uint32(Staged),
		"HEDDLE_OP_REPLIES": uint32(opReplies), "HEDDLE_OP_HELLO": uint32(opHello),
		"HEDDLE_OP_SYNC": uint32(opSync), "HEDDLE_OP_KERNEL": uint32(opKernel), "HEDDLE_OP_SYMBOL": uint32(opSymbol),
		"HEDDLE_OP_ALLOC": uint32(opAlloc), "HEDDLE_OP_FREE": uint32(opFree), "HEDDLE_OP_MEMORY": uint32(opMemory),
		"HEDDLE_OP_TIME": uint32(opTime), "HEDDLE_OP_RESET": uint32(opReset),
		"HEDDLE_OP_RESERVE": uint32(opReserve), "HEDDLE_OP_MAP": uint32(opMap),
		"HEDDLE_OP_LOADED": uint32(opLoaded), "HEDDLE_OP_COMPILE": uint32(opCompile),
		"HEDDLE_OP_COMPILED": uint32(opCompiled), "HEDDLE_OP_OBJECT": uint32(opObject), "HEDDLE_OP_OBJECT_GONE": uint32(opObjectGone),
		"HEDDLE_KIND_DEVICE": uint32(DeviceMemory), "HEDDLE_KIND_MANAGED": uint32(ManagedMemory),
		"HEDDLE_KIND_PINNED": uint32(PinnedMemory), "HEDDLE_KIND_VARIABLE": uint32(Variable)}
	sameDefines(t, text, `#define (HEDDLE_\w+) (\d+)\s`, want, func(name string) bool {
		return strings.HasPrefix(name, "HEDDLE_LIBRARY_") // those of internal/library
	})
	if !strings.Contains(text, fmt.Sprintf("HEDDLE_PROTOCOL_SOCKET %q", Socket)) {
		t.Errorf("protocol.h names another socket than %s", Socket)
	}
	// struct heddle_gpu: 64 bytes of name, five u64, eight u32; struct heddle_kernel: ten u32.
	if n := len(gpus[0].encode()); n != 64+5*8+8*4 {
		t.Errorf("a GPU takes %d bytes", n)
	}
	k := encodeKernel(&Kernel{ID: 1, Parameters: []Parameter{{2, 3}}})
	if len(k) != 10*4+8 || binary.LittleEndian.Uint32(k[4:]) != 1 {
		t.Errorf("a kernel takes %d bytes", len(k))
	}
}

// TestErrors: the errors have the numbers of the runtime's header.
func TestErrors(t *testing.T) {
	numbers := map[string]Error{}
	for _, m := range regexp.MustCompile(`X\(cuda(?:Error)?(\w+), (\d+), "`).
		FindAllStringSubmatch(header(t, "heddle/runtime_types.h"), -1) {
		n, _ := strconv.ParseUint(m[2], 10, 32)
		numbers[m[1]] = Error(n)
	}
	for name, e := range map[string]Error{"Success": Success, "InvalidValue": InvalidValue,
		"MemoryAllocation": MemoryAllocation, "InvalidConfiguration": InvalidConfiguration,
		"InvalidSymbol": InvalidSymbol, "InvalidDeviceFunction": InvalidDeviceFunction,
		"InvalidKernelImage": InvalidKernelImage, "InvalidResourceHandle": InvalidResourceHandle,
		"IllegalAddress": IllegalAddress, "Assert": Assert, "MisalignedAddress": MisalignedAddress,
		"LaunchFailure": LaunchFailure, "NotSupported": NotSupported} {
		if numbers[name] != e {
			t.Errorf("%s is %d in C, %d here", name, numbers[name], e)
		}
	}
}

// TestRuntimeComplete: the runtime defines each function that its header declares: as one that
// works, or as one that says that it is not supported.
func TestRuntimeComplete(t *testing.T) {
	declared := header(t, "heddle/runtime.h")
	declared = declared[strings.Index(declared, `extern "C" {`):strings.Index(declared, "/* The typed forms")]
	var defined strings.Builder
	for _, f := range []string{"connect", "register", "order", "memory", "launch", "stream", "device",
		"graph", "pool", "texture", "driver", "unsupported"} {
		defined.WriteString(header(t, "exec/"+f+".c"))
	}
	functions := regexp.MustCompile(`(?m)^[^/\n]*?\b(cuda\w+|__\w+)\(`)
	n := 0
	for _, m := range functions.FindAllStringSubmatch(declared, -1) {
		if m[1] == "__attribute__" {
			continue
		}
		n++
		d := regexp.MustCompile(`(?m)^(?:UNSUPPORTED\(` + m[1] + `\)|\w[\w *]* \*?` + m[1] + `\()`)
		if !d.MatchString(defined.String()) {
			t.Errorf("%s is declared, and the runtime does not define it", m[1])
		}
	}
	if n < 100 {
		t.Errorf("only %d functions found in the header", n)
	}
}

// A reserved range becomes memory as often as it was freed before, at its own addresses, and nothing
// else is placed there.
func TestReserve(t *testing.T) {
	m := &Memory{Limit: 1 << 20}
	at, err := m.Reserve(3 << 19)
	if err != Success || at%granularity != 0 {
		t.Fatalf("%#x, error %d", at, err)
	}
	if free, _ := m.Room(); free != m.Limit {
		t.Errorf("a reservation takes memory: %d bytes are free", free)
	}
	for range 2 {
		a, err := m.Map(at+256, 1<<19, 7)
		if err != Success || a.Addr != at+256 || a.Size != 1<<19 || a.Caller != 7 {
			t.Fatalf("%+v, error %d", a, err)
		}
		for _, r := range []struct {
			addr, size uint64
			want       Error
		}{
			{at, 257, InvalidValue},                       // reaches into a
			{at + 256, 1, InvalidValue},                   // within a
			{at + 3<<19 - 1, 2, InvalidValue},             // behind the range
			{at - 1, 1, InvalidValue},                     // before it
			{at + 256 + 1<<19, 0, InvalidValue},           // nothing
			{at + 1<<20, 1<<19 + 1, InvalidValue},         // too large for the range
			{at + 256 + 1<<19, 600_000, MemoryAllocation}, // for the device
		} {
			if b, err := m.Map(r.addr, r.size, 0); err != r.want {
				t.Errorf("%d bytes at %#x: %+v, error %d", r.size, r.addr, b, err)
			}
		}
		if _, err := m.Free(a.Addr); err != Success {
			t.Fatal(err)
		}
	}
	m.next = ArenaSize // only what was freed is left, and the range is not
	if a, err := m.Alloc(1, DeviceMemory, 0); err != MemoryAllocation {
		t.Errorf("%+v is in a reserved range, error %d", a, err)
	}
	if _, err := m.Reserve(0); err != InvalidValue {
		t.Error("nothing can be reserved")
	}
}
