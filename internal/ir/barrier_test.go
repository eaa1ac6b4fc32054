package ir

import (
	"strings"
	"testing"

	"heddle/internal/isa"
)

// barrierInstr builds a barrier from its text without brackets: "@p bar.red.popc.u32 0 64 %p". The
// operands are sources only; a word that is no number is a register.
func barrierInstr(t *testing.T, text string) *Instr {
	t.Helper()
	words := strings.Fields(text)
	in := &Instr{Guard: NoReg}
	if words[0] == "@p" {
		in.Guard, words = 0, words[1:]
	}
	mods := strings.Split(words[0], ".")
	d, err := isa.Decode(mods[0], mods[1:])
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	in.Desc = d
	for _, w := range words[1:] {
		o := Operand{Kind: Register, Reg: 1}
		switch {
		case w == "_":
			o = Operand{Kind: None}
		case w[0] >= '0' && w[0] <= '9':
			o = Operand{Kind: Imm, Reg: NoReg}
			for _, c := range w {
				o.Val = 10*o.Val + uint64(c-'0')
			}
		}
		in.Src = append(in.Src, o)
	}
	return in
}

// What is a barrier of the block, and in which of the three senses that engines need.
func TestBlockBarrier(t *testing.T) {
	const (
		no = iota
		reduces
		plainGuarded
		unguarded
	)
	for _, c := range []struct {
		text string
		want int
	}{
		{"bar.sync 0", unguarded},
		{"barrier.sync 0", unguarded},
		{"barrier.sync.aligned 0", unguarded},
		{"bar.cta.sync 0", unguarded},
		{"@p bar.sync 0", plainGuarded},
		{"bar.red.popc.u32 0 %p", reduces},
		{"bar.red.and.pred 0 %p", reduces},
		{"@p bar.red.or.pred 0 %p", reduces},
		{"bar.red.or.pred 0 64 %p", no}, // counted
		{"bar.sync 0 64", no},
		{"bar.sync 1", no},
		{"bar.sync %r", no}, // which number is not known
		{"bar.sync", no},
		{"bar.arrive 0 64", no},
		{"bar.warp.sync 0", no},
		{"barrier.cluster.arrive", no},
		{"barrier.cluster.wait", no},
		{"mbarrier.arrive.shared.b64 0", no},
		{"add.u32 0 0", no},
	} {
		in := barrierInstr(t, c.text)
		b, ok := in.BlockBarrier()
		got := no
		switch {
		case ok && b.Unguarded():
			got = unguarded
		case ok && b.Plain():
			got = plainGuarded
		case ok:
			got = reduces
		}
		if got != c.want {
			t.Errorf("%s: got %d (%+v), want %d", c.text, got, b, c.want)
		}
	}
	if _, ok := new(Instr).BlockBarrier(); ok {
		t.Error("an instruction without a row is a barrier")
	}
}

// The operands of barriers are where the ISA text has them (9.7.13.1, 9.7.13.2, 9.7.13.15).
func TestBarrierOperands(t *testing.T) {
	for _, c := range []struct {
		text                 string
		object               isa.BarrierObject
		kind                 isa.BarrierKind
		waits                bool
		id, count, predicate int
	}{
		{"bar.sync 3", isa.NumberedBarrier, isa.BarrierSync, true, 0, -1, -1},
		{"bar.sync 3 _", isa.NumberedBarrier, isa.BarrierSync, true, 0, -1, -1},
		{"bar.sync 3 %r", isa.NumberedBarrier, isa.BarrierSync, true, 0, 1, -1},
		{"bar.arrive 3 64", isa.NumberedBarrier, isa.BarrierArrive, false, 0, 1, -1},
		{"bar.red.popc.u32 3 %p", isa.NumberedBarrier, isa.BarrierReduce, true, 0, -1, 1},
		{"bar.red.popc.u32 3 64 %p", isa.NumberedBarrier, isa.BarrierReduce, true, 0, 1, 2},
		{"bar.warp.sync %r", isa.WarpBarrier, isa.BarrierSync, true, 0, -1, -1},
		{"barrier.cluster.arrive.relaxed", isa.ClusterBarrier, isa.BarrierArrive, false, -1, -1, -1},
		{"barrier.cluster.wait.acquire", isa.ClusterBarrier, isa.BarrierWait, true, -1, -1, -1},
		{"mbarrier.init.shared.b64 %a 4", isa.MBarrier, isa.BarrierInit, false, 0, 1, -1},
		{"mbarrier.arrive.shared.b64 %a", isa.MBarrier, isa.BarrierArrive, false, 0, -1, -1},
		{"mbarrier.arrive.expect_tx.shared.b64 %a 64", isa.MBarrier, isa.BarrierArrive, false, 0, -1, -1},
		{"mbarrier.try_wait.parity.shared.b64 %a 1", isa.MBarrier, isa.BarrierTest, false, 0, -1, -1},
	} {
		in := barrierInstr(t, c.text)
		b, ok := in.Barrier()
		index := func(o *Operand) int {
			for i := range in.Src {
				if o == &in.Src[i] {
					return i
				}
			}
			return -1
		}
		if !ok || b.Object != c.object || b.Kind != c.kind || b.Waits != c.waits {
			t.Errorf("%s: got %+v", c.text, b)
		}
		if index(b.ID) != c.id || index(b.Count) != c.count || index(b.Predicate) != c.predicate {
			t.Errorf("%s: number %d, count %d, predicate %d", c.text, index(b.ID), index(b.Count), index(b.Predicate))
		}
	}
}
