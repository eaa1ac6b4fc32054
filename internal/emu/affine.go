package emu

import (
	"math/bits"

	"heddle/internal/emu/alu"
	"heddle/internal/event"
)

// Affine registers. Most integers of a kernel are the same in all lanes of a warp (loop counters,
// sizes, bases), or grow evenly along threadIdx.x and threadIdx.y (indices, addresses). Such a
// register is kept as its form b + kx*X + ky*Y, where X and Y are the lane's threadIdx.x and .y
// less those of lane 0, and is computed once for a warp. Lanes are filled in when an instruction
// needs them. The idea is that of scalar and affine units in GPUs (Collange et al., "Dynamic
// detection of uniform and affine vectors", 2009).
//
// Which registers may have a form is decided when the kernel is decoded (affine_compile.go);
// whether one has at a time, while it runs. A form holds for all lanes of the warp that have not
// exited, so only an instruction executed by all of them may write one. Arithmetic is modulo 2^64,
// and modulo 2^32 for registers of 32 bits, as that of the lanes is, so that a form is exact and
// never an approximation.

// affine is the form of a register.
type affine struct {
	b      uint64
	kx, ky int64
	state  formState
}

type formState uint8

const (
	lanesOnly formState = iota // there is no form
	formOnly                   // the lanes are out of date
	formAndLanes
)

// form returns the affine with fields as given.
func form(b uint64, kx, ky int64) affine { return affine{b: b, kx: kx, ky: ky, state: formOnly} }

func (f *affine) uniform() bool { return f.kx|f.ky == 0 }

// cut reduces the form modulo 2^32. The factors take the sign that makes them small.
func (f *affine) cut() {
	f.b, f.kx, f.ky = uint64(uint32(f.b)), int64(int32(f.kx)), int64(int32(f.ky))
}

// shape says what X and Y are. It is the same for all warps of a launch.
type shape struct {
	ok         bool
	x, y       [event.WarpSize]uint8
	xmax, ymax int64
	z          bool  // threadIdx.z is the same in all lanes
	row        int64 // the lane is X + row*Y
}

// shapeOf finds the shape of a block. Blocks whose rows neither fill warps nor divide them have
// none.
func shapeOf(b event.Dim3) (s shape) {
	x, y, z := int64(b.X), int64(b.Y), int64(b.Z)
	switch {
	case x%event.WarpSize == 0 || y*z == 1:
		x = event.WarpSize
	case event.WarpSize%x == 0 && (z == 1 || x*y%event.WarpSize == 0):
	default:
		return s
	}
	s.ok, s.z, s.row = true, z == 1 || int64(b.X)*y%event.WarpSize == 0, x
	for l := range s.x {
		s.x[l], s.y[l] = uint8(int64(l)%x), uint8(int64(l)/x)
	}
	s.xmax, s.ymax = x-1, event.WarpSize/x-1
	return s
}

// extent returns the least and the greatest value of kx*X + ky*Y. The factors must be below 2^58.
func (s *shape) extent(kx, ky int64) (lo, hi int64) {
	if kx < 0 {
		lo = kx * s.xmax
	} else {
		hi = kx * s.xmax
	}
	if ky < 0 {
		lo += ky * s.ymax
	} else {
		hi += ky * s.ymax
	}
	return lo, hi
}

// range32 returns the range of the values of a 32-bit form, as signed or unsigned numbers. ok is
// false if some lane wraps around, so that the form as a number of 64 bits would be another.
func (s *shape) range32(f *affine, signed bool) (lo, hi int64, ok bool) {
	lo, hi = s.extent(f.kx, f.ky)
	if signed {
		b := int64(int32(f.b))
		lo, hi = lo+b, hi+b
		return lo, hi, lo >= -1<<31 && hi < 1<<31
	}
	b := int64(uint32(f.b))
	lo, hi = lo+b, hi+b
	return lo, hi, lo >= 0 && hi < 1<<32
}

// pattern is kx*X + ky*Y in all lanes, and what there is to know about it as the addresses of an
// access.
type pattern struct {
	kx, ky int64
	off    alu.Lanes
	lo, hi int64
	bits   uint64 // or of off: low bits show misalignment
	step   uint64 // off[l] is l*step, if even
	even   bool
	small  bool // lo and hi hold
}

const patternBits = 6

// pattern returns a pattern from the cache of x. It is valid until the next call.
func (x *exec) pattern(kx, ky int64) *pattern {
	slot := &x.patterns[(uint64(kx)*golden+uint64(ky)*0xbf58476d1ce4e5b9)>>(64-patternBits)]
	if p := *slot; p != nil && p.kx == kx && p.ky == ky {
		return p
	}
	*slot = newPattern(&x.prog.shape, kx, ky, *slot)
	return *slot
}

// newPattern computes a pattern, in p if that is not nil.
func newPattern(s *shape, kx, ky int64, p *pattern) *pattern {
	if p == nil {
		p = new(pattern)
	}
	*p = pattern{kx: kx, ky: ky, even: true}
	for l := range p.off {
		p.off[l] = uint64(kx*int64(s.x[l]) + ky*int64(s.y[l]))
		p.bits |= p.off[l]
	}
	p.step = p.off[1]
	for l := range p.off {
		p.even = p.even && p.off[l] == uint64(l)*p.step
	}
	const most = 1 << 40
	if p.small = -most < kx && kx < most && -most < ky && ky < most; p.small {
		p.lo, p.hi = s.extent(kx, ky)
	}
	return p
}

// affineSrc is a source operand as a form: a constant's, or a register's.
type affineSrc struct {
	c *affine
	r int32
}

// affineOp is what an instruction needs that touches registers which may have forms.
type affineOp struct {
	src    [3]affineSrc
	narrow bool // the result has 32 bits
	signed bool // of 32-bit operands that are widened, or compared
	cmp    comparison
	// Registers that may have forms: lanes of reads must be up to date before the instruction is
	// executed lane by lane; writes lose their forms by that.
	reads, writes []int32
}

// form returns the form of a source.
func (x *exec) form(s *affineSrc) *affine {
	if s.c != nil {
		return s.c
	}
	return &x.forms[s.r]
}

// whole reports whether all lanes that are alive execute the current instruction.
func (x *exec) whole() bool { return x.m|x.gone == full }

// runLanes executes an instruction lane by lane: registers that it touches leave their forms.
func runLanes(x *exec, in *inst) {
	op := in.affine
	for _, r := range op.reads {
		if x.forms[r].state == formOnly {
			x.fillLanes(r)
		}
	}
	for _, r := range op.writes {
		f := &x.forms[r]
		if f.state == formOnly && !x.whole() {
			x.fillLanes(r)
		}
		f.state = lanesOnly
	}
	in.base(x, in)
}

// fillLanes brings the lanes of a register up to date with its form.
func (x *exec) fillLanes(r int32) {
	f, d := &x.forms[r], &x.regs[r]
	f.state = formAndLanes
	if f.uniform() {
		for l := range d {
			d[l] = f.b
		}
		return
	}
	p, b := x.pattern(f.kx, f.ky), f.b
	if x.frame.fn.narrow[r] {
		for l := range d {
			d[l] = uint64(uint32(b + p.off[l]))
		}
		return
	}
	for l := range d {
		d[l] = b + p.off[l]
	}
}

// lowest returns the first lane of a mask.
func lowest(m uint32) int { return bits.TrailingZeros32(m) & 31 }
