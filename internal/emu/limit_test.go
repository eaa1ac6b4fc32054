package emu

import (
	"encoding/binary"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/testing/long"
)

// hungry is a consumer that takes memory with each access.
type hungry struct {
	event.Discard
	bytes uint64
}

func (h *hungry) Access(*event.Access) { h.bytes += 1 << 10 }
func (h *hungry) Memory() uint64       { return h.bytes }

// A run ends when it and its consumer need more memory than the limit, whatever it is that takes it,
// and on one core as on several.
func TestMemoryLimit(t *testing.T) {
	long.Sequential(t)
	loop := func(body string) string {
		return "mov.u32 %n, 0;\nL:\n" + body + "\nadd.u32 %n, %n, 1;\nsetp.lt.u32 %c, %n, 100000;\n" +
			"@%c bra L;\nret;"
	}
	for _, test := range []struct {
		name, text string
		blocks     uint32
	}{
		{"pages", loop("mad.wide.u32 %q, %i, 4096, %o;\nmad.wide.u32 %q, %n, 131072, %q;\n" +
			"st.global.u32 [%q], %i;"), 4},
		{"tables of pages", loop("mul.wide.u32 %q, %n, 4194304;\nadd.u64 %q, %q, %o;\n" +
			"st.global.u32 [%q], %i;"), 4},
		{"consumer", loop("st.global.u32 [%o], %i;"), 4},
		{"local memory", ".local .align 4 .b8 a[400000];\nst.local.u32 [a+399996], %i;\n" +
			"bar.sync 0;\nret;", 4},
	} {
		m, err := New(kernel(t, test.text), config(test.blocks, 256, buffer("out", 0)))
		if err != nil {
			t.Fatal(err)
		}
		for _, workers := range []int{1, 2} {
			res, err := m.Run(t.Context(), Options{Memory: 16 << 20, Workers: workers}, &hungry{})
			if err != nil || res.Status != Stopped || res.Stop.Kind != MemoryLimit ||
				res.Stop.Message != "the run touched more than 16 MiB of memory" {
				t.Errorf("%s, %d workers: status %d, %+v, %v", test.name, workers, res.Status, res.Stop, err)
				continue
			}
			if used := res.mem.used.Load(); used > 64<<20 {
				t.Errorf("%s, %d workers: %d bytes", test.name, workers, used)
			}
		}
	}
	_, err := New(kernel(t, ".local .align 4 .b8 a[1000000000];\nst.local.u32 [a], %i;\nret;"),
		config(1, 32, buffer("out", 0)))
	if err == nil || !strings.Contains(err.Error(), "at most 524288 are possible") {
		t.Errorf("a gigabyte of local memory: %v", err)
	}
}

// With DropEvents a run goes on without a consumer that takes too much memory, and computes what it
// computes with one; if the kernel itself takes too much, it ends all the same.
func TestDropEvents(t *testing.T) {
	const count = "mov.u32 %n, 0;\nL:\natom.global.add.u32 %v, [%o], 1;\nbar.sync 0;\n" +
		"add.u32 %n, %n, 1;\nsetp.lt.u32 %c, %n, 20;\n@%c bra L;\nret;"
	for _, workers := range []int{1, 2} {
		m, err := New(kernel(t, count), config(64, 256, buffer("out", 4)))
		if err != nil {
			t.Fatal(err)
		}
		opt := Options{Memory: 4 << 20, Workers: workers, DropEvents: true}
		h := new(hungry)
		res, err := m.Run(t.Context(), opt, h)
		if err != nil || res.Status != Completed || !res.Dropped || res.Blocks != 64 ||
			res.Watched == 0 || res.Watched >= 64 || h.bytes > 16<<20 {
			t.Errorf("%d workers: %+v, %d bytes, %v", workers, res, h.bytes, err)
		}
		sum := make([]byte, 4)
		if _, err := res.Read("out", 0, sum); err != nil || binary.LittleEndian.Uint32(sum) != 64*256*20 {
			t.Errorf("%d workers: counted to %v, %v", workers, sum, err)
		}
		opt.Memory = 1 << 30
		if res, err = m.Run(t.Context(), opt, new(hungry)); err != nil || res.Dropped {
			t.Errorf("%d workers, enough memory: %+v, %v", workers, res, err)
		}
	}
	m, err := New(kernel(t, ".local .align 4 .b8 a[400000];\nst.local.u32 [a+399996], %i;\n"+
		"bar.sync 0;\nret;"), config(4, 256, buffer("out", 0)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Run(t.Context(), Options{Memory: 4 << 20, DropEvents: true}, new(hungry))
	if err != nil || res.Status != Stopped || res.Stop.Kind != MemoryLimit {
		t.Errorf("too much local memory: %+v, %v", res, err)
	}
}

// A run may use all of the memory that it is given, and no byte more: what its consumer takes beyond
// that is dropped, and what the kernel does ends it.
func TestAllOfMemory(t *testing.T) {
	m, err := New(kernel(t, "st.global.u32 [%p], %i;\nbar.sync 0;\nst.global.u32 [%p], %i;\nret;"),
		config(4, 256, buffer("out", 4096)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Run(t.Context(), Options{Workers: 1}, nil)
	if err != nil || res.Status != Completed {
		t.Fatalf("%+v, %v", res, err)
	}
	used := res.mem.used.Load()
	for _, tt := range []struct {
		memory  uint64
		drop    bool
		sink    event.Sink
		status  Status
		dropped bool
	}{
		{used, false, nil, Completed, false},
		{used, false, new(hungry), Stopped, false},
		{used, true, new(hungry), Completed, true},
		{used - 1, false, nil, Stopped, false},
		{used - 1, true, new(hungry), Stopped, false},
	} {
		res, err := m.Run(t.Context(), Options{Memory: tt.memory, DropEvents: tt.drop, Workers: 1}, tt.sink)
		if err != nil || res.Status != tt.status || res.Dropped != tt.dropped {
			t.Errorf("%d of %d bytes, drop %v: status %v, dropped %v, %v", tt.memory, used, tt.drop,
				res.Status, res.Dropped, err)
		}
	}
}

// A large launch needs memory only for what runs.
func TestMemoryOfLargeGrid(t *testing.T) {
	m, err := New(kernel(t, "ret;"), config(1<<31-1, 32, buffer("out", 0)))
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Run(t.Context(), Options{MaxSteps: 100_000, Memory: 1 << 20}, &hungry{})
	if err != nil || res.Status != StepLimit || res.Blocks < 1000 {
		t.Errorf("%+v, %v", res, err)
	}
}
