package emu

import (
	"context"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/launch"
)

// faultRecorder is a recorder that also keeps which lanes went on after an invalid access.
type faultRecorder struct {
	recorder
	warps map[event.Warp]uint32
}

func (r *faultRecorder) Fault(w event.Warp, mask uint32) {
	if r.warps == nil {
		r.warps = make(map[event.Warp]uint32)
	}
	r.warps[w] |= mask
}

// runFaults runs a kernel that makes invalid accesses.
func runFaults(t *testing.T, text string, cfg *launch.Config, opt Options) (*Result,
	*faultRecorder) {
	t.Helper()
	m, err := New(kernel(t, text), cfg)
	if err != nil {
		t.Fatal(err)
	}
	r := &faultRecorder{}
	res, err := m.Run(context.Background(), opt, r)
	if err != nil {
		t.Fatal(err)
	}
	return res, r
}

// A run goes on after an invalid access. The values follow from its definition: a read returns 0,
// a write is dropped, an atomic operation returns 0, and the other lanes are not affected.
func TestInvalidAccesses(t *testing.T) {
	const shared = ".shared .align 16 .b8 buf[64];\nmov.u32 %u, buf;\n"
	const upper = 0xffff0000 // the lanes beyond an array of 16 words
	for _, test := range []struct {
		name, text string
		kind       StopKind
		lanes      uint32
		message    string
	}{
		{"read", "mad.wide.u32 %q, %i, 4, %x;\nld.global.u32 %v, [%q];", OutOfBounds, upper,
			"read of 4 bytes at offset 64 of x, which has 64 bytes"},
		{"generic", "mad.wide.u32 %q, %i, 4, %x;\nld.u32 %v, [%q];", OutOfBounds, upper,
			"read of 4 bytes at offset 64 of x, which has 64 bytes"},
		{"unmapped", "setp.lt.u32 %c, %i, 16;\nselp.b64 %q, %x, 5, %c;\nld.u32 %v, [%q];", OutOfBounds,
			upper, "null pointer"},
		{"misaligned", "setp.ge.u32 %c, %i, 16;\nselp.u32 %w, 2, 0, %c;\nmad.wide.u32 %q, %w, 1, %x;\n" +
			"ld.global.u32 %v, [%q];", Misaligned, upper, "x+0x2 is not aligned to 4"},
		{"atomic", "mad.wide.u32 %q, %i, 4, %x;\natom.global.or.b32 %v, [%q], 0;", OutOfBounds, upper,
			"atomic of 4 bytes at offset 64 of x"},
		{"shared", shared + "mad.lo.u32 %u, %i, 4, %u;\nsetp.lt.u32 %c, %i, 16;\n" +
			"@%c st.shared.u32 [%u], 7;\nld.shared.u32 %v, [%u];", OutOfBounds, upper,
			"read of 4 bytes at offset 64 of buf, outside of the 64 bytes of shared memory"},
		{"shared atomic", shared + "mad.lo.u32 %u, %i, 4, %u;\nsetp.lt.u32 %c, %i, 16;\n" +
			"@%c st.shared.u32 [%u], 7;\natom.shared.or.b32 %v, [%u], 0;", OutOfBounds, upper,
			"atomic of 4 bytes at offset 64 of buf"},
		{"shared write", shared + "mad.lo.u32 %u, %i, 4, %u;\nst.shared.u32 [%u], 7;\n" +
			"and.b32 %u, %u, 63;\nsetp.lt.u32 %c, %i, 16;\nmov.u32 %v, 0;\n@%c ld.shared.u32 %v, [%u];",
			OutOfBounds, upper, "write of 4 bytes at offset 64 of buf"},
		{"local", ".local .align 8 .b8 loc[64];\n.reg .u32 %l;\nmov.u32 %l, loc;\n" +
			"st.local.u32 [loc], 7;\nsetp.lt.u32 %c, %i, 16;\nselp.u32 %u, 0, 64, %c;\nadd.u32 %l, %l, %u;\n" +
			"ld.local.u32 %v, [%l];", OutOfBounds, upper, "64 bytes of local memory"},
		{"vector", "and.b32 %w, %i, 16;\nmad.wide.u32 %q, %w, 4, %x;\nld.global.v2.u32 {%v, %w}, [%q];",
			OutOfBounds, upper, "read of 8 bytes at offset 64 of x"},
	} {
		cfg := config(1, 32, buffer("out", 128), launch.Arg{Name: "x",
			Buffer: &launch.Buffer{Name: "x", Size: 64, Fill: launch.FillValue, Value: 7}})
		res, r := runFaults(t, "mov.u32 %v, 9;\n"+test.text+"\nst.global.u32 [%p], %v;\nret;", cfg,
			Options{})
		if len(res.Faults) != 1 || res.Status != Stopped || res.Stop != &res.Faults[0].Stop {
			t.Errorf("%s: status %d, %d faults: %+v", test.name, res.Status, len(res.Faults), res.Stop)
			continue
		}
		f := res.Faults[0]
		if f.Kind != test.kind || f.Index.X != 16 || f.Count != 16 ||
			!strings.Contains(f.Message, test.message) {
			t.Errorf("%s: %+v", test.name, f)
		}
		if got := r.warps[0]; got != test.lanes {
			t.Errorf("%s: lanes %#x were reported, want %#x", test.name, got, test.lanes)
		}
		wantWords(t, res, "out", 32, func(i int) uint32 {
			if i < 16 {
				return 7
			}
			return 0
		})
	}
}

// Each place is reported once for each kind, with its first access, however many threads and blocks
// get there; several workers report the same as one.
func TestFaultsBySite(t *testing.T) {
	text := `
	ld.global.u32 %v, [%o+4096];
	and.b32 %w, %i, 1;
	shl.b32 %w, %w, 1;
	mad.wide.u32 %q, %w, 1, %o;
	st.global.u32 [%q], %v;
	bar.sync 0;
	st.global.u32 [%o+8192], %v;
	ret;`
	var want *Result
	for _, workers := range []int{1, 2} {
		res, _ := runFaults(t, text, config(6, 64, buffer("out", 4096)), Options{Workers: workers})
		var got []string
		for _, f := range res.Faults {
			got = append(got, fmt.Sprintf("%d: %d, %d times", f.Site-preamble, f.Kind, f.Count))
		}
		sites := []string{"0: 2, 384 times", "4: 3, 192 times", "6: 2, 384 times"}
		if !reflect.DeepEqual(got, sites) {
			t.Errorf("%d workers: %q, want %q", workers, got, sites)
		}
		if res.Blocks != 6 || want != nil && !reflect.DeepEqual(want.Faults, res.Faults) {
			t.Errorf("%d workers: %d blocks, %+v", workers, res.Blocks, res.Faults)
		}
		want = res
	}
}

// A loop that waits at an invalid address waits forever: the value there does not change.
func TestSpinOnInvalidAddress(t *testing.T) {
	res, _ := runFaults(t, "L:\nld.volatile.global.u32 %v, [%o+64];\nsetp.eq.u32 %c, %v, 0;\n"+
		"@%c bra L;\nret;", config(1, 32, buffer("out", 64)), Options{MaxSteps: 100_000})
	if res.Status == Completed || len(res.Faults) != 1 || res.Faults[0].Count < 32 {
		t.Errorf("%+v", res)
	}
}

// A machine with affine registers treats accesses at the ends of memory and of the address space
// like one without, where sums of addresses and sizes wrap around.
func TestAccessAtTheEnds(t *testing.T) {
	bases := []string{"0", "4", "-4", "-8", "-124", "-128", "-132", "3968", "3972", "4092", "4096",
		"0x7ffffffc", "0x80000000", "0xfffffffffffffffc", "0x7fffffffffffff80", "0x100000000",
		"0x100000f80", "0xffffffff80"}
	strides := []string{"0", "4", "8", "-4", "-8", "0x8000000", "0x40000000"}
	accesses := []string{"ld%s.u32 %%v, [%s];", "ld%s.v2.u32 {%%v, %%w}, [%s];",
		"st%s.u32 [%s], %%t;", "st%s.v2.u32 [%s], {%%t, %%i};"}
	spaces := []struct{ space, addr, text string }{
		{".shared", "%u", "cvt.u32.u64 %%u, %s;\nmad.lo.u32 %%u, %%t, %s, %%u;"},
		{".shared", "%q", "mad.wide.s32 %%q, %%t, %[2]s, %[1]s;"},
		{".global", "%q", "mad.wide.s32 %%q, %%t, %[2]s, %[1]s;\nadd.u64 %%q, %%q, %%o;"},
		{"", "%q", "mad.wide.s32 %%q, %%t, %[2]s, %[1]s;"},
	}
	for _, s := range spaces {
		for _, base := range bases {
			for _, stride := range strides {
				text := ".shared .align 16 .b8 buf[4096];\nmov.u32 %z, buf;\nmov.u64 %r, " + base + ";\n" +
					fmt.Sprintf(s.text, "%r", stride) + "\n"
				for _, a := range accesses {
					sameWithForms(t, text+fmt.Sprintf(a, s.space, s.addr)+"\nret;")
				}
			}
		}
	}
}

// sameWithForms compares a run of a kernel with affine registers with one without.
func sameWithForms(t *testing.T, text string) {
	t.Helper()
	k := kernel(t, text)
	var faults [2][]Fault
	var events [2][]any
	for i := range faults {
		m, err := newMachine(k, config(1, 32, buffer("out", 4096)), nil, i > 0)
		if err != nil {
			t.Fatal(err)
		}
		r := &recorder{}
		res, err := m.Run(context.Background(), Options{}, r)
		if err != nil {
			t.Fatal(err)
		}
		faults[i], events[i] = res.Faults, r.events
	}
	if !reflect.DeepEqual(faults[0], faults[1]) || !reflect.DeepEqual(events[0], events[1]) {
		t.Errorf("%s\n%+v without forms, %+v with", text, faults[0], faults[1])
	}
}
