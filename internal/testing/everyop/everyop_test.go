// Package everyop takes each row of the instruction table through every engine. An engine either
// models an instruction or says that it does not: a row that one of them forgot must end as
// "unsupported", and never as an instruction that does nothing.
package everyop

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"heddle/internal/emu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/irgen"
	"heddle/internal/isa"
	"heddle/internal/launch"
	"heddle/internal/lockstep"
	"heddle/internal/lockstep/form"
	"heddle/internal/ptx"
	"heddle/internal/repair"
	"heddle/internal/slice"
	"heddle/internal/source"
	"heddle/internal/syntax"
)

const frame = `.version 9.0
.target sm_100a
.address_size 64
.const .align 16 .b8 table[64] = {1, 2, 3};
.func F { ret; }
.visible .entry k(.param .u64 .ptr .global .align 16 a, .param .align 16 .b8 in[64]) {
	.shared .align 16 .b8 smem[4096];
	.local .align 16 .b8 loc[64];
	.param .align 16 .b8 out[64];
	.reg .pred %%p<20>;
	.reg .b16 %%rs<20>;
	.reg .b32 %%r<20>;
	.reg .b64 %%rd<20>;
	.reg .b128 %%rq<20>;
	ld.param.u64 %%rd1, [a];
	cvta.to.global.u64 %%rd1, %%rd1;
	%s
L1:
	st.shared.u32 [smem+2048], %%r1;
L2:
	ret;
}
`

// kernel is one instruction in a kernel.
type kernel struct {
	text string
	row  *isa.Row
	file *source.File
	tree *ptx.Func
	mod  *ir.Module
	fn   *ir.Func
	in   *ir.Instr // the instruction
}

// build makes a kernel of a statement, which every reader must accept.
func build(t *testing.T, row *isa.Row, text string) *kernel {
	t.Helper()
	set := source.NewSet()
	file, err := set.Add("k.ptx", fmt.Appendf(nil, frame, text))
	if err != nil {
		t.Fatal(err)
	}
	tree, errs := ptx.Parse(file)
	if len(errs) > 0 {
		t.Errorf("%s: %v", text, errs[0])
		return nil
	}
	k := &kernel{text: text, row: row, file: file}
	if k.mod, errs = irgen.Module(set, tree); len(errs) > 0 {
		t.Errorf("%s: %v", text, errs[0])
		return nil
	}
	for _, e := range ir.CheckModule(k.mod) {
		t.Errorf("%s: %v", text, e)
	}
	k.fn = k.mod.Kernel("k")
	for _, n := range tree.Decls {
		if f, ok := n.(*ptx.Func); ok && f.Entry {
			k.tree = f
		}
	}
	for _, b := range k.fn.Blocks {
		for _, in := range b.Instrs {
			if in.Row == row && k.in == nil && in.Index >= 2 {
				k.in = in
			}
		}
	}
	if k.in == nil {
		t.Errorf("%s: the kernel has no %s", text, row.Opcode)
		return nil
	}
	return k
}

func TestEveryRow(t *testing.T) {
	n := 0
	for row := range isa.Rows() {
		t.Run(row.Opcode, func(t *testing.T) {
			for _, text := range statements(row) {
				k := build(t, row, text)
				if k == nil {
					continue
				}
				n++
				k.all(t)
			}
		})
	}
	if n < 1500 {
		t.Errorf("%d instructions only", n)
	}
}

// all takes the kernel through the engines.
func (k *kernel) all(t *testing.T) {
	t.Helper()
	defer func() {
		if e := recover(); e != nil {
			t.Errorf("%s: panic: %v", k.text, e)
		}
	}()
	k.run(t)
	k.trace(t)
	k.static(t)
	k.form(t)
	k.rewrite(t)
}

// recorder notes which kinds of events there were for one instruction.
type recorder struct {
	event.Discard
	m                                                 *emu.Machine
	in                                                *ir.Instr
	kinds                                             map[event.Kind]bool
	copied, grouped, fenced, arrived, synced, proxied bool
	orders                                            event.Orders // of the last fence
}

func (r *recorder) mine(s event.Site) bool { return r.m.Site(s).Instr == r.in }

func (r *recorder) Access(a *event.Access) {
	if r.mine(a.Site) {
		r.kinds[a.Kind] = true
	}
}
func (r *recorder) Copy(*event.Copy)               { r.copied = true }
func (r *recorder) CopyGroup(*event.CopyGroup)     { r.grouped = true }
func (r *recorder) Bulk(*event.Bulk)               { r.copied = true }
func (r *recorder) Matrix(*event.Matrix)           { r.copied = true }
func (r *recorder) MatrixGroup(*event.MatrixGroup) { r.grouped = true }
func (r *recorder) Tensor(*event.TensorAgent)      { r.copied = true }
func (r *recorder) TensorSync(*event.TensorSync)   { r.grouped = true }
func (r *recorder) BulkGroup(*event.BulkGroup)     { r.grouped = true }
func (r *recorder) MBarrier(*event.MBarrier)       { r.arrived = true }
func (r *recorder) ProxyFence(*event.ProxyFence)   { r.proxied = true }
func (r *recorder) Fence(e *event.Fence) {
	r.fenced, r.orders = r.fenced || !e.Grid, e.Orders
}
func (r *recorder) Arrive(*event.Arrive)     { r.arrived = true }
func (r *recorder) WarpSync(*event.WarpSync) { r.synced = true }

func (k *kernel) config(t *testing.T) *launch.Config {
	t.Helper()
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	block := event.Dim3{X: 32, Y: 1, Z: 1}
	cfg, errs := launch.Resolve(k.fn, launch.Request{Grid: &one, Block: &block}, nil)
	if cfg == nil || len(errs) > 0 {
		t.Fatalf("%s: %v", k.text, errs)
	}
	return cfg
}

// run executes the kernel. What is not executable stops it, and what is makes the events that the
// table says.
func (k *kernel) run(t *testing.T) {
	t.Helper()
	m, err := emu.New(k.fn, k.config(t))
	if err != nil {
		t.Errorf("%s: %v", k.text, err)
		return
	}
	rec := &recorder{m: m, in: k.in, kinds: make(map[event.Kind]bool)}
	res, err := m.Run(t.Context(), emu.Options{MaxSteps: 1000, Workers: 1}, rec)
	if err != nil {
		t.Errorf("%s: %v", k.text, err)
		return
	}
	stopped := res.Status == emu.Stopped
	switch {
	case !k.row.Executable && (!stopped || res.Stop.Kind != emu.Unsupported):
		t.Errorf("%s: not executable, but a run ends with %v %+v", k.text, res.Status, res.Stop)
	case !stopped:
		k.events(t, rec)
	}
}

// events compares the events of a run with what the table says of the instruction.
func (k *kernel) events(t *testing.T, rec *recorder) {
	t.Helper()
	list, known := k.in.Accesses()
	for _, a := range list {
		seen := a.Space != event.Shared && a.Space != event.Global && a.Space != event.Generic || rec.kinds[a.Kind] ||
			a.Async && rec.copied || k.in.Action() == isa.ActMBarrier // whose event is its own
		if !seen {
			t.Errorf("%s: a run has no %v", k.text, a.Kind)
		}
	}
	if known && len(list) == 0 && len(rec.kinds) > 0 {
		t.Errorf("%s: a run has accesses", k.text)
	}
	f, ok := k.in.Fence()
	whole := ok && (f.Kind == isa.FullFence || f.Kind == isa.SharedFence)
	if whole && !rec.fenced {
		t.Errorf("%s: a run has no fence", k.text)
	} else if !whole && rec.fenced || f.Kind == isa.SharedFence && rec.orders == event.OrdersAll {
		t.Errorf("%s: a run has a fence, which orders more", k.text)
	}
	if a := k.in.Action(); (a == isa.ActCopyGroup || a == isa.ActBulkGroup) && !rec.grouped {
		t.Errorf("%s: a run has no group", k.text)
	}
	if f, ok := k.in.Fence(); ok && f.Proxy == isa.AsyncProxy && !rec.proxied {
		t.Errorf("%s: a run has no proxy fence", k.text)
	}
	if b, ok := k.in.Barrier(); ok {
		switch b.Object {
		case isa.NumberedBarrier:
			ok = rec.arrived
		case isa.WarpBarrier:
			ok = rec.synced
		case isa.MBarrier: // a test may find that its phase is not complete
			ok = rec.arrived || b.Kind == isa.BarrierTest || b.Kind == isa.BarrierCount
		}
		if !ok {
			t.Errorf("%s: a run has no barrier", k.text)
		}
	}
}

// harmless reports whether an instruction that is not executable has no effect on what a trace or a
// proof is about: fences, which could only order more, and registers that the kernel does not use.
func (k *kernel) harmless() bool {
	switch k.in.Action() {
	case isa.ActPartialFence, isa.ActProxyFence:
		return true
	case isa.ActBulkPrefetch: // a hint
		return true
	}
	return false
}

// trace slices the kernel and traces the slice.
func (k *kernel) trace(t *testing.T) {
	t.Helper()
	in, name := slice.Unsupported(k.fn)
	sl := slice.Of(k.fn, slice.Options{Grid: true})
	m, err := emu.NewTrace(k.fn, k.config(t), sl)
	if err != nil {
		t.Errorf("%s: %v", k.text, err)
		return
	}
	res, err := m.Run(t.Context(), emu.Options{MaxSteps: 1000, Workers: 1}, event.Discard{})
	if err != nil {
		t.Errorf("%s: %v", k.text, err)
		return
	}
	outside := k.in.Action() == isa.ActDiscard || k.row.Category == isa.Texture // not shared memory
	if !k.row.Executable && in == nil && name == "" && res.Status != emu.Stopped && !k.harmless() && !outside {
		t.Errorf("%s: not executable, but a trace ends with %v", k.text, res.Status)
	}
}

// static makes guarded accesses and ends of intervals of the kernel.
func (k *kernel) static(t *testing.T) {
	t.Helper()
	one := event.Dim3{X: 1, Y: 1, Z: 1}
	inlined, err := ir.Inline(k.fn)
	if err != nil {
		t.Errorf("%s: %v", k.text, err)
		return
	}
	th, err := lockstep.Build(t.Context(), inlined, lockstep.Options{
		Geometry: event.Geometry{Grid: one, Block: event.Dim3{X: 32, Y: 1, Z: 1}, Cluster: one},
	})
	var unsupported *lockstep.UnsupportedError
	if err != nil {
		if !errors.As(err, &unsupported) || !strings.Contains(err.Error(), ":") {
			t.Errorf("%s: %v", k.text, err)
		}
		return
	}
	if !k.row.Executable && !k.harmless() {
		t.Errorf("%s: not executable, but a proof takes it", k.text)
		return
	}
	k.proved(t, th)
}

// proved compares the guarded accesses of a thread with what the table says of the instruction.
func (k *kernel) proved(t *testing.T, th *lockstep.Thread) {
	t.Helper()
	kinds := make(map[event.Kind]bool)
	for i := range th.Accesses {
		if th.Accesses[i].Instr.Row == k.row {
			kinds[th.Accesses[i].Kind] = true
		}
	}
	list, _ := k.in.Accesses()
	for _, a := range list {
		if (a.Space == event.Shared || a.Space == event.Global || a.Space == event.Generic) && !kinds[a.Kind] {
			t.Errorf("%s: a proof has no %v", k.text, a.Kind)
		}
	}
	if _, fence := k.in.Fence(); fence && len(th.Approximate) == 0 {
		t.Errorf("%s: a proof takes no notice of it", k.text)
	}
	if b, ok := k.in.Barrier(); ok && b.Object == isa.NumberedBarrier {
		found := false
		for i := range th.Ends {
			found = found || th.Ends[i].Instr != nil && th.Ends[i].Instr.Row == k.row
		}
		if !found {
			t.Errorf("%s: a proof has no end of an interval", k.text)
		}
	}
}

// form makes the lock-step form of the paper.
func (k *kernel) form(t *testing.T) {
	t.Helper()
	inlined, err := ir.Inline(k.fn)
	if err != nil {
		t.Errorf("%s: %v", k.text, err)
		return
	}
	p, err := form.New(inlined)
	var unsupported *form.UnsupportedError
	switch {
	case err != nil && !errors.As(err, &unsupported):
		t.Errorf("%s: %v", k.text, err)
	case err != nil:
		return
	case !k.row.Executable && !k.harmless():
		if kind := form.KindOf(k.in); kind == form.Order || kind == form.Assign {
			t.Errorf("%s: not executable, but its lock-step form has no effect", k.text)
		}
	}
	_ = p.Predicated()
}

// rewrite analyses the kernel as repairs and the search for barriers do.
func (k *kernel) rewrite(t *testing.T) {
	t.Helper()
	if x := repair.New(&repair.Kernel{File: k.file, Tree: k.tree, Func: k.fn}); x == nil {
		t.Errorf("%s: no transformer", k.text)
	}
	unit, pointed := syntax.OfPTX(k.mod)
	for _, e := range ir.CheckModule(pointed) {
		t.Errorf("%s: with points: %v", k.text, e)
	}
	if len(unit.Funcs) == 0 {
		t.Errorf("%s: no label tree", k.text)
	}
}
