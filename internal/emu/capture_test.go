package emu

import (
	"bytes"
	"context"
	"encoding/binary"
	"strings"
	"testing"

	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/launch"
)

// linked is a kernel that follows pointers: from a list of pointers to arrays, and from a variable
// to another one and to a function.
const linked = `
.global .align 8 .u64 table[2] = {0, count};
.global .align 4 .u32 count = 5;
.func (.param .b32 r) twice(.param .b32 a) {
	.reg .b32 %v;
	ld.param.b32 %v, [a];
	shl.b32 %v, %v, 1;
	st.param.b32 [r], %v;
	ret;
}
.func (.param .b32 r) same(.param .b32 a) {
	.reg .b32 %v;
	ld.param.b32 %v, [a];
	st.param.b32 [r], %v;
	ret;
}
.visible .entry init(.param .u64 list, .param .u64 x) {
	.reg .u64 %f;
	mov.u64 %f, twice;
	st.global.u64 [table], %f;
	mov.u64 %f, same;
	st.global.u32 [count], 7;
	ret;
}
.visible .entry k(.param .u64 list, .param .u64 x) {
	.reg .u32 %t, %v, %n;
	.reg .u64 %l, %p, %q, %f;
	.reg .pred %c;
	ld.param.u64 %l, [list];
	mov.u32 %t, %tid.x;
	setp.ge.u32 %c, %t, 3;
	@%c ret;
	mad.wide.u32 %l, %t, 8, %l;
	ld.global.u64 %p, [%l];
	ld.global.u32 %v, [%p];
	ld.global.u64 %f, [table];
	ld.global.u64 %q, [table+8];
	ld.global.u32 %n, [%q];
	add.u32 %v, %v, %n;
	{
	.param .b32 a;
	.param .b32 r;
	st.param.b32 [a], %v;
	proto: .callprototype (.param .b32 _) _ (.param .b32 _);
	call (r), %f, (a), proto;
	ld.param.b32 %v, [r];
	}
	st.global.u32 [%p], %v;
	ret;
}
`

// A saved launch, read back, does in memory of its own what it did in the arena: it follows
// pointers in buffers, in variables, and to a function that another kernel has stored.
func TestSavedLaunch(t *testing.T) {
	k := module(t, linked) // the last kernel
	a := testArena()
	vars := map[*ir.Var]uint64{}
	for i, v := range MemoryVars(k.Module) {
		vars[v] = allocateAt(t, a, v.Name, uint64(i)*4096, uint64(v.Size))
	}
	for v, at := range vars {
		b, err := a.InitVar(v, vars)
		if err != nil {
			t.Fatal(err)
		}
		copy(a.mem[at-a.base:], b)
	}
	list := allocateAt(t, a, "list", 1<<16, 24)
	var arrays [3]uint64
	for i := range arrays {
		arrays[i] = allocateAt(t, a, "array", 1<<17+8192*uint64(i), 64+4*uint64(i))
		binary.LittleEndian.PutUint32(a.mem[arrays[i]-a.base+8:], uint32(10*i))
		binary.LittleEndian.PutUint64(a.mem[list-a.base+8*uint64(i):], arrays[i]+8)
	}
	params := binary.LittleEndian.AppendUint64(nil, list)
	params = binary.LittleEndian.AppendUint64(params, arrays[2]+72) // the end of it
	cfg := &launch.Config{Geometry: event.Geometry{Grid: dim(1), Block: dim(32), Cluster: dim(1)}}
	runIn := func(name string) *launch.Saved {
		p, err := NewProgram(k.Module.Kernel(name), a, vars)
		if err != nil {
			t.Fatal(err)
		}
		saved, err := p.Save(cfg, params)
		if err != nil {
			t.Fatal(err)
		}
		m, err := p.Machine(cfg, params)
		if err != nil {
			t.Fatal(err)
		}
		if res, err := m.Run(context.Background(), Options{}, nil); err != nil || res.Stop != nil {
			t.Fatal(name, err, res.Stop)
		}
		return saved
	}
	runIn("init")
	saved := runIn("k")
	var file bytes.Buffer
	if err := saved.Write(&file); err != nil {
		t.Fatal(err)
	}
	saved, err := launch.ReadSaved(&file)
	if err != nil {
		t.Fatal(err)
	}
	own, errs := launch.Resolve(k, launch.Request{Saved: saved}, nil)
	if len(errs) > 0 {
		t.Fatal(errs[0])
	}
	d := own.Describe()
	if strings.Contains(d, "guess") || !strings.Contains(d, "block 32 (program)") {
		t.Error(d)
	}
	m, err := New(k, own)
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Run(context.Background(), Options{}, nil)
	if err != nil || res.Stop != nil {
		t.Fatal(err, res.Stop)
	}
	for i := range arrays {
		// (10*i + 7) * 2: the other kernel has set the count to 7 and stored a pointer to twice.
		want := uint32(2 * (10*i + 7))
		if v := binary.LittleEndian.Uint32(a.mem[arrays[i]-a.base+8:]); v != want {
			t.Errorf("array %d in the arena: %d, want %d", i, v, want)
		}
		var b [4]byte
		for _, o := range res.mem.objs {
			if o.size != 64+4*uint64(i) {
				continue
			}
			known, ok := o.read(o.base+8, b[:])
			if v := binary.LittleEndian.Uint32(b[:]); !known || !ok || v != want {
				t.Errorf("array %d of the saved launch: %d, want %d", i, v, want)
			}
		}
	}
}
