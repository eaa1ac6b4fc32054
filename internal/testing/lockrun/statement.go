package lockrun

import (
	"encoding/binary"
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
	"heddle/internal/lockstep/form"
)

// statement executes one statement for the enabled threads (Table 3a).
func (m *machine) statement(in *ir.Instr, enabled []uint32) {
	kind := form.KindOf(in)
	switch kind {
	case form.Barrier:
		m.sync(in, enabled)
		return
	case form.Fail:
		for _, mask := range enabled {
			if mask != 0 {
				m.res.Failed = in
			}
		}
		return
	}
	for i := range m.warps {
		w, mask := &m.warps[i], enabled[i]
		if mask == 0 {
			continue
		}
		switch kind {
		case form.Assign:
			m.assign(w, in, mask)
		case form.Read, form.Write, form.Update:
			m.access(w, in, mask)
		default:
			m.fail(in, "has no concrete meaning here")
		}
	}
	m.log.endStatement()
}

// sync is the assertion that all threads are at the barrier if one is, at one number, and as many as it counts.
func (m *machine) sync(in *ir.Instr, enabled []uint32) {
	some, all := false, true
	for i := range m.warps {
		some = some || enabled[i] != 0
		all = all && enabled[i] == m.warps[i].lanes
	}
	if !some {
		return
	}
	id, count := form.BarrierParts(in)
	first := true
	var number uint64
	each := func(visit func(w *warp, lane int)) {
		for i := range m.warps {
			for t := enabled[i]; t != 0; t &= t - 1 {
				visit(&m.warps[i], bits.TrailingZeros32(t))
			}
		}
	}
	each(func(w *warp, l int) {
		n := m.source(w, in, id, 4, 0)[l]
		all = all && (first || n == number)
		if count.Kind != ir.None {
			all = all && m.source(w, in, count, 4, 1)[l] == uint64(len(m.warps)*event.WarpSize)
		}
		number, first = n, false
	})
	if !all {
		m.res.Divergence = in
		return
	}
	m.reduce(in, each)
	m.log.endInterval()
}

// reduce gives all threads the result of a barrier with reduction (PTX ISA 9.7.13.1).
func (m *machine) reduce(in *ir.Instr, each func(func(w *warp, lane int))) {
	if len(in.Dst) == 0 {
		return
	}
	p := in.Src[len(in.Src)-1]
	n, total := uint64(0), uint64(0)
	each(func(w *warp, l int) {
		total++
		if (m.pred(w, p)>>l)&1 == 1 {
			n++
		}
	})
	r := n
	switch in.Fn {
	case isa.FnAnd:
		r = b2u(n == total)
	case isa.FnOr:
		r = b2u(n > 0)
	}
	each(func(w *warp, l int) {
		if d := in.Dst[0]; m.p.Func.Regs[d.Reg].Type == isa.Pred {
			w.preds[d.Reg] = w.preds[d.Reg]&^(1<<l) | uint32(r)<<l
		} else {
			w.regs[d.Reg][l] = r
		}
	})
}

func b2u(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// assign executes an instruction that only changes registers.
func (m *machine) assign(w *warp, in *ir.Instr, mask uint32) {
	move := in.Operation() == isa.Move
	switch {
	case in.ReadsMemory():
		m.loadParam(w, in, mask)
	case move && (in.Dst[0].Kind == ir.Vector || in.Src[0].Kind == ir.Vector):
		m.pack(w, in, mask)
	case move && m.isPred(in.Dst[0]):
		d := in.Dst[0].Reg
		w.preds[d] = w.preds[d]&^mask | m.pred(w, in.Src[0])&mask
	case move:
		m.set(w, in, in.Dst[0], m.source(w, in, in.Src[0], in.Type.Size(), 0), mask)
	case in.Action() == isa.ActConvertAddress:
		m.convertAddress(w, in, mask)
	default:
		m.compute(w, in, mask)
	}
}

// convertAddress is cvta, PTX ISA 9.7.9.20.
func (m *machine) convertAddress(w *warp, in *ir.Instr, mask uint32) {
	v := *m.source(w, in, in.Src[0], in.Type.Size(), 0)
	if in.Space == event.Shared {
		for l := range v {
			if in.Has(isa.ToSpace) {
				v[l] -= window
			} else {
				v[l] += window
			}
		}
	} else if in.Space != event.Global {
		m.fail(in, "is not supported")
	}
	m.set(w, in, in.Dst[0], &v, mask)
}

// set writes a register, cut to its width.
func (m *machine) set(w *warp, in *ir.Instr, d ir.Operand, v *alu.Lanes, mask uint32) {
	if d.Kind == ir.None {
		return
	}
	if d.Kind != ir.Register || m.isPred(d) {
		m.fail(in, "destination is not supported")
	}
	keep := ^uint64(0)
	if n := m.p.Func.Regs[d.Reg].Type.Size(); n < 8 {
		keep = 1<<(8*n) - 1
	}
	for l := range v {
		if mask>>l&1 == 1 {
			w.regs[d.Reg][l] = v[l] & keep
		}
	}
}

func (m *machine) isPred(o ir.Operand) bool {
	return o.Kind == ir.Register && m.p.Func.Regs[o.Reg].Type == isa.Pred
}

// pred returns a predicate operand.
func (m *machine) pred(w *warp, o ir.Operand) uint32 {
	v := uint32(0)
	switch {
	case o.Kind == ir.Register:
		v = w.preds[o.Reg]
	case o.Val&1 == 1:
		v = ^v
	}
	if o.Neg {
		v = ^v
	}
	return v
}

// source returns an operand; an immediate in size bytes. It may lie in tmp[slot].
func (m *machine) source(w *warp, in *ir.Instr, o ir.Operand, size, slot int) *alu.Lanes {
	if o.Kind == ir.Register && !m.isPred(o) && o.Selector() == "" {
		return &w.regs[o.Reg]
	}
	t := &m.tmp[slot]
	for l := range t {
		switch o.Kind {
		case ir.Imm:
			t[l] = o.Val
			if size > 0 && size < 8 {
				t[l] &= 1<<(8*size) - 1
			}
		case ir.VarAddr:
			at, ok := m.place[o.Var]
			if !ok {
				m.fail(in, "the address of %s", o.Var.Name)
			}
			t[l] = at + o.Val
		case ir.Special:
			t[l] = m.special(w, in, o, l)
		default:
			m.fail(in, "operand is not supported")
		}
	}
	return t
}

func (m *machine) special(w *warp, in *ir.Instr, o ir.Operand, lane int) uint64 {
	block, thread := m.geo.Index(event.ThreadOf(w.id, lane))
	at := func(d event.Dim3, i ir.Sreg) uint64 { return uint64([]uint32{d.X, d.Y, d.Z}[i]) }
	switch s := o.Sreg; {
	case s >= ir.TidX && s <= ir.TidZ:
		return at(thread, s-ir.TidX)
	case s >= ir.NtidX && s <= ir.NtidZ:
		return at(m.geo.Block, s-ir.NtidX)
	case s >= ir.CtaidX && s <= ir.CtaidZ:
		return at(block, s-ir.CtaidX)
	case s >= ir.NctaidX && s <= ir.NctaidZ:
		return at(m.geo.Grid, s-ir.NctaidX)
	case s == ir.LaneID:
		return uint64(lane)
	case s == ir.WarpSz:
		return event.WarpSize
	}
	m.fail(in, "%s is not supported", o.Sreg)
	return 0
}

// compute executes an instruction of package alu.
func (m *machine) compute(w *warp, in *ir.Instr, mask uint32) {
	f := m.alu[in]
	if f == nil {
		g, err := alu.Lookup(&in.Desc)
		if err != nil {
			m.fail(in, "%v", err)
		}
		f = &g
		m.alu[in] = f
	}
	o := &m.ops
	*o = alu.Ops{CC: &w.cc}
	n, np := 0, 0
	for i, s := range in.Src {
		switch {
		case s.Kind == ir.None:
		case m.isPred(s) || s.Kind == ir.Imm && (in.Type == isa.Pred || in.SrcType(i) == isa.Pred):
			o.PS[np] = m.pred(w, s)
			np++
		default:
			o.S[n] = m.source(w, in, s, in.SrcType(i).Size(), n)
			n++
		}
	}
	if want, known := alu.Sources(&in.Desc); known && n != want {
		m.fail(in, "%d operands", n)
	}
	var out [2]*alu.Lanes
	nd, npd := 0, 0
	for i, d := range in.Dst {
		if m.isPred(d) || d.Kind == ir.None && in.Operation() == isa.Comparison {
			if d.Kind == ir.Register {
				o.PD[npd] = &w.preds[d.Reg]
			}
			npd++
			continue
		}
		if d.Kind != ir.Register || m.p.Func.Regs[d.Reg].Type.Size() != in.DstType(i).Size() {
			m.fail(in, "destination is not as wide as the type")
		}
		out[nd] = &m.tmp[4+nd]
		*out[nd] = w.regs[d.Reg]
		o.D[nd] = out[nd]
		nd++
	}
	(*f)(o, mask)
	nd = 0
	for _, d := range in.Dst {
		if d.Kind == ir.Register && !m.isPred(d) {
			m.set(w, in, d, out[nd], mask)
			nd++
		}
	}
}

// pack is mov between a register and parts of it, the lowest first (PTX ISA 9.7.9.4).
func (m *machine) pack(w *warp, in *ir.Instr, mask uint32) {
	from, to := in.Src[0], in.Dst[0]
	var v alu.Lanes
	if from.Kind == ir.Vector {
		part := 8 * in.Type.Size() / len(from.Elems)
		for i, e := range from.Elems {
			s := m.source(w, in, e, part/8, 0)
			for l := range v {
				v[l] |= s[l] & (1<<part - 1) << (i * part)
			}
		}
	} else {
		v = *m.source(w, in, from, in.Type.Size(), 0)
	}
	if to.Kind != ir.Vector {
		m.set(w, in, to, &v, mask)
		return
	}
	part := 8 * in.Type.Size() / len(to.Elems)
	for i, e := range to.Elems {
		var s alu.Lanes
		for l := range v {
			s[l] = v[l] >> (i * part) & (1<<part - 1)
		}
		m.set(w, in, e, &s, mask)
	}
}

func littleEndian(v uint64, n int) []byte {
	return binary.LittleEndian.AppendUint64(nil, v)[:n]
}
