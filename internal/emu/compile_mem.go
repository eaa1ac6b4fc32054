package emu

import (
	"fmt"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
	"heddle/internal/ir"
	"heddle/internal/isa"
)

// Decoding of loads, stores, address conversions and fences. All checks that do not depend on
// run-time values happen here, with a message that names the instruction; it is shown only if a run
// reaches the instruction.

// memOp describes a memory instruction apart from its address, which is in.s[0] plus off.
type memOp struct {
	size  uint64 // bytes of an element
	wide  uint64 // bytes of the access: all elements
	elem  uint64 // bytes of one operation of the memory model; usually size
	off   uint64
	amask uint64 // truncates the address to the width of its register and of its space
	space event.Space
	kind  event.Kind
	order event.Order
	scope event.Scope
	part  event.Orders // what an acquire or release orders
	proxy event.Proxy

	dst []int32 // loads, atomics: a register for each element; -1: sink
	// bits of the register to which a signed element is extended; 0: no extension
	extend uint
	src    []src // stores, atomics: the operands
	rmw    func(old, b, c uint64) uint64
	origin uint32 // of the values that a write of unknown data leaves
	cas    bool
	unread bool   // nothing reads what the operation returns
	adds   bool   // rmw adds integers of 32 bits
	remote bool   // an operation on an mbarrier that reaches those of other blocks
	lanes  uint32 // those that access memory; 0: all
	// in a trace, of a load from a parameter or global memory, whichever address is selected: the origin
	// of a value of global memory; 0 for another access
	selected uint32

	// How the access is performed in each kind of memory, for the lanes of m, whose addresses are in
	// x.addr.
	global, shared, private memFunc
}

// address decodes an operand of kind Mem into d.s[0] and m.
func (c *compiler) address(o ir.Operand, d *inst, m *memOp) (err error) {
	if o.Kind != ir.Mem || len(o.Elems) > 0 {
		return fmt.Errorf("%s: an address in brackets is expected", opcodeText(c.cur))
	}
	// An address in a 32-bit register, also with an offset, wraps at 2^32.
	m.amask = ^uint64(0)
	switch {
	// A variable by name, with a constant offset: the address is a constant.
	case o.Var != nil:
		if m.space == event.Generic && o.Var.Space != event.Generic { // ld of a variable by name
			m.space = o.Var.Space
		}
		d.s[0], err = c.varSrc(o.Var, o.Val, true)
	case o.Reg != ir.NoReg:
		t := c.fn.Regs[o.Reg].Type
		if t == isa.Pred || t == isa.B128 {
			return fmt.Errorf("%s: register %s cannot be an address", opcodeText(c.cur),
				c.fn.Regs[o.Reg].Name)
		}
		if n := t.Size(); n < 8 {
			m.amask = 1<<(8*n) - 1
		}
		m.off = o.Val
		d.s[0] = src{r: c.fc.slots[o.Reg]}
	default:
		d.s[0] = src{c: c.constant(o.Val)}
	}
	// Shared memory has addresses of 32 bits: an address is "truncated if the register width exceeds
	// the state space address width" (PTX ISA 6.4.1), and programs index with wrapped 32-bit numbers.
	if m.space == event.Shared {
		m.amask &= 1<<32 - 1
	}
	return err
}

// element sets the size of the access from the instruction's type and vector width, and returns the
// number of registers it moves.
func (c *compiler) element(in *ir.Instr, m *memOp) (int, error) {
	size, n := in.Type.Size(), max(int(in.Vec), 1)
	if size == 0 {
		return 0, fmt.Errorf("%s: no size is known for type .%s", opcodeText(in), in.Type)
	}
	if size == 16 { // in two registers, but one operation
		size, n, m.elem = 8, 2*n, 16
	}
	m.size, m.wide = uint64(size), uint64(size*n)
	if m.wide > 32 {
		return 0, fmt.Errorf("%s: an access of %d bytes is not supported", opcodeText(in), m.wide)
	}
	return n, nil
}

// elements lists the registers or constants that a memory instruction moves. Their number must be
// that of the access; irgen accepts more forms than the hardware has.
func (c *compiler) elements(o ir.Operand, n int, typ isa.Type) ([]src, error) {
	list, err := c.parts(o, typ)
	if err == nil && len(list) != n {
		err = fmt.Errorf("%s: %d operands where %d are expected", opcodeText(c.cur), len(list), n)
	}
	return list, err
}

// load decodes ld and ldu, PTX ISA 9.7.9.8 and 9.7.9.10. A signed element is extended to the width
// of its register, any other is zero-extended. A non-coherent load goes through the texture proxy,
// so that a write of the same kernel to the bytes is reported.
func (c *compiler) load(in *ir.Instr) error {
	if in.Type == isa.Pred || len(in.Dst) != 1 || len(in.Src) == 0 {
		return fmt.Errorf("%s: this form is not supported", opcodeText(in))
	}
	m := &memOp{space: in.Space, kind: event.Read, order: in.Order, scope: in.Scope, part: in.Orders,
		global: loadGlobal, shared: loadShared, private: loadPrivate}
	if in.NonCoherent() {
		m.proxy = event.TextureProxy
	}
	if c.slice != nil && c.slice.Selected(c.fn, in) {
		m.selected = c.originOf(in)
	}
	d := inst{guard: c.guard(), mem: m, d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}}
	if err := c.address(in.Src[0], &d, m); err != nil {
		return err
	}
	n, err := c.element(in, m)
	if err != nil {
		return err
	}
	// A load into the sink still accesses memory: it may race or be out of bounds.
	if in.Dst[0].Kind == ir.None {
		m.dst = make([]int32, n)
		for i := range m.dst {
			m.dst[i] = -1
		}
	} else {
		list, err := c.elements(in.Dst[0], n, in.Type)
		if err != nil {
			return err
		}
		for _, s := range list {
			m.dst = append(m.dst, s.r)
		}
	}
	if in.Type.Signed() {
		m.extend = c.widerThan(in.Dst[0], in.Type)
	}
	if c.constantParam(in, d) {
		return nil
	}
	return c.finishMem(in, d)
}

// constantParam emits the load of a scalar kernel parameter, whose value is known, as a copy of a
// constant. Almost every kernel starts with such loads.
func (c *compiler) constantParam(in *ir.Instr, d inst) bool {
	m, v := d.mem, in.Src[0].Var
	if m.space != event.Param || v == nil || !c.fn.Kernel || !c.isKernelParam(in) ||
		m.wide != m.size || m.dst[0] < 0 || d.s[0].c == nil {
		return false
	}
	// The load must be in bounds, aligned, and of bytes that are all known.
	if c.launchParams() {
		return c.launchParam(d)
	}
	at, img := d.s[0].c[0], &c.p.params
	if at >= uint64(len(img.data)) || m.size > uint64(len(img.data))-at || at&(m.size-1) != 0 {
		return false
	}
	for _, o := range img.origin[at : at+m.size] {
		if o != 0 {
			return false
		}
	}
	val := loadUint(img.data[at:], m.size)
	if m.extend != 0 {
		val = extend(val, uint(8*m.size), m.extend)
	}
	c.emit(inst{run: runMov, guard: d.guard, d: [2]int32{m.dst[0], -1}, pd: [2]int32{-1, -1},
		s: [4]src{{c: c.constant(val)}}, sources: 1})
	return true
}

// launchParam emits the load of a scalar parameter whose value differs from launch to launch of one
// program.
func (c *compiler) launchParam(d inst) bool {
	m, at := d.mem, d.s[0].c[0]
	if size := uint64(c.fn.ParamSize); at >= size || m.size > size-at || at&(m.size-1) != 0 {
		return false
	}
	size, ext := m.size, m.extend
	read := func(x *exec, d *alu.Lanes, m uint32) {
		v := loadUint(x.prog.params.data[at:], size)
		if ext != 0 {
			v = extend(v, uint(8*size), ext)
		}
		fill(d, m, v)
	}
	c.emit(inst{run: runSreg, guard: d.guard, d: [2]int32{m.dst[0], -1}, pd: [2]int32{-1, -1},
		misc: &miscOp{sreg: read, launch: true}})
	return true
}

// widerThan returns the bits of the operand's registers if they are wider than typ, else 0.
func (c *compiler) widerThan(o ir.Operand, typ isa.Type) uint {
	switch {
	case o.Kind == ir.Vector:
		for _, e := range o.Elems {
			if n := c.widerThan(e, typ); n != 0 {
				return n
			}
		}
	case o.Kind == ir.Register:
		if n := c.fn.Regs[o.Reg].Type.Size(); n > typ.Size() {
			return uint(8 * n)
		}
	}
	return 0
}

// store decodes st, PTX ISA 9.7.9.11. Registers may be wider than the element; the upper bits are
// ignored.
func (c *compiler) store(in *ir.Instr) error {
	if in.Type == isa.Pred || len(in.Src) < 2 {
		return fmt.Errorf("%s: this form is not supported", opcodeText(in))
	}
	m := &memOp{space: in.Space, kind: event.Write, order: in.Order, scope: in.Scope, part: in.Orders,
		global: storeGlobal, shared: storeShared, private: storePrivate}
	d := inst{guard: c.guard(), mem: m, d: [2]int32{-1, -1}, pd: [2]int32{-1, -1}}
	if err := c.address(in.Src[0], &d, m); err != nil {
		return err
	}
	n, err := c.element(in, m)
	if err != nil {
		return err
	}
	if m.src, err = c.elements(in.Src[1], n, in.Type); err != nil {
		return err
	}
	return c.finishMem(in, d)
}

// finishMem selects the run function by state space and emits the instruction. Writes to constant
// memory and to kernel parameters are rejected: PTX has none, so such text is a mistake. A generic
// address selects the space at run time, per lane.
func (c *compiler) finishMem(in *ir.Instr, d inst) error {
	m := d.mem
	if m.elem == 0 {
		m.elem = m.size
	}
	c.reachCluster(in, m)
	switch m.space {
	case event.Global:
		d.run = runGlobal
	// Constant memory consists of objects like global memory, but it cannot be written.
	case event.Const:
		if m.kind != event.Read {
			return fmt.Errorf("%s: constant memory cannot be written", opcodeText(in))
		}
		d.run = runGlobal
	case event.Shared:
		d.run = runShared
	case event.Local:
		d.run = runLocal
	case event.Param:
		if c.fn.Kernel && c.isKernelParam(in) {
			if m.kind != event.Read {
				return fmt.Errorf("%s: kernel parameters cannot be written", opcodeText(in))
			}
			d.run = runKernelParam
		} else {
			d.run = runParam
			c.fc.paramMem = true
		}
	case event.Generic, event.NoSpace:
		d.run = runGeneric
	default:
		return fmt.Errorf("%s: space %q is not supported", opcodeText(in), m.space)
	}
	c.emit(d)
	return nil
}

// isKernelParam reports whether a .param access of a kernel refers to its parameters rather than to
// the arguments of a call, which are always named.
func (c *compiler) isKernelParam(in *ir.Instr) bool {
	v := in.Src[0].Var
	if v == nil {
		return true
	}
	for _, p := range c.fn.Params {
		if p == v {
			return true
		}
	}
	return false
}

// cvta decodes conversions between generic and specific addresses: the addition of a constant.
func (c *compiler) cvta(in *ir.Instr) error {
	if len(in.Dst) != 1 || len(in.Src) != 1 || in.Dst[0].Kind != ir.Register {
		return fmt.Errorf("%s: one destination and one source expected", opcodeText(in))
	}
	if in.Space == event.Param && !c.fn.Kernel {
		return fmt.Errorf("%s of a device function's parameter is not supported", opcodeText(in))
	}
	s, err := c.srcOf(in.Src[0], in.Type)
	if err != nil {
		return err
	}
	// Windows are at fixed addresses, so that the conversion adds a constant; .to subtracts it.
	delta := c.p.space.toGeneric(in.Space)
	if in.Has(isa.ToSpace) {
		delta = -delta
	}
	d := inst{run: runAddConst, guard: c.guard(), d: [2]int32{c.fc.slots[in.Dst[0].Reg], -1},
		pd: [2]int32{-1, -1},
		s:  [4]src{s, {c: c.constant(delta)}}, sources: 1}
	if delta == 0 {
		d.run = runMov
	}
	if in.Type.Size() == 4 {
		d.s[2].c = c.constant(1<<32 - 1)
	} else {
		d.s[2].c = c.constant(^uint64(0))
	}
	c.emit(d)
	return nil
}

// runAddConst adds a constant and truncates the sum to the type.
func runAddConst(x *exec, in *inst) {
	d, s := &x.regs[in.d[0]], x.src(&in.s[0])
	delta, mask := in.s[1].c[0], in.s[2].c[0]
	for l := range d {
		if x.m>>l&1 != 0 {
			d[l] = (s[l] + delta) & mask
		}
	}
}

// isspacep is PTX ISA 9.7.9.19. Kernel parameters count as global memory too.
func (c *compiler) isspacep(in *ir.Instr) error {
	if len(in.Dst) != 1 || len(in.Src) != 1 || !c.isPred(in.Dst[0]) {
		return fmt.Errorf("%s: a predicate and an address expected", opcodeText(in))
	}
	s, err := c.srcOf(in.Src[0], isa.U64)
	if err != nil {
		return err
	}
	sp := in.Space
	inAll := in.Action() == isa.ActTestClusterSpace || !c.clustered()
	// An address that belongs to an object has the object's space; any other is classified by window.
	test := func(x *exec, a uint64) bool {
		if o := x.find(a); o != nil {
			return o.space == sp
		}
		if x.mem.arena != nil && a>>x.prog.space.shift != 0 {
			return sp == event.Global
		}
		switch w := x.prog.space.windowOf(a); sp {
		case event.Shared:
			return w == sharedWindow && (inAll || x.ownShared(a-x.prog.space.windowBase(w)))
		case event.Local:
			return w == localWindow
		case event.Param, event.Global:
			return w == paramWindow
		}
		return false
	}
	c.emit(inst{guard: c.guard(), d: [2]int32{-1, -1}, pd: [2]int32{c.fc.slots[in.Dst[0].Reg], -1},
		s: [4]src{s}, sources: 1,
		run: func(x *exec, in *inst) {
			a, v := x.src(&in.s[0]), uint32(0)
			for l := range a {
				if x.m>>l&1 != 0 && test(x, a[l]) {
					v |= 1 << l
				}
			}
			x.setPred(in.pd[0], v, x.m)
		}})
	return nil
}

// fence decodes fence and membar, PTX ISA 9.7.13.4, as an event for the detector. It changes no
// memory: the emulator executes one interleaving, in which every write is visible at once. Fences
// between proxies and partial ones are actions of their own. A seq_cst fence of OpenCL C is none in
// Fence-SC order: it synchronizes by atomics of its own work-item only (OpenCL C 3.0, 6.15.12.6).
func (c *compiler) fence(in *ir.Instr) error {
	order, scope, orders := in.Order, in.Scope, in.Orders
	if m := c.fn.Module; m != nil && m.OpenCL && order == event.SeqCst {
		order = event.AcqRel
	}
	if !order.Strong() || scope == event.NoScope {
		return fmt.Errorf("%s: order %v, scope %v is not supported", opcodeText(in), order, scope)
	}
	c.emit(inst{guard: c.guard(), d: [2]int32{-1, -1}, pd: [2]int32{-1, -1},
		run: func(x *exec, in *inst) {
			if x.touched != nil && scope >= event.GPU {
				x.touched.Fenced = true
			}
			if x.sink != nil {
				x.evs.fence = event.Fence{Warp: x.warp.id, Site: x.site(in), Mask: x.m, Active: x.mask,
					Order: order, Scope: scope, Orders: orders}
				x.sink.Fence(&x.evs.fence)
			}
		}})
	return nil
}

// gridDependency decodes griddepcontrol. The grids before have ended here, and later ones are not
// known.
func (c *compiler) gridDependency(in *ir.Instr) error {
	if in.Fn != isa.FnWait {
		return c.nop(in)
	}
	c.control(inst{guard: c.guard(), run: func(x *exec, in *inst) {
		if x.sink != nil {
			x.evs.fence = event.Fence{Warp: x.warp.id, Site: x.site(in), Mask: x.m, Active: x.mask,
				Grid: true}
			x.sink.Fence(&x.evs.fence)
		}
	}})
	return nil
}

// partialFence decodes a fence that orders some operations only. One of shared memory is an
// event.Fence whose Orders say so. One of the mbarrier.init before it is none, since that would
// order all of them: it matters to other blocks of the cluster (event.InitFence).
func (c *compiler) partialFence(in *ir.Instr) error {
	if f, _ := in.Fence(); f.Kind != isa.InitFence {
		return c.fence(in)
	}
	if !c.clustered() {
		return c.nop(in)
	}
	c.control(inst{guard: c.guard(), run: func(x *exec, in *inst) {
		if x.sink != nil {
			x.evs.inits = event.InitFence{Warp: x.warp.id, Site: x.site(in), Mask: x.m, Active: x.mask}
			x.sink.InitFence(&x.evs.inits)
		}
	}})
	return nil
}
