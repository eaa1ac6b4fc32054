package launch

import (
	"fmt"

	"heddle/internal/ir"
)

// Arguments that are __local pointers of OpenCL: the host specifies a size (clSetKernelArg with a
// null value), and each block has that much shared memory for the argument.

// localAlign is the alignment in bytes of the largest type of OpenCL C, double16.
const localAlign = 128

// localArg sets the size that is specified for a __local pointer. A size of 0 means that locals
// chooses one.
func (r *resolver) localArg(arg *Arg, s *slot) error {
	arg.Bits, arg.Local = make([]byte, 8), &Local{Name: arg.Name}
	key := "arg " + arg.Name
	r.cfg.Origins[key] = Default
	if s.value == nil {
		return nil
	}
	r.cfg.Origins[key] = s.value.origin
	switch {
	case s.value.Kind == ArgValue && s.value.Text == "0": // null
		arg.Local = nil
	case s.value.Kind != ArgLocal:
		return fmt.Errorf("the parameter is a __local pointer, which takes a size and not a buffer; " +
			"give local:BYTES")
	case s.value.Size > sharedOptIn:
		return fmt.Errorf("%d bytes of local memory; a block has at most %d bytes on any GPU",
			s.value.Size, sharedOptIn)
	default:
		arg.Local.Size = uint32(s.value.Size)
	}
	return nil
}

// locals places the memory of __local arguments after static and dynamic shared memory. Arguments
// without a size share what a block can have without opt-in, for the reason given at shared. It
// fails if the sum exceeds every GPU's shared memory.
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
			r.cfg.Reasons["arg "+a.Name] = "a share of the shared memory that a block can have without " +
				"opt-in"
		}
		at = roundUp(at, localAlign)
		a.Local.At = at
		at += a.Local.Size
		put(a.Bits, uint64(a.Local.At))
		r.cfg.Locals = append(r.cfg.Locals, *a.Local)
	}
	if len(r.cfg.Locals) > 0 && at > sharedOptIn {
		r.errorf("%d bytes of shared memory for __local arguments and the kernel's variables; a block "+
			"has at most %d bytes on any GPU", at, sharedOptIn)
	}
}
