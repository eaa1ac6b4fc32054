package launch

import (
	"fmt"

	"heddle/internal/ir"
)

// Arguments that are __local pointers of OpenCL: the host gives a size, and each block has so much shared memory of
// its own for it (clSetKernelArg with a null value).

// localAlign is the alignment of the largest type of OpenCL C, double16.
const localAlign = 128

// localArg takes the size that was said; 0 stands for a share of what is left.
func (r *resolver) localArg(arg *Arg, s *slot) error {
	arg.Bits, arg.Local = make([]byte, 8), &Local{Name: arg.Name}
	key := "arg " + arg.Name
	r.cfg.Origins[key] = Default
	if s.whole == nil {
		return nil
	}
	r.cfg.Origins[key] = s.whole.origin
	switch {
	case s.whole.Kind == ArgValue && s.whole.Text == "0": // null
		arg.Local = nil
	case s.whole.Kind != ArgLocal:
		return fmt.Errorf("it is a __local pointer, which has no buffer; give local:BYTES")
	case s.whole.Size > sharedOptIn:
		return fmt.Errorf("%d bytes of local memory: a block has at most %d on any GPU", s.whole.Size, sharedOptIn)
	default:
		arg.Local.Size = uint32(s.whole.Size)
	}
	return nil
}

// locals lays the local memory out behind the shared memory that is there already. Arguments without a size
// share what a block can have, for the reason that shared gives.
func (r *resolver) locals() {
	_, static := ir.Layout(r.k)
	at := uint32(static) + r.cfg.DynShared
	open, given := uint32(0), uint32(0)
	for i := range r.cfg.Args {
		if l := r.cfg.Args[i].Local; l != nil {
			if l.Size == 0 {
				open++
			}
			given += roundUp(l.Size, localAlign)
		}
	}
	share := uint32(localAlign)
	if used := roundUp(at, localAlign) + given; open > 0 && used+open*localAlign < sharedPlain {
		share = (sharedPlain - used) / open / localAlign * localAlign
	}
	for i := range r.cfg.Args {
		a := &r.cfg.Args[i]
		if a.Local == nil {
			continue
		}
		if a.Local.Size == 0 {
			a.Local.Size = share
			r.cfg.Reasons["arg "+a.Name] = "a share of what a block can have"
		}
		at = roundUp(at, localAlign)
		a.Local.At = at
		at += a.Local.Size
		put(a.Bits, uint64(a.Local.At))
		r.cfg.Locals = append(r.cfg.Locals, *a.Local)
	}
	if len(r.cfg.Locals) > 0 && at > sharedOptIn {
		r.errorf("%d bytes of local memory with what the kernel declares: a block has at most %d on any GPU", at, sharedOptIn)
	}
}
