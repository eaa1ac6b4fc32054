package instrument

import (
	"fmt"
	"strconv"
	"strings"
)

// The device side of the queues, as PTX: Barracuda, section 4.2. All lanes of a warp that execute
// a log call together write one record. The leader, the first lane that takes part, reserves
// slots; the lanes store their addresses in parallel; the leader then makes the record visible.
//
// Deviations from the paper: records have a length that fits their contents; each is published by
// a word of its own and not by a common commit index, so that no warp waits for another one;
// strong accesses are executed under one lock and get tickets, which order the queues
// (docs/theory/queues.md).
//
// The code depends on the version of PTX: from 6.0 on, the operations of a warp name their lanes,
// and a barrier makes the lanes of a warp meet. Before, lanes that are together stay together.

// target is what the target of a module has.
type target struct {
	ptx        int  // version times 10
	sm         int  // 70 of sm_70
	sync       bool // operations of a warp with masks (PTX 6.0)
	activemask bool // PTX 6.2
	model      bool // orders and scopes of the memory model: PTX 6.0 and sm_70
}

// targetOf reads the version and the target of a module.
func targetOf(version, sm string) (target, error) {
	var t target
	major, minor, _ := strings.Cut(version, ".")
	a, err1 := strconv.Atoi(major)
	b, err2 := strconv.Atoi(minor)
	if err1 != nil || err2 != nil {
		return t, fmt.Errorf("PTX version %q is unknown", version)
	}
	t.ptx = 10*a + b
	digits := strings.TrimRight(strings.TrimPrefix(sm, "sm_"), "af")
	var err error
	if t.sm, err = strconv.Atoi(digits); err != nil {
		return t, fmt.Errorf("target %q is unknown", sm)
	}
	if t.ptx < 30 || t.sm < 30 {
		return t, fmt.Errorf("target %s with PTX %s has no shfl, by which the lanes of a warp log "+
			"together", sm, version)
	}
	t.sync, t.activemask = t.ptx >= 60, t.ptx >= 62
	t.model = t.sync && t.sm >= 70
	return t, nil
}

// variant is one log function.
type variant struct {
	name   string
	addr   bool
	words  int  // of data
	forced bool // data is always part of the record
	strong bool // ends a strong access
}

// gone is where lanes continue that log nothing. Those of a strong access release the lock.
func (v *variant) gone() string {
	if v.strong {
		return "$unlock"
	}
	return "$out"
}

// The names of the log functions.
const (
	markFunc   = Prefix + "mark"
	accessFunc = Prefix + "access"
	storeFunc  = Prefix + "store" // and the words that a lane stores
	copyFunc   = Prefix + "copy"
	beginFunc  = Prefix + "begin"
	endFunc    = Prefix + "end"
)

// code writes PTX.
type code struct {
	b   strings.Builder
	t   target
	opt *Options
}

func (c *code) line(format string, args ...any) {
	c.b.WriteByte('\t')
	fmt.Fprintf(&c.b, format, args...)
	c.b.WriteString(";\n")
}

func (c *code) label(name string) { c.b.WriteString(name + ":\n") }

// ballot sets dst to the lanes of active with pred.
func (c *code) ballot(dst, pred string) {
	if c.t.sync {
		c.line("vote.sync.ballot.b32 %s, %s, %%active", dst, pred)
	} else {
		c.line("vote.ballot.b32 %s, %s", dst, pred)
	}
}

// all sets dst to whether pred holds in all lanes of active.
func (c *code) all(dst, pred string) {
	if c.t.sync {
		c.line("vote.sync.all.pred %s, %s, %%active", dst, pred)
	} else {
		c.line("vote.all.pred %s, %s", dst, pred)
	}
}

// from64 sets dst to src of another lane. It uses %lo and %hi.
func (c *code) from64(dst, src, lane string) {
	c.line("mov.b64 {%%lo, %%hi}, %s", src)
	for _, r := range []string{"%lo", "%hi"} {
		if c.t.sync {
			c.line("shfl.sync.idx.b32 %s, %s, %s, 31, %%active", r, r, lane)
		} else {
			c.line("shfl.idx.b32 %s, %s, %s, 31", r, r, lane)
		}
	}
	c.line("mov.b64 %s, {%%lo, %%hi}", dst)
}

// together makes the lanes of active meet, with their memory accesses in order.
func (c *code) together() {
	if c.t.sync {
		c.line("bar.warp.sync %%active")
	} else {
		c.line("membar.sys")
	}
}

// fence orders memory, for the host too if sys is set.
func (c *code) fence(sys bool) {
	scope := "gl"
	if c.t.model {
		if scope = "gpu"; sys {
			scope = "sys"
		}
		c.line("fence.acq_rel.%s", scope)
		return
	}
	if sys {
		scope = "sys"
	}
	c.line("membar.%s", scope)
}

// activeLanes sets %active to the lanes that are here together.
func (c *code) activeLanes() {
	if c.t.activemask {
		c.line("activemask.b32 %%active")
		return
	}
	c.line("setp.eq.u32 %%p, 0, 0")
	c.line("vote.ballot.b32 %%active, %%p")
}

// lowest sets dst to the number of the lowest lane of a mask, which is not empty.
func (c *code) lowest(dst, mask string) {
	c.line("brev.b32 %s, %s", dst, mask)
	c.line("clz.b32 %s, %s", dst, dst)
}

// registers declares the registers of all log functions; ptxas drops those without a use.
const registers = `	.reg .pred %p, %q, %on, %off, %follows, %affine, %same, %need;
	.reg .b16 %h;
	.reg .b32 %site, %takes, %active, %mask, %lane, %leader, %second, %lo, %hi, %stride, %n, %a, %b;
	.reg .b32 %queues, %slots, %warp, %block, %flags, %rank, %addrs, %stored, %i, %row, %word, %log;
	.reg .b32 %start;
	.reg .b64 %device, %host, %addr, %base, %diff, %x, %y, %queue, %tail, %ring, %idx, %end, %slot;
	.reg .b64 %first, %ticket, %d0, %d1, %d2, %d3, %e0, %e1, %e2, %e3;
`

// device returns the variables and functions of the device side.
func device(t target, opt *Options, variants []variant, strong bool) string {
	c := &code{t: t, opt: opt}
	linkage := ".weak"
	if t.ptx < 31 {
		linkage = ".visible"
	}
	device, host := "", ""
	if q := opt.Queues; q > 0 {
		for _, v := range []struct {
			name string
			size int
		}{{DeviceVar, DeviceBytes(q)}, {HostVar, HostBytes(q, opt.Slots)}} {
			fmt.Fprintf(&c.b, "%s .global .align 32 .b8 %s[%d];\n", linkage, v.name, v.size)
		}
		device, host = " = generic("+DeviceVar+")", " = generic("+HostVar+")"
	}
	fmt.Fprintf(&c.b, "%s .global .align 8 .u64 %s%s;\n%s .global .align 8 .u64 %s%s;\n", linkage,
		DevicePtr, device, linkage, HostPtr, host)
	if n := opt.Number; n != 0 {
		fmt.Fprintf(&c.b, "%s .global .align 4 .u32 %s = %d;\n", linkage, NumberVar, n)
	}
	if opt.Free != nil || opt.Proved != nil {
		fmt.Fprintf(&c.b, "%s .global .align 4 .u32 %s = 1;\n", linkage, LogAll)
	}
	if strong {
		c.begin()
		variants = append(variants, variant{name: endFunc, addr: true, strong: true})
	}
	for _, v := range variants {
		c.function(v)
	}
	return c.b.String()
}

// begin writes the function that starts a strong access. It takes the lock for the lanes that are
// here together, and returns them; 0 if nothing is logged. The lock is given in the order in which
// it was asked for: a warp that polls would otherwise take it again before those for which it
// waits.
func (c *code) begin() {
	fmt.Fprintf(&c.b, "\n.func (.param .b32 result) %s ()\n{\n%s", beginFunc, registers)
	c.line("mov.u32 %%active, 0")
	c.line("ld.global.u64 %%device, [%s]", DevicePtr)
	c.line("setp.eq.u64 %%p, %%device, 0")
	c.b.WriteString("\t@%p bra $out;\n")
	c.activeLanes()
	c.lowest("%leader", "%active")
	c.line("mov.u32 %%lane, %%laneid")
	c.line("setp.ne.u32 %%follows, %%lane, %%leader")
	c.b.WriteString("\t@%follows bra $taken;\n")
	c.line("atom.global.add.u32 %%a, [%%device+%d], 1", LockAt)
	c.label("$wait")
	c.line("ld.volatile.global.u32 %%b, [%%device+%d]", ServedAt)
	c.line("setp.ne.u32 %%p, %%a, %%b")
	c.b.WriteString("\t@%p bra $wait;\n")
	c.fence(false)
	c.label("$taken")
	c.together()
	c.label("$out")
	c.line("st.param.b32 [result], %%active")
	c.line("ret")
	c.b.WriteString("}\n")
}

// function writes one log function.
func (c *code) function(v variant) {
	fmt.Fprintf(&c.b, "\n.func %s (.param .b32 p_site, .param .b32 p_takes", v.name)
	if v.addr {
		c.b.WriteString(", .param .b64 p_addr")
	}
	for i := range v.words {
		fmt.Fprintf(&c.b, ", .param .b64 p_d%d", i)
	}
	if v.strong {
		c.b.WriteString(", .param .b32 p_stored, .param .b32 p_active")
	}
	c.b.WriteString(")\n{\n" + registers)
	c.line("ld.global.u64 %%device, [%s]", DevicePtr)
	c.line("ld.global.u64 %%host, [%s]", HostPtr)
	c.line("ld.param.b32 %%site, [p_site]")
	c.line("ld.param.b32 %%takes, [p_takes]")
	c.line("setp.ne.u32 %%on, %%takes, 0")
	if v.strong {
		c.line("ld.param.b32 %%active, [p_active]")
		c.line("setp.eq.u32 %%p, %%active, 0")
		c.b.WriteString("\t@%p bra $out;\n")
		c.together() // the accesses of all lanes have been performed
	} else {
		c.line("setp.eq.u64 %%p, %%device, 0")
		c.b.WriteString("\t@%p bra $out;\n")
		c.activeLanes()
	}
	c.ballot("%mask", "%on")
	if v.strong {
		c.line("ld.param.b32 %%b, [p_stored]")
		c.line("setp.ne.and.u32 %%p, %%b, 0, %%on")
		c.ballot("%stored", "%p")
	}
	c.line("mov.u32 %%lane, %%laneid")
	c.line("setp.eq.u32 %%p, %%mask, 0")
	fmt.Fprintf(&c.b, "\t@%%p bra %s;\n", v.gone())
	c.lowest("%leader", "%mask")
	c.line("setp.ne.u32 %%follows, %%lane, %%leader")
	c.addresses(v)
	c.values(v)
	c.reserve()
	c.record(v)
	if v.strong {
		c.label("$unlock")
		c.together()
		c.lowest("%leader", "%active")
		c.line("setp.ne.u32 %%follows, %%lane, %%leader")
		c.b.WriteString("\t@%follows bra $out;\n")
		c.fence(false)
		c.line("ld.volatile.global.u32 %%a, [%%device+%d]", ServedAt)
		c.line("add.u32 %%a, %%a, 1")
		c.line("st.volatile.global.u32 [%%device+%d], %%a", ServedAt)
	}
	c.label("$out")
	c.line("ret")
	c.b.WriteString("}\n")
}

// addresses finds the shortest form of the addresses, and sets what the record says about them:
// %flags, %base, %stride, %word (active or step), %log (the size of each address as a logarithm),
// %start (the byte behind the first slot where addresses begin), %addrs (the slots up to the last
// address), and %n, the slots so far. %addr becomes what is stored for each lane.
func (c *code) addresses(v variant) {
	c.line("mov.u32 %%word, %%active")
	c.line("not.pred %%off, %%on")
	if !v.addr {
		flags, addrs := FormAffine<<FormShift, 0
		if c.opt.Fixed {
			flags, addrs = FormWide<<FormShift, 8
		}
		c.line("mov.u32 %%flags, %d", flags)
		c.line("mov.u32 %%addrs, %d", addrs)
		c.line("mov.u32 %%stride, 0")
		c.line("mov.u64 %%base, 0")
		c.line("mov.u32 %%n, %d", 1+addrs)
		return
	}
	c.line("ld.param.b64 %%addr, [p_addr]")
	c.from64("%base", "%addr", "%leader")
	c.line("sub.s64 %%diff, %%addr, %%base")
	c.line("sub.s32 %%i, %%lane, %%leader")
	c.affine()
	ticket := 0
	if v.strong {
		ticket = SlotSize
	}
	if c.opt.Fixed {
		c.line("mov.u32 %%log, 3")
		c.line("mov.u32 %%start, %d", ticket)
		c.line("mov.u32 %%addrs, %d", 8+ticket/SlotSize)
		c.line("mov.u32 %%flags, %d", FormWide<<FormShift)
	} else {
		c.line("mov.u32 %%flags, %d", FormAffine<<FormShift)
		c.line("mov.u32 %%addrs, %d", ticket/SlotSize)
		c.b.WriteString("\t@%affine bra $formed;\n")
		c.rows()
		c.differences(ticket)
		c.label("$formed")
	}
	if v.strong {
		c.line("or.b32 %%flags, %%flags, %d", FlagTicket)
	}
	c.line("add.u32 %%n, %%addrs, 1")
}

// affine finds whether the addresses grow evenly with the lane: %affine, %stride. %p is whether
// this is so for a lane. The second lane of the mask says what the stride is; without one it is 0.
func (c *code) affine() {
	c.line("sub.u32 %%a, %%mask, 1")
	c.line("and.b32 %%a, %%a, %%mask")
	c.line("setp.eq.u32 %%q, %%a, 0")
	c.line("selp.b32 %%a, %%mask, %%a, %%q")
	c.lowest("%second", "%a")
	c.from64("%x", "%diff", "%second")
	c.line("sub.s32 %%b, %%second, %%leader")
	c.line("selp.b32 %%b, 1, %%b, %%q")
	c.line("cvt.u32.u64 %%stride, %%x")
	c.line("cvt.s64.s32 %%y, %%stride")
	c.line("setp.eq.s64 %%q, %%y, %%x") // it fits in 32 bits
	c.line("div.s32 %%stride, %%stride, %%b")
	c.line("mul.wide.s32 %%x, %%i, %%stride")
	c.line("setp.eq.and.s64 %%p, %%x, %%diff, %%q")
	c.line("or.pred %%p, %%p, %%off")
	c.all("%affine", "%p")
}

// rows finds whether the addresses are affine in the lane's place in a row and in the number of the
// row. The first lane that does not fit begins the second row. The lanes before it have a stride.
func (c *code) rows() {
	c.line("not.pred %%p, %%p")
	c.ballot("%a", "%p")
	c.lowest("%second", "%a")
	c.line("sub.s32 %%row, %%second, %%leader")
	c.from64("%x", "%diff", "%second")
	c.line("cvt.u32.u64 %%b, %%x")
	c.line("cvt.s64.s32 %%y, %%b")
	c.line("setp.eq.s64 %%q, %%y, %%x")
	c.line("setp.eq.and.u32 %%q, %%active, %%mask, %%q")
	c.line("setp.gt.and.s32 %%q, %%row, 0, %%q") // not if the stride does not fit
	c.line("max.s32 %%second, %%row, 1")
	c.line("div.s32 %%a, %%i, %%second")
	c.line("mul.wide.s32 %%x, %%a, %%b")
	c.line("mul.lo.s32 %%a, %%a, %%second")
	c.line("sub.s32 %%a, %%i, %%a")
	c.line("mad.wide.s32 %%x, %%a, %%stride, %%x")
	c.line("setp.eq.and.s64 %%p, %%x, %%diff, %%q")
	c.line("or.pred %%p, %%p, %%off")
	c.all("%q", "%p")
	c.b.WriteString("\t@!%q bra $scattered;\n")
	c.line("mov.u32 %%word, %%b")
	c.line("shl.b32 %%row, %%row, %d", RowShift)
	c.line("or.b32 %%flags, %%flags, %%row")
	c.line("bra $formed")
	c.label("$scattered")
}

// differences finds how many bytes the differences of the addresses to the first one need.
func (c *code) differences(ticket int) {
	c.line("mov.u32 %%start, %d", min(ticket, 8)) // behind the ticket
	c.line("and.b64 %%x, %%diff, 3")
	c.line("setp.eq.u64 %%affine, %%x, 0")
	for _, f := range []struct {
		form, log, bits int
		also            string
	}{{FormByte, 0, 10, "and.pred %p, %p, %affine"}, {FormShort, 1, 16, ""}, {FormWord, 2, 32, ""}} {
		c.line("mov.u32 %%flags, %d", f.form<<FormShift)
		c.line("mov.u32 %%log, %d", f.log)
		c.line("shl.b64 %%x, %%diff, %d", 64-f.bits)
		c.line("shr.s64 %%x, %%x, %d", 64-f.bits)
		c.line("setp.eq.s64 %%p, %%x, %%diff")
		if f.also != "" {
			c.line("%s", f.also)
		}
		c.line("or.pred %%p, %%p, %%off")
		c.all("%q", "%p")
		c.b.WriteString("\t@%q bra $short;\n")
	}
	c.line("mov.u32 %%flags, %d", FormWide<<FormShift)
	c.line("mov.u32 %%log, 3")
	c.line("mov.u32 %%start, %d", ticket)
	c.line("mov.u64 %%diff, %%addr")
	c.label("$short")
	c.line("setp.ne.u32 %%affine, 0, 0") // it was another question
	c.line("popc.b32 %%a, %%mask")
	c.line("shl.b32 %%a, %%a, %%log")
	c.line("add.u32 %%a, %%a, %%start")
	c.line("add.u32 %%a, %%a, %d", SlotSize-1)
	c.line("shr.u32 %%addrs, %%a, 5")
}

// values decides whether the values that lanes store are part of the record. They are needed where
// two lanes store to the same bytes, to tell whether they store the same. Valid addresses are
// multiples of the size of the access, so that two accesses of one instruction are equal or do not
// overlap.
func (c *code) values(v variant) {
	if v.words == 0 {
		return
	}
	for i := range v.words {
		c.line("ld.param.b64 %%d%d, [p_d%d]", i, i)
		c.from64(fmt.Sprintf("%%e%d", i), fmt.Sprintf("%%d%d", i), "%leader")
	}
	c.line("setp.eq.u64 %%p, %%d0, %%e0")
	for i := 1; i < v.words; i++ {
		c.line("setp.eq.and.u64 %%p, %%d%d, %%e%d, %%p", i, i)
	}
	c.line("or.pred %%p, %%p, %%off")
	c.all("%same", "%p")
	c.line("selp.b32 %%a, %d, 0, %%same", FlagSame)
	c.line("or.b32 %%flags, %%flags, %%a")
	if v.forced || c.opt.Values {
		c.line("setp.eq.u32 %%need, 0, 0")
	} else {
		c.overlap()
	}
	c.line("selp.b32 %%a, %d, 0, %%need", FlagData)
	c.line("or.b32 %%flags, %%flags, %%a")
	c.line("popc.b32 %%a, %%mask")
	c.line("add.u32 %%a, %%a, 3") // 4 values in a slot
	c.line("shr.u32 %%a, %%a, 2")
	c.line("mul.lo.u32 %%a, %%a, %d", v.words)
	c.line("selp.b32 %%a, 1, %%a, %%same")
	c.line("selp.b32 %%a, %%a, 0, %%need")
	c.line("add.u32 %%n, %%n, %%a")
}

// overlap sets %need to whether two lanes store different values to one address, or may do so.
func (c *code) overlap() {
	c.line("not.pred %%need, %%same")
	c.b.WriteString("\t@%same bra $decided;\n")
	c.line("setp.eq.s32 %%need, %%stride, 0") // the mask has two lanes, or they would store the same
	c.b.WriteString("\t@%affine bra $decided;\n")
	c.line("setp.eq.u32 %%need, 0, 0")
	if c.t.model { // match is of sm_70
		c.line("ld.param.b64 %%x, [p_addr]")
		c.line("match.any.sync.b64 %%a, %%x, %%active")
		c.line("and.b32 %%a, %%a, %%mask")
		c.line("popc.b32 %%a, %%a")
		c.line("setp.gt.u32 %%p, %%a, 1")
		c.line("and.pred %%p, %%p, %%on")
		c.ballot("%a", "%p")
		c.line("setp.ne.u32 %%need, %%a, 0")
	}
	c.label("$decided")
}

// reserve finds the queue of the block and reserves %n slots there, waiting for the host to free
// some if necessary. It sets %idx to the number of the first one, of all lanes, or jumps to the
// end if the host reads no more.
func (c *code) reserve() {
	c.line("ld.volatile.global.u32 %%queues, [%%host+%d]", QueuesAt)
	c.line("ld.volatile.global.u32 %%slots, [%%host+%d]", SlotsAt)
	// block = ctaid.x + nctaid.x*(ctaid.y + nctaid.y*ctaid.z)
	c.index("%block", "ctaid", "nctaid")
	c.line("rem.u32 %%a, %%block, %%queues")
	c.line("mul.wide.u32 %%x, %%a, %d", DeviceQueue)
	c.line("add.u64 %%queue, %%device, %%x")
	c.line("mul.wide.u32 %%x, %%a, %d", HostQueue)
	c.line("add.u64 %%tail, %%host, %%x")
	c.line("mul.wide.u32 %%x, %%queues, %d", HostQueue)
	c.line("add.u64 %%ring, %%host, %%x")
	c.line("mul.wide.u32 %%x, %%a, %%slots")
	c.line("shl.b64 %%x, %%x, 5")
	c.line("add.u64 %%ring, %%ring, %%x")
	c.line("add.u64 %%ring, %%ring, %d", HostHeader)
	c.line("sub.u32 %%slots, %%slots, 1") // as a mask
	c.b.WriteString("\t@%follows bra $reserved;\n")
	c.line("cvt.u64.u32 %%x, %%n")
	c.line("atom.global.add.u64 %%idx, [%%queue+%d], %%x", DeviceHeader)
	c.line("add.u64 %%end, %%idx, %%x")
	if c.t.model {
		c.line("ld.acquire.gpu.global.u64 %%y, [%%queue+%d]", DeviceHeader+8)
	} else {
		c.line("ld.volatile.global.u64 %%y, [%%queue+%d]", DeviceHeader+8)
	}
	c.line("setp.le.u64 %%p, %%end, %%y")
	c.b.WriteString("\t@%p bra $reserved;\n")
	c.label("$full")
	c.line("ld.volatile.global.u64 %%y, [%%tail+%d]", HostHeader)
	c.line("cvt.u64.u32 %%x, %%slots")
	c.line("add.u64 %%y, %%y, %%x")
	c.line("add.u64 %%y, %%y, 1")
	c.line("setp.le.u64 %%p, %%end, %%y")
	c.b.WriteString("\t@%p bra $space;\n")
	c.line("ld.volatile.global.u32 %%a, [%%host+%d]", ClosedAt)
	c.line("setp.eq.u32 %%p, %%a, 0")
	c.b.WriteString("\t@%p bra $full;\n")
	c.line("atom.global.add.u64 %%x, [%%device+%d], 1", DroppedAt)
	c.line("mov.u64 %%idx, -1")
	c.line("bra $reserved")
	c.label("$space")
	// What the host has read is read: the fence orders its reads before the writes that follow here
	// and in every warp that sees the new limit.
	c.fence(true)
	if c.t.model {
		c.line("st.release.gpu.global.u64 [%%queue+%d], %%y", DeviceHeader+8)
	} else {
		c.line("st.volatile.global.u64 [%%queue+%d], %%y", DeviceHeader+8)
	}
	c.label("$reserved")
	c.from64("%idx", "%idx", "%leader")
	if c.t.sync {
		c.line("bar.warp.sync %%active") // the order that the leader has found holds for all lanes
	}
}

// index computes a linear index from three dimensions.
func (c *code) index(dst, at, size string) {
	c.line("mov.u32 %%a, %%%s.z", at)
	c.line("mov.u32 %%b, %%%s.y", size)
	c.line("mov.u32 %s, %%%s.y", dst, at)
	c.line("mad.lo.u32 %%a, %%a, %%b, %s", dst)
	c.line("mov.u32 %%b, %%%s.x", size)
	c.line("mov.u32 %s, %%%s.x", dst, at)
	c.line("mad.lo.u32 %s, %%a, %%b, %s", dst, dst)
}

// at sets dst to the address of the slot with number idx.
func (c *code) at(dst, idx string) {
	c.line("cvt.u64.u32 %s, %%slots", dst)
	c.line("and.b64 %s, %s, %s", dst, dst, idx)
	c.line("shl.b64 %s, %s, 5", dst, dst)
	c.line("add.u64 %s, %s, %%ring", dst, dst)
}

// record writes the record into its slots and publishes it.
func (c *code) record(v variant) {
	c.line("setp.eq.s64 %%p, %%idx, -1")
	fmt.Fprintf(&c.b, "\t@%%p bra %s;\n", v.gone())
	if v.addr {
		c.line("mov.u32 %%a, %%lanemask_lt")
		c.line("and.b32 %%a, %%a, %%mask")
		c.line("popc.b32 %%rank, %%a")
		if c.opt.Fixed {
			c.line("mov.u64 %%diff, %%addr")
		} else {
			c.b.WriteString("\t@%affine bra $stored;\n")
			c.line("and.b32 %%a, %%flags, %d", FormMask<<FormShift)
			c.line("setp.eq.u32 %%p, %%a, %d", FormAffine<<FormShift) // in rows
			c.b.WriteString("\t@%p bra $stored;\n")
		}
		c.b.WriteString("\t@%off bra $stored;\n")
		c.line("add.u64 %%first, %%idx, 1")
		c.lanes("%diff", true)
		c.label("$stored")
	}
	if v.words > 0 {
		c.data(v)
	}
	c.together()
	c.b.WriteString("\t@%follows bra $published;\n")
	c.at("%slot", "%idx")
	c.line("or.b32 %%a, %%site, %%flags")
	c.line("st.global.u32 [%%slot+4], %%a")
	c.warp()
	c.line("st.global.u32 [%%slot+8], %%warp")
	c.line("st.global.u32 [%%slot+12], %%mask")
	c.line("st.global.u32 [%%slot+16], %%word")
	c.line("st.global.u32 [%%slot+20], %%stride")
	c.line("st.global.u64 [%%slot+24], %%base")
	if v.strong {
		c.line("ld.volatile.global.u64 %%ticket, [%%device+%d]", TicketAt)
		c.line("add.u64 %%x, %%ticket, 1")
		c.line("st.volatile.global.u64 [%%device+%d], %%x", TicketAt)
		c.line("add.u64 %%x, %%idx, 1")
		c.at("%y", "%x")
		c.line("st.global.u32 [%%y], %%ticket")
		c.line("st.global.u32 [%%y+4], %%stored")
	}
	c.fence(true)
	c.line("cvt.u32.u64 %%a, %%idx")
	c.line("or.b32 %%a, %%a, %d", uint32(ReadyBit))
	c.line("st.volatile.global.u32 [%%slot], %%a")
	c.label("$published")
}

// warp sets %warp to the number of the warp in the launch.
func (c *code) warp() {
	c.line("mov.u32 %%a, %%ntid.x")
	c.line("mov.u32 %%b, %%ntid.y")
	c.line("mul.lo.u32 %%a, %%a, %%b")
	c.line("mov.u32 %%b, %%ntid.z")
	c.line("mul.lo.u32 %%a, %%a, %%b")
	c.line("add.u32 %%a, %%a, 31")
	c.line("shr.u32 %%a, %%a, 5")
	c.line("mul.lo.u32 %%block, %%block, %%a")
	c.index("%warp", "tid", "ntid")
	c.line("shr.u32 %%warp, %%warp, 5")
	c.line("add.u32 %%warp, %%warp, %%block")
}

// lanes stores a value of each lane into the slots from number %first on, by the rank of the lane:
// 8 bytes each, or if sized is set, from byte %start on and of the size that %log says.
func (c *code) lanes(value string, sized bool) {
	if sized {
		c.line("shl.b32 %%b, %%rank, %%log")
		c.line("add.u32 %%b, %%b, %%start")
	} else {
		c.line("shl.b32 %%b, %%rank, 3")
	}
	c.line("shr.u32 %%a, %%b, 5")
	c.line("cvt.u64.u32 %%x, %%a")
	c.line("add.u64 %%x, %%x, %%first")
	c.at("%y", "%x")
	c.line("and.b32 %%b, %%b, %d", SlotSize-1)
	c.line("cvt.u64.u32 %%x, %%b")
	c.line("add.u64 %%y, %%y, %%x")
	if !sized {
		c.line("st.global.u64 [%%y], %s", value)
		return
	}
	c.line("setp.eq.u32 %%p, %%log, 3")
	fmt.Fprintf(&c.b, "\t@%%p st.global.u64 [%%y], %s;\n", value)
	c.line("setp.eq.u32 %%p, %%log, 2")
	c.line("cvt.u32.u64 %%a, %s", value)
	c.b.WriteString("\t@%p st.global.u32 [%y], %a;\n")
	c.line("setp.eq.u32 %%p, %%log, 1")
	c.line("cvt.u16.u64 %%h, %s", value)
	c.b.WriteString("\t@%p st.global.u16 [%y], %h;\n")
	c.line("setp.eq.u32 %%p, %%log, 0")
	c.line("shr.u64 %%x, %s, 2", value)
	c.line("cvt.u16.u64 %%h, %%x")
	c.b.WriteString("\t@%p st.global.u8 [%y], %h;\n")
}

// data stores the values of the lanes, or one for all of them.
func (c *code) data(v variant) {
	c.b.WriteString("\t@!%need bra $kept;\n")
	c.line("cvt.u64.u32 %%x, %%addrs")
	c.line("add.u64 %%first, %%idx, %%x")
	c.line("add.u64 %%first, %%first, 1")
	c.b.WriteString("\t@!%same bra $each;\n\t@%follows bra $kept;\n")
	c.at("%y", "%first")
	for i := range v.words {
		c.line("st.global.u64 [%%y+%d], %%d%d", 8*i, i)
	}
	c.line("bra $kept")
	c.label("$each")
	c.b.WriteString("\t@%off bra $kept;\n")
	c.line("popc.b32 %%n, %%mask")
	c.line("add.u32 %%n, %%n, 3")
	c.line("shr.u32 %%n, %%n, 2")
	for i := range v.words {
		if i > 0 {
			c.line("cvt.u64.u32 %%x, %%n")
			c.line("add.u64 %%first, %%first, %%x")
		}
		c.lanes(fmt.Sprintf("%%d%d", i), false)
	}
	c.label("$kept")
}
