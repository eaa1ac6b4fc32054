package everyop

import (
	"fmt"
	"slices"
	"strings"

	"heddle/internal/event"
	"heddle/internal/isa"
)

// examples are statements of the executable opcodes whose forms or operands the table does not have:
// control flow, matrices, textures, video and what takes constants only. The sections are those of
// their rows.
var examples = map[string]string{
	"bra":     "bra L1;",
	"brx.idx": "TS: .branchtargets L1, L2; brx.idx %r4, TS;",
	"call":    "call F;",

	"cp.async":            "cp.async.ca.shared.global [smem], [%rd1], 4;",
	"cp.async.wait_group": "cp.async.wait_group 0;",

	"cp.async.bulk.wait_group": "cp.async.bulk.wait_group 0;",
	"createpolicy":             "createpolicy.fractional.L2::evict_last.b64 %rd2, 0f3F800000;",
	"setmaxnreg":               "setmaxnreg.inc.sync.aligned.u32 64;",
	"pmevent":                  "pmevent 1;",

	"wmma.load":  "wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " + regs(0, 8) + ", [smem], 16;",
	"wmma.store": "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [smem], " + regs(8, 8) + ", 16;",
	"wmma.mma": "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 " + regs(0, 8) + ", " + regs(8, 8) + ", " +
		regs(8, 8) + ", " + regs(0, 8) + ";",
	"mma": "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + regs(0, 4) + ", " + regs(4, 4) + ", " +
		regs(8, 2) + ", " + regs(0, 4) + ";",
	"mma.sp": "mov.u32 %r5, 0x44444444; mma.sp.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 " + regs(0, 4) +
		", " + regs(6, 2) + ", " + regs(8, 2) + ", " + regs(0, 4) + ", %r5, 1;",
	"ldmatrix":  "ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [smem];",
	"stmatrix":  "stmatrix.sync.aligned.m8n8.x1.shared.b16 [smem], {%r4};",
	"movmatrix": "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r4;",

	"tex":     "tex.1d.v4.f32.s32 " + regs(0, 4) + ", [%rd5, {%r4}];",
	"tld4":    "tld4.r.2d.v4.f32.f32 " + regs(0, 4) + ", [%rd5, {%r4, %r5}];",
	"txq":     "txq.width.b32 %r1, [%rd5];",
	"suld":    "suld.b.1d.b32.trap {%r1}, [%rd5, {%r4}];",
	"sust":    "sust.b.1d.b32.trap [%rd5, {%r4}], {%r5};",
	"sured":   "sured.b.add.1d.u32.trap [%rd5, {%r4}], %r5;",
	"suq":     "suq.width.b32 %r1, [%rd5];",
	"istypep": "istypep.texref %p1, %rd5;",

	"vadd": video("vadd", "", 2), "vsub": video("vsub", "", 2), "vabsdiff": video("vabsdiff", "", 2),
	"vmin": video("vmin", "", 2), "vmax": video("vmax", "", 2), "vmad": video("vmad", "", 3),
	"vshl": video("vshl", ".clamp", 2), "vshr": video("vshr", ".clamp", 2),
	"vset":  "vset.u32.u32.eq %r1, %r4, %r5;",
	"vset2": "vset2.u32.u32.eq %r1, %r4, %r5, %r6;", "vset4": "vset4.u32.u32.eq %r1, %r4, %r5, %r6;",
	"vadd2": video("vadd2", "", 3), "vsub2": video("vsub2", "", 3), "vavrg2": video("vavrg2", "", 3),
	"vabsdiff2": video("vabsdiff2", "", 3), "vmin2": video("vmin2", "", 3), "vmax2": video("vmax2", "", 3),
	"vadd4": video("vadd4", "", 3), "vsub4": video("vsub4", "", 3), "vavrg4": video("vavrg4", "", 3),
	"vabsdiff4": video("vabsdiff4", "", 3), "vmin4": video("vmin4", "", 3), "vmax4": video("vmax4", "", 3),
}

// regs is a list of n words in braces.
func regs(from, n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("%%r%d", from+i))
	}
	return "{" + strings.Join(out, ", ") + "}"
}

func video(opcode, mods string, sources int) string {
	s := opcode + ".u32.u32.u32" + mods + " %r1"
	for i := range sources {
		s += fmt.Sprintf(", %%r%d", 4+i)
	}
	return s + ";"
}

// statements are instructions of a row, one for each of its spellings.
func statements(r *isa.Row) []string {
	if s := examples[r.Opcode]; s != "" {
		return []string{s}
	}
	first, _, _ := strings.Cut(r.Opcode, ".")
	var out []string
	for _, mods := range r.Spellings() {
		d, err := isa.Decode(first, mods)
		if err != nil {
			panic(err)
		}
		text := d.Text() + " " + strings.Join(operands(&d), ", ") + ";"
		if d.Action() == isa.ActMBarrier && d.Space == event.Shared && r.Barrier != isa.BarrierInit {
			text = made + text
		}
		if slices.Contains(d.Mods, "multicast::cluster") { // to the block itself
			text = "mov.u32 %r8, 1; " + text
		}
		out = append(out, text)
	}
	return out
}

// made is an mbarrier that expects as many arrivals as the instruction behind it makes.
const made = "mov.u32 %r5, %tid.x; setp.eq.u32 %p1, %r5, 0; mov.u32 %r5, 1; " +
	"@%p1 mbarrier.init.shared.b64 [smem], 64; bar.sync 0; "

// operands are registers, addresses and constants by the roles and types of an instruction.
func operands(d *isa.Desc) []string {
	var out []string
	dst, src := 0, 0
	roles := d.Roles()
	sources := 0
	for _, r := range roles {
		if r != isa.Dst && r != isa.DstPred && r != isa.SrcOpt {
			sources++
		}
	}
	for _, r := range roles {
		switch r {
		case isa.Dst:
			out = append(out, register(d, d.DstType(dst), dst))
			dst++
		case isa.DstPred:
			if d.Operation() == isa.OtherOperation && d.Action() == isa.ActCompute && d.Fn != isa.NoFn {
				out[len(out)-1] += "|%p1" // lop3 with a predicate
			}
			dst++
		case isa.Addr:
			out = append(out, address(d))
			src++
		case isa.Src, isa.PredSrc, isa.SrcAddr:
			out = append(out, operandOf(d, r, src, sources))
			src++
		}
	}
	return out
}

// address is one of memory that there is.
func address(d *isa.Desc) string {
	switch d.Space {
	case event.Shared:
		return "[smem]"
	case event.Local:
		return "[loc]"
	case event.Const:
		return "[table]"
	case event.Param:
		if d.Action() == isa.ActStore {
			return "[out]"
		}
		return "[in]"
	}
	return "[%rd1]"
}

func operandOf(d *isa.Desc, r isa.Role, i, n int) string {
	t := d.SrcType(i)
	switch {
	case r == isa.PredSrc:
		return "%p4"
	case d.Action() == isa.ActMBarrier && i == 1 && t == isa.U32:
		return "1"
	case d.Action() == isa.ActNumberedBarrier:
		return [...]string{"0", "32"}[i]
	case d.Has(isa.SyncMask) && i == n-1:
		return "0xffffffff"
	case d.Action() == isa.ActShuffle && i > 0:
		return "1"
	case d.Action() == isa.ActNothing && r == isa.Src:
		return "128"
	case d.Row.Category == isa.Arith && len(d.Row.Roles) > 5 && i == 3: // the table of lop3
		return "128"
	case t == isa.AnyType && d.Row.Category == isa.Address && i == 0:
		return register(d, max(d.Type, isa.U64*isa.Type(b2i(d.Type == isa.NoType))), 4)
	case t == isa.AnyType && (d.SType == isa.F16 || d.SType == isa.BF16) && i < n-1: // add.f32.f16
		return register(d, d.SType, 4+i)
	}
	return register(d, t, 4+i)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// register names a register, or as many as the instruction has elements.
func register(d *isa.Desc, t isa.Type, n int) string {
	name := func(n int) string {
		switch t.Size() {
		case 1, 2:
			return fmt.Sprintf("%%rs%d", n)
		case 8:
			return fmt.Sprintf("%%rd%d", 2+n)
		case 16:
			return fmt.Sprintf("%%rq%d", n)
		}
		if t == isa.Pred {
			return fmt.Sprintf("%%p%d", n)
		}
		return fmt.Sprintf("%%r%d", n)
	}
	if d.Vec <= 1 {
		return name(n)
	}
	var out []string
	for i := range int(d.Vec) {
		out = append(out, name(n+i))
	}
	return "{" + strings.Join(out, ", ") + "}"
}
