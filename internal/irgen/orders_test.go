package irgen

import (
	"strings"
	"testing"

	"heddle/internal/event"
)

// The pragma speaks of the next instruction, and of no other.
func TestOrderPragma(t *testing.T) {
	f := kernel(t, `.reg .b32 %r<2>;
.pragma "nounroll";
.pragma "heddle.order shared";
bar.sync 0;
bar.sync 0;
.pragma "heddle.order global";
.loc 1 2 3
fence.acq_rel.gpu;
.pragma "heddle.order none";
bar.warp.sync -1;
.pragma "heddle.order global";
atom.acquire.gpu.global.add.u32 %r1, [p], 1;
ret;`)
	var got []string
	for _, b := range f.Blocks {
		for _, in := range b.Instrs {
			got = append(got, in.Op()+" "+in.Orders.String())
		}
	}
	want := "bar shared, bar all, fence global, bar.warp.sync none, atom global, ret all"
	if s := strings.Join(got, ", "); s != want {
		t.Errorf("got  %s\nwant %s", s, want)
	}
}

func TestOrderPragmaErrors(t *testing.T) {
	for body, want := range map[string]string{
		`.pragma "heddle.order local"; bar.sync 0; ret;`:                           `unknown memory "local"; expected all, global, shared or none`,
		`.reg .b32 %r; .pragma "heddle.order shared"; mov.b32 %r, 0; ret;`:         "mov.b32 does not order memory; a .pragma",
		`.reg .b32 %r; .pragma "heddle.order shared"; ld.global.u32 %r, [p]; ret;`: "ld.global.u32 does not order memory; a .pragma",
	} {
		set, file := parse(t, header+".visible .entry k(.param .u64 p)\n{\n"+body+"\n}\n")
		_, errs := Module(set, file)
		if len(errs) != 1 || !strings.Contains(errs[0].Msg, want) {
			t.Errorf("%s: %v, want %s", body, errs, want)
		}
	}
}

// Facts about parameters say the space that a pointer points to.
func TestPointerSpaces(t *testing.T) {
	m := module(t, "// heddle.kernel k 1 1 k.cl\n// heddle.param k 0 p ptr ptr addrspace(3)\n// heddle.param k 1 q ptr ptr addrspace(4)\n"+
		"// heddle.param k 2 r ptr i32 addrspace(1)*\n"+header+".visible .entry k(.param .u64 k_0, .param .u64 k_1, .param .u64 k_2) { ret; }\n")
	for i, want := range []event.Space{event.Shared, event.Const, event.Global} {
		if got := m.Kernel("k").Params[i].PtrSpace; got != want {
			t.Errorf("parameter %d: %v, want %v", i, got, want)
		}
	}
}
